// One's second factor: turned on with a code that shows the app has the secret, off with the password and a code.

import { randomBytes } from "node:crypto";
import { failure } from "../../core/wire/errors.ts";
import { nothing } from "../../core/wire/parts.ts";
import {
  beginSecondFactor,
  confirmSecondFactor,
  endSecondFactor,
  recoveryCodes,
  secondFactor,
  secondFactorBegun,
} from "../../core/wire/second-factor.ts";
import { recordAudit } from "../../db/audit.ts";
import * as factors from "../../db/second-factors.ts";
import type { Routes } from "../deps.ts";
import { beginTry, codeSubjects, endTry } from "../login-throttle.ts";
import { checkOwnPassword } from "../own-password.ts";
import { checkSecondFactor, makeRecoveryCodes } from "../second-factor.ts";
import { accountOf } from "../sessions.ts";
import { base32, otpAuthUri, SECRET_BYTES, stepOfCode } from "../totp.ts";

const tags = ["session"];
const PATH = "/api/account/second-factor";

export const secondFactorRoutes: Routes = (app, deps) => {
  app.get(PATH, { schema: { summary: "Is it on?", tags, response: { 200: secondFactor } } }, async (request) => {
    const found = await factors.findSecondFactor(deps.db, accountOf(request).id);
    return { since: found?.confirmedAt ?? null, recoveryCodes: found?.recoveryCodes ?? 0 };
  });

  app.post(
    PATH,
    {
      schema: {
        summary: "A new secret for an authenticator app; sign-in asks for codes once one of it was confirmed",
        tags,
        body: beginSecondFactor,
        response: { 200: secondFactorBegun },
      },
    },
    async (request) => {
      const account = accountOf(request);
      await checkOwnPassword(deps, account, request.body.password);
      const secret = randomBytes(SECRET_BYTES);
      if (!(await factors.beginSecondFactor(deps.db, account.id, secret))) throw failure("factor.conflict");
      return { secret: base32(secret), uri: otpAuthUri(secret, account.name, request.hostname) };
    },
  );

  app.post(
    `${PATH}/confirm`,
    {
      schema: {
        summary: "Turn it on with a code of the new secret; answers the recovery codes",
        tags,
        body: confirmSecondFactor,
        response: { 200: recoveryCodes },
      },
    },
    async (request) => {
      const account = accountOf(request);
      const found = await factors.findSecondFactor(deps.db, account.id);
      if (!found || found.confirmedAt) throw failure("factor.conflict");
      const subjects = codeSubjects(account.id);
      await beginTry(deps.db, subjects);
      const step = stepOfCode(found.secret, request.body.code.replace(/\s/g, ""), deps.clock.now());
      if (step === null) throw failure("factor.wrong");
      await endTry(deps.db, subjects);
      const { codes, hashes } = makeRecoveryCodes();
      await deps.db.transaction(async (sql) => {
        const { id: accountId, name: accountName } = account;
        const wanted = { accountId, secret: found.secret, step, recoveryHashes: hashes };
        if (!(await factors.confirmSecondFactor(sql, wanted))) throw failure("factor.conflict");
        await recordAudit(sql, { accountId, accountName, address: request.ip, action: "factor.on" });
      });
      return { recoveryCodes: [...codes] };
    },
  );

  app.post(
    `${PATH}/remove`,
    { schema: { summary: "Turn it off", tags, body: endSecondFactor, response: { 204: nothing } } },
    async (request) => {
      const account = accountOf(request);
      await checkOwnPassword(deps, account, request.body.password);
      // Not a session's 401: nobody is signed out for a slip.
      await checkSecondFactor(deps, account.id, request.body.code);
      await deps.db.transaction(async (sql) => {
        const { id: accountId, name: accountName } = account;
        if (!(await factors.removeSecondFactor(sql, accountId))) return;
        await recordAudit(sql, { accountId, accountName, address: request.ip, action: "factor.off" });
      });
    },
  );
};
