// The present password, asked again before what a browser left open must not do.

import { failure } from "../core/wire/errors.ts";
import { findAccount } from "../db/accounts.ts";
import type { WebDeps } from "./deps.ts";
import { beginTry, changeSubjects, endTry } from "./login-throttle.ts";
import type { Account } from "./sessions.ts";

/**
 * Who has no password here, since an identity provider vouches, has signed in just now instead. Throws `session.wrong`
 * (401) for another one, `session.tooMany` after too many of them, `session.stale` (403).
 */
export async function checkOwnPassword(deps: WebDeps, account: Account, password = ""): Promise<void> {
  if (account.session?.hasPassword === false) {
    if (account.session.isFresh) return;
    throw failure("session.stale");
  }
  const subjects = changeSubjects(account.id);
  await beginTry(deps.db, subjects);
  const found = await findAccount(deps.db, account.name);
  if (!found || !(await deps.passwords.isRight(password, found.passwordHash))) throw failure("session.wrong#present");
  await endTry(deps.db, subjects);
}
