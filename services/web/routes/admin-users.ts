// Accounts, for administrators in the browser.

import type { FastifyRequest } from "fastify";
import { listAccounts, type Role } from "../../db/accounts.ts";
import { addAccount, resetPassword, switchAccount } from "../accounts.ts";
import type { Routes } from "../deps.ts";
import { administratorOf } from "../sessions.ts";

const userSchema = {
  type: "object",
  properties: {
    name: { type: "string" },
    role: { type: "string", enum: ["administrator", "member"] },
    disabled: { type: "boolean" },
    initialPassword: { type: "boolean" },
    createdAt: { type: "string" },
  },
} as const;

const made = {
  type: "object",
  properties: {
    name: { type: "string" },
    password: { type: ["string", "null"], description: "The one-time password, when none was given; shown once." },
  },
} as const;

const nameParams = { type: "object", required: ["name"], properties: { name: { type: "string", maxLength: 64 } } };
const PASSWORD = { type: "string", minLength: 1, maxLength: 1000 } as const;

function actorOf(request: FastifyRequest) {
  const account = administratorOf(request);
  return { accountId: account.id, accountName: account.name, address: request.ip };
}

export const adminUserRoutes: Routes = (app, deps) => {
  app.get(
    "/api/admin/users",
    {
      schema: {
        summary: "Accounts",
        tags: ["admin"],
        response: { 200: { type: "object", properties: { items: { type: "array", items: userSchema } } } },
      },
    },
    async (request) => {
      administratorOf(request);
      return {
        items: (await listAccounts(deps.db)).map((account) => ({
          name: account.name,
          role: account.role,
          disabled: account.disabledAt !== null,
          initialPassword: account.initialPassword,
          createdAt: account.createdAt.toISOString(),
        })),
      };
    },
  );

  app.post<{ Body: { name: string; role: Role; password?: string } }>(
    "/api/admin/users",
    {
      schema: {
        summary: "Add an account",
        tags: ["admin"],
        body: {
          type: "object",
          additionalProperties: false,
          required: ["name", "role"],
          properties: {
            name: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$" },
            role: { type: "string", enum: ["administrator", "member"] },
            password: PASSWORD,
          },
          examples: [{ name: "mina", role: "member" }],
        },
        response: { 201: made, 409: { $ref: "Problem#" } },
      },
    },
    async (request, reply) => {
      const { name, role, password } = request.body;
      return reply.code(201).send(await addAccount(deps, actorOf(request), { name, role, password }));
    },
  );

  app.post<{ Params: { name: string }; Body: { password?: string } | undefined }>(
    "/api/admin/users/:name/password",
    {
      schema: {
        summary: "Set a password, or make a one-time one",
        tags: ["admin"],
        params: nameParams,
        response: { 200: made },
      },
    },
    async (request) =>
      resetPassword(deps, actorOf(request), { name: request.params.name, password: request.body?.password }),
  );

  for (const [verb, disabled] of [
    ["disable", true],
    ["enable", false],
  ] as const) {
    app.post<{ Params: { name: string } }>(
      `/api/admin/users/:name/${verb}`,
      {
        schema: {
          summary: disabled ? "Disable an account and sign it out" : "Enable an account",
          tags: ["admin"],
          params: nameParams,
          response: { 204: { type: "null" }, 404: { $ref: "Problem#" }, 409: { $ref: "Problem#" } },
        },
      },
      async (request, reply) => {
        await switchAccount(deps, actorOf(request), request.params.name, disabled);
        return reply.code(204).send();
      },
    );
  }
};
