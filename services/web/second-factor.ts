// The second factor at the door: who turned it on gives a code beside the password.
// Invariants: a code is judged only once the password was right, at most ten times in a quarter of an hour an account, and
// is taken once; a code that is asked for is no failed try.

import { createHash, randomBytes } from "node:crypto";
import { failure } from "../core/wire/errors.ts";
import { RECOVERY_CODES } from "../core/wire/second-factor.ts";
import { findSecondFactor, takeRecoveryCode, takeStep } from "../db/second-factors.ts";
import type { WebDeps } from "./deps.ts";
import { beginTry, codeSubjects, endTry } from "./login-throttle.ts";
import { base32, stepOfCode } from "./totp.ts";

const RECOVERY_BYTES = 10;

const hashOf = (code: string): Buffer => createHash("sha256").update(code).digest();

/** As it is compared: however it was grouped. */
const plain = (code: string): string => code.replace(/[\s-]/g, "").toLowerCase();

/** New recovery codes, as they are told and as they are stored. */
export function makeRecoveryCodes(): { readonly codes: readonly string[]; readonly hashes: readonly Buffer[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    (base32(randomBytes(RECOVERY_BYTES)).toLowerCase().match(/.{4}/g) ?? []).join("-"),
  );
  return { codes, hashes: codes.map((code) => hashOf(plain(code))) };
}

/**
 * Throws where the account has a second factor: `session.code` without a code or with a wrong one, `session.tooMany`
 * after too many of them.
 */
export async function checkSecondFactor(deps: WebDeps, accountId: string, code: string | undefined): Promise<void> {
  const factor = await findSecondFactor(deps.db, accountId);
  if (!factor?.confirmedAt) return;
  if (code === undefined) throw failure("session.code");
  const subjects = codeSubjects(accountId);
  await beginTry(deps.db, subjects);
  const given = plain(code);
  const step = stepOfCode(factor.secret, given, deps.clock.now());
  const isTaken =
    step === null
      ? await takeRecoveryCode(deps.db, accountId, hashOf(given))
      : await takeStep(deps.db, accountId, step);
  if (!isTaken) throw failure("session.code#wrong");
  await endTry(deps.db, subjects);
}
