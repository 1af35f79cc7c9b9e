// /internal: what `owlctl user|turns` asks through owld, on this instance's own socket, which only owld can open.
// Invariant: a request that came through the proxy is answered as if nothing were here.

import { listAccounts, type Role } from "../../db/accounts.ts";
import { turnFigures } from "../../db/turn-figures.ts";
import { type Actor, addAccount, resetPassword, switchAccount } from "../accounts.ts";
import type { Routes } from "../deps.ts";
import { refuseProxied } from "./health.ts";

const OPERATOR: Actor = { accountId: null, accountName: "owlctl", address: null };
const ROLES = { admin: "administrator", user: "member" } as const satisfies Record<string, Role>;
const NAME = { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$" } as const;
const PASSWORD = { type: "string", minLength: 1, maxLength: 1000 } as const;
const nameParams = { type: "object", required: ["name"], properties: { name: { type: "string", maxLength: 64 } } };

export const internalRoutes: Routes = (app, deps) => {
  app.register(async (scope) => {
    scope.addHook("onRequest", async (request) => refuseProxied(request));

    scope.get("/internal/users", { schema: { hide: true } }, async () => ({
      items: (await listAccounts(deps.db)).map((account) => ({
        name: account.name,
        role: account.role === "administrator" ? "admin" : "user",
        disabled: account.disabledAt !== null,
        createdAt: account.createdAt.toISOString(),
      })),
    }));

    scope.post<{ Body: { name: string; role?: keyof typeof ROLES; password?: string } }>(
      "/internal/users",
      {
        schema: {
          hide: true,
          body: {
            type: "object",
            additionalProperties: false,
            required: ["name"],
            properties: { name: NAME, role: { type: "string", enum: ["admin", "user"] }, password: PASSWORD },
          },
        },
      },
      async (request, reply) => {
        const { name, role = "user", password } = request.body;
        return reply.code(201).send(await addAccount(deps, OPERATOR, { name, role: ROLES[role], password }));
      },
    );

    scope.post<{ Params: { name: string }; Body: { password?: string } | undefined }>(
      "/internal/users/:name/password",
      { schema: { hide: true, params: nameParams } },
      async (request) => resetPassword(deps, OPERATOR, { name: request.params.name, password: request.body?.password }),
    );

    for (const [verb, disabled] of [
      ["disable", true],
      ["enable", false],
    ] as const) {
      scope.post<{ Params: { name: string } }>(
        `/internal/users/:name/${verb}`,
        { schema: { hide: true, params: nameParams } },
        async (request) => {
          await switchAccount(deps, OPERATOR, request.params.name, disabled);
          return { name: request.params.name, disabled };
        },
      );
    }

    scope.get<{ Querystring: { sinceMs?: string } }>(
      "/internal/turns",
      {
        schema: {
          hide: true,
          querystring: { type: "object", properties: { sinceMs: { type: "string", pattern: "^[0-9]{1,13}$" } } },
        },
      },
      async (request) => ({
        finishMs: deps.config.turn.finishMs,
        outcomes: await turnFigures(deps.db, Number(request.query.sinceMs ?? 7 * 86_400_000)),
      }),
    );
  });
};
