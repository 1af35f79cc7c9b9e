// /internal: what `owlctl user|turns` asks through owld, on this instance's own socket, which only owld can open.

import type { Role } from "../../core/approval.ts";
import {
  newOperatorUser,
  newPassword,
  operatorSwitched,
  operatorUsers,
  userMade,
  userParams,
} from "../../core/wire/session.ts";
import { figures, figuresQuery } from "../../core/wire/system.ts";
import { listAccounts } from "../../db/accounts.ts";
import { turnFigures } from "../../db/turn-figures.ts";
import { type Actor, addAccount, deleteAccount, resetPassword, switchAccount } from "../accounts.ts";
import type { Routes } from "../deps.ts";

const OPERATOR: Actor = { accountId: null, accountName: "owlctl", address: null };
const ROLES = { admin: "administrator", user: "member" } as const satisfies Record<string, Role>;
const hide = true;

export const internalRoutes: Routes = (app, deps) => {
  app.get("/internal/users", { schema: { hide, response: { 200: operatorUsers } } }, async () => ({
    items: (await listAccounts(deps.db)).map((account) => ({
      name: account.name,
      role: account.role === "administrator" ? ("admin" as const) : ("user" as const),
      disabled: account.disabledAt !== null,
      createdAt: account.createdAt,
    })),
  }));

  app.post("/internal/users", { schema: { hide, body: newOperatorUser, response: { 201: userMade } } }, (request) => {
    const { name, role = "user", password } = request.body;
    return addAccount(deps, OPERATOR, { name, role: ROLES[role], password });
  });

  app.post(
    "/internal/users/:name/password",
    { schema: { hide, params: userParams, body: newPassword, response: { 200: userMade } } },
    (request) => resetPassword(deps, OPERATOR, { name: request.params.name, password: request.body?.password }),
  );

  app.delete(
    "/internal/users/:name",
    { schema: { hide, params: userParams, response: { 200: operatorSwitched } } },
    async (request) => {
      await deleteAccount(deps, OPERATOR, request.params.name);
      return { name: request.params.name, disabled: true };
    },
  );

  for (const [verb, disabled] of [
    ["disable", true],
    ["enable", false],
  ] as const) {
    app.post(
      `/internal/users/:name/${verb}`,
      { schema: { hide, params: userParams, response: { 200: operatorSwitched } } },
      async (request) => {
        await switchAccount(deps, OPERATOR, request.params.name, disabled);
        return { name: request.params.name, disabled };
      },
    );
  }

  app.get(
    "/internal/turns",
    { schema: { hide, querystring: figuresQuery, response: { 200: figures } } },
    async (request) => ({
      finishMs: deps.config.turn.finishMs,
      outcomes: await turnFigures(deps.db, Number(request.query.sinceMs ?? 7 * 86_400_000)),
    }),
  );
};
