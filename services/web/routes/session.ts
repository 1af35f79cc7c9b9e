// Signing in and out, and one's own password. Invariant: tries are limited across instances (login-throttle.ts), an
// unknown name costs as long as a wrong password, and a session's id is a new one at each sign-in and password change.

import { modelsOf, visionModelsOf } from "../../../config/models.ts";
import { failure } from "../../core/wire/errors.ts";
import { nothing } from "../../core/wire/parts.ts";
import { passwordChange, session, signIn } from "../../core/wire/session.ts";
import { type AccountRow, findAccount, isDeviceOf, replaceHash, setPassword } from "../../db/accounts.ts";
import { recordAudit } from "../../db/audit.ts";
import { DECOY_HASH, isOutdated } from "../../db/passwords.ts";
import type { Routes } from "../deps.ts";
import { beginTry, endTry, signInSubjects, withdrawTry } from "../login-throttle.ts";
import { checkOwnPassword } from "../own-password.ts";
import { checkSecondFactor } from "../second-factor.ts";
import {
  type Account,
  accountOf,
  checkPassword,
  closeSession,
  deviceOf,
  openSession,
  rememberDevice,
} from "../sessions.ts";

const tags = ["session"];

export const sessionRoutes: Routes = (app, deps) => {
  const sessionJson = ({ name, role, initialPassword, session }: Omit<Account, "id">) => ({
    name,
    role,
    initialPassword,
    byProvider: session?.byProvider ?? false,
    hasPassword: session?.hasPassword ?? true,
    language: deps.config.language,
    models: modelsOf(deps.config).map((model) => model.name),
    visionModels: visionModelsOf(deps.config),
  });
  /** A session of the account whose password was right; its hash is made anew where it is of older figures. */
  async function open(account: AccountRow, password: string) {
    let { passwordHash } = account;
    if (isOutdated(passwordHash)) {
      const next = await deps.passwords.hash(password);
      await replaceHash(deps.db, account.id, passwordHash, next);
      passwordHash = next;
    }
    return openSession(deps, deps.db, { id: account.id, passwordHash });
  }

  app.post(
    "/api/session",
    {
      config: { access: "public" },
      schema: { summary: "Sign in", tags, security: [], body: signIn, response: { 200: session } },
    },
    async (request, reply) => {
      const name = request.body.name.toLowerCase();
      const account = await findAccount(deps.db, name);
      const device = deviceOf(request);
      const isKnown = device !== null && account !== null && (await isDeviceOf(deps.db, device, account.id));
      const subjects = signInSubjects({
        account: name,
        address: request.ip,
        device: isKnown ? device.toString("hex") : null,
      });
      await beginTry(deps.db, subjects);
      const right = await deps.passwords.isRight(request.body.password, account?.passwordHash || DECOY_HASH);
      if (account && right && account.role !== "administrator" && deps.config.auth?.local === false)
        throw failure("session.local");
      if (account && right && !account.disabledAt)
        await checkSecondFactor(deps, account.id, request.body.code).catch(async (error: unknown) => {
          if (request.body.code === undefined) await withdrawTry(deps.db, subjects);
          throw error;
        });
      const setSession = account && right && !account.disabledAt ? await open(account, request.body.password) : null;
      const entry = { accountId: account?.id ?? null, accountName: name, address: request.ip };
      if (account === null || setSession === null) {
        await recordAudit(deps.db, { ...entry, action: "session.refused" });
        throw failure("session.wrong");
      }
      await endTry(deps.db, subjects);
      await closeSession(deps, request, reply);
      setSession(reply);
      await rememberDevice(deps, request, reply, account.id);
      await recordAudit(deps.db, { ...entry, action: "session.opened" });
      return sessionJson({ ...account, session: null });
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
    async (request, reply) => {
      const account = accountOf(request);
      const { password, newPassword } = request.body;
      await checkOwnPassword(deps, account, password);
      checkPassword(newPassword);
      if (newPassword === password) {
        throw failure("password.weak#same");
      }
      const hash = await deps.passwords.hash(newPassword);
      const setSession = await deps.db.transaction(async (sql) => {
        await setPassword(sql, account.id, { hash, initial: false, keepDevice: deviceOf(request) });
        await recordAudit(sql, {
          accountId: account.id,
          accountName: account.name,
          address: request.ip,
          action: "password.changed",
        });
        return openSession(deps, sql, { id: account.id, passwordHash: hash });
      });
      setSession?.(reply);
    },
  );
};
