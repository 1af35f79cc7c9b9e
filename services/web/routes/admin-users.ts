// Accounts, for administrators in the browser.

import type { FastifyRequest } from "fastify";
import { nothing } from "../../core/wire/parts.ts";
import { newPassword, newUser, userMade, userParams, users } from "../../core/wire/session.ts";
import { listAccounts } from "../../db/accounts.ts";
import { listUsage, NOTHING_HELD } from "../../db/usage.ts";
import { type Actor, addAccount, deleteAccount, resetPassword, switchAccount } from "../accounts.ts";
import type { Routes } from "../deps.ts";
import { accountOf } from "../sessions.ts";

const tags = ["admin"];

function actorOf(request: FastifyRequest): Actor {
  const account = accountOf(request);
  return { accountId: account.id, accountName: account.name, address: request.ip };
}

export const adminUserRoutes: Routes = (app, deps) => {
  app.get(
    "/api/admin/users",
    { schema: { summary: "Accounts and what they hold of their limits", tags, response: { 200: users } } },
    async () => {
      const [accounts, usage] = await Promise.all([listAccounts(deps.db), listUsage(deps.aside)]);
      return {
        limits: deps.config.limits,
        items: accounts.map((account) => ({
          name: account.name,
          role: account.role,
          disabled: account.disabledAt !== null,
          initialPassword: account.initialPassword,
          provider: account.issuer,
          createdAt: account.createdAt,
          usage: usage.get(account.id) ?? NOTHING_HELD,
        })),
      };
    },
  );

  app.post(
    "/api/admin/users",
    { schema: { summary: "Add an account", tags, body: newUser, response: { 201: userMade } } },
    (request) => {
      const { name, role, password } = request.body;
      return addAccount(deps, actorOf(request), { name, role, password });
    },
  );

  app.post(
    "/api/admin/users/:name/password",
    {
      schema: {
        summary: "Set a password, or make a one-time one",
        tags,
        params: userParams,
        body: newPassword,
        response: { 200: userMade },
      },
    },
    (request) => resetPassword(deps, actorOf(request), { name: request.params.name, password: request.body?.password }),
  );

  app.delete(
    "/api/admin/users/:name",
    {
      schema: {
        summary: "Delete an account with all its data",
        tags,
        params: userParams,
        response: { 204: nothing },
      },
    },
    (request) => deleteAccount(deps, actorOf(request), request.params.name),
  );

  for (const [verb, disabled] of [
    ["disable", true],
    ["enable", false],
  ] as const) {
    app.post(
      `/api/admin/users/:name/${verb}`,
      {
        schema: {
          summary: disabled ? "Disable an account and sign it out" : "Enable an account",
          tags,
          params: userParams,
          response: { 204: nothing },
        },
      },
      (request) => switchAccount(deps, actorOf(request), request.params.name, disabled),
    );
  }
};
