// Signing in and out, and one's own password. Invariant: tries are limited by account and by address, across instances,
// and an unknown name costs as long as a wrong password.

import { OwlError } from "../../../config/errors.ts";
import {
  countLoginFailures,
  findAccount,
  forgetLoginFailures,
  recordLoginFailure,
  setPassword,
} from "../../db/accounts.ts";
import { recordAudit } from "../../db/audit.ts";
import { hashPassword, isPassword } from "../../db/passwords.ts";
import type { Routes } from "../deps.ts";
import {
  type Account,
  accountOf,
  checkPassword,
  closeSession,
  hashSessionId,
  openSession,
  SESSION_COOKIE,
} from "../sessions.ts";

const WINDOW_S = 900;
const PER_ACCOUNT = 10;
const PER_ADDRESS = 50;

const accountJson = (account: Account) => ({
  name: account.name,
  role: account.role,
  initialPassword: account.initialPassword,
});

const accountSchema = {
  type: "object",
  properties: {
    name: { type: "string" },
    role: { type: "string", enum: ["administrator", "member"] },
    initialPassword: { type: "boolean", description: "True until the account's first password was changed." },
    language: { type: "string" },
  },
} as const;

export const sessionRoutes: Routes = (app, deps) => {
  // Compared against when the name is unknown, so that the answer's time tells nothing.
  const decoy = hashPassword(deps.random.token(16));

  app.post<{ Body: { name: string; password: string } }>(
    "/api/session",
    {
      schema: {
        summary: "Sign in",
        tags: ["session"],
        security: [],
        body: {
          type: "object",
          additionalProperties: false,
          required: ["name", "password"],
          properties: {
            name: { type: "string", minLength: 1, maxLength: 64 },
            password: { type: "string", minLength: 1, maxLength: 1000 },
          },
          examples: [{ name: "admin", password: "correct horse battery" }],
        },
        response: { 200: accountSchema, 401: { $ref: "Problem#" }, 429: { $ref: "Problem#" } },
      },
    },
    async (request, reply) => {
      const name = request.body.name.toLowerCase();
      const subjects = [`account:${name}`, `address:${request.ip}`];
      const failures = await countLoginFailures(deps.db, subjects, WINDOW_S);
      if (
        (failures.get(subjects[0] as string) ?? 0) >= PER_ACCOUNT ||
        (failures.get(subjects[1] as string) ?? 0) >= PER_ADDRESS
      ) {
        throw new OwlError("session.tooMany", "Too many failed tries.", {
          next: "Wait a quarter of an hour, then try again.",
          data: { retryAfterS: WINDOW_S },
        });
      }
      const account = await findAccount(deps.db, name);
      const right = await isPassword(request.body.password, account?.passwordHash ?? (await decoy));
      if (!account || !right || account.disabledAt) {
        await recordLoginFailure(deps.db, subjects);
        await recordAudit(deps.db, {
          accountId: account?.id ?? null,
          accountName: name,
          address: request.ip,
          action: "session.refused",
        });
        throw new OwlError("session.wrong", "Name or password is wrong.");
      }
      await forgetLoginFailures(deps.db, [subjects[0] as string]);
      await closeSession(deps, request, reply);
      await openSession(deps, reply, account.id);
      await recordAudit(deps.db, {
        accountId: account.id,
        accountName: account.name,
        address: request.ip,
        action: "session.opened",
      });
      return { ...accountJson(account), language: deps.config.language };
    },
  );

  app.get(
    "/api/session",
    {
      schema: {
        summary: "Who am I",
        tags: ["session"],
        response: { 200: accountSchema, 401: { $ref: "Problem#" } },
      },
    },
    async (request) => ({ ...accountJson(accountOf(request)), language: deps.config.language }),
  );

  app.delete(
    "/api/session",
    { schema: { summary: "Sign out", tags: ["session"], response: { 204: { type: "null" } } } },
    async (request, reply) => {
      await closeSession(deps, request, reply);
      return reply.code(204).send();
    },
  );

  app.put<{ Body: { password: string; newPassword: string } }>(
    "/api/session/password",
    {
      schema: {
        summary: "Change one's own password; other sessions are signed out",
        tags: ["session"],
        body: {
          type: "object",
          additionalProperties: false,
          required: ["password", "newPassword"],
          properties: {
            password: { type: "string", minLength: 1, maxLength: 1000 },
            newPassword: { type: "string", minLength: 1, maxLength: 1000 },
          },
        },
        response: { 204: { type: "null" }, 400: { $ref: "Problem#" }, 401: { $ref: "Problem#" } },
      },
    },
    async (request, reply) => {
      const account = accountOf(request);
      const found = await findAccount(deps.db, account.name);
      if (!found || !(await isPassword(request.body.password, found.passwordHash))) {
        await recordLoginFailure(deps.db, [`account:${account.name}`]);
        throw new OwlError("session.wrong", "The present password is wrong.");
      }
      checkPassword(request.body.newPassword);
      const keep = hashSessionId(request.cookies[SESSION_COOKIE] ?? "");
      await setPassword(deps.db, account.id, await hashPassword(request.body.newPassword), false, keep);
      await recordAudit(deps.db, {
        accountId: account.id,
        accountName: account.name,
        address: request.ip,
        action: "password.changed",
      });
      return reply.code(204).send();
    },
  );
};
