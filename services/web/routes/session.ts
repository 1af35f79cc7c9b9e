// Signing in and out, and one's own password. Invariant: tries are limited by account and by address, across instances,
// and an unknown name costs as long as a wrong password.

import { failure } from "../../core/wire/errors.ts";
import { nothing } from "../../core/wire/parts.ts";
import { passwordChange, session, signIn } from "../../core/wire/session.ts";
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

const tags = ["session"];

export const sessionRoutes: Routes = (app, deps) => {
  const sessionJson = ({ name, role, initialPassword }: Omit<Account, "id">) => ({
    name,
    role,
    initialPassword,
    language: deps.config.language,
  });
  // Compared against when the name is unknown, so that the answer's time tells nothing.
  const decoy = hashPassword(deps.random.token(16));

  app.post(
    "/api/session",
    {
      config: { access: "public" },
      schema: { summary: "Sign in", tags, security: [], body: signIn, response: { 200: session } },
    },
    async (request, reply) => {
      const name = request.body.name.toLowerCase();
      const subjects = [`account:${name}`, `address:${request.ip}`];
      const failures = await countLoginFailures(deps.db, subjects, WINDOW_S);
      if (
        (failures.get(subjects[0] as string) ?? 0) >= PER_ACCOUNT ||
        (failures.get(subjects[1] as string) ?? 0) >= PER_ADDRESS
      ) {
        throw failure("session.tooMany", {}, { data: { retryAfterS: WINDOW_S } });
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
        throw failure("session.wrong");
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
      return sessionJson(account);
    },
  );

  app.get("/api/session", { schema: { summary: "Who am I", tags, response: { 200: session } } }, async (request) =>
    sessionJson(accountOf(request)),
  );

  app.delete(
    "/api/session",
    { schema: { summary: "Sign out", tags, response: { 204: nothing } } },
    async (request, reply) => closeSession(deps, request, reply),
  );

  app.put(
    "/api/session/password",
    {
      schema: {
        summary: "Change one's own password; other sessions are signed out",
        tags,
        body: passwordChange,
        response: { 204: nothing },
      },
    },
    async (request) => {
      const account = accountOf(request);
      const found = await findAccount(deps.db, account.name);
      if (!found || !(await isPassword(request.body.password, found.passwordHash))) {
        await recordLoginFailure(deps.db, [`account:${account.name}`]);
        throw failure("session.wrong#present");
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
    },
  );
};
