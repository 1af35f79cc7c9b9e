// The first administrator, `admin`. Invariant: a generated password lies in its 0600 file before the account exists, so
// that a run killed in between leaves no account nobody can enter.

import { randomBytes } from "node:crypto";
import { chmod, open, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Random } from "../../config/time.ts";
import { findAccount, insertAccount } from "../db/accounts.ts";
import { recordAudit } from "../db/audit.ts";
import { hashPassword } from "../db/passwords.ts";
import type { Database } from "../db/pool.ts";

/** Makes the account where it is missing. `file`: where the one-time password is, null when it was given or changed. */
export async function ensureAdministrator(wanted: {
  readonly db: Database;
  readonly random: Random;
  readonly password: string | null;
  readonly file: string;
}): Promise<{ readonly message: string; readonly file: string | null }> {
  const { db, file } = wanted;
  const found = await findAccount(db, "admin");
  if (found) {
    if (found.initialPassword) return { message: "The administrator still has the initial password.", file };
    await rm(file, { force: true });
    return { message: "The administrator is in place.", file: null };
  }
  const generated = wanted.password === null;
  const password = wanted.password ?? randomBytes(15).toString("base64url");
  if (generated) {
    await writeFile(`${file}.new`, `${password}\n`, { mode: 0o600, flush: true });
    await chmod(`${file}.new`, 0o600);
    await rename(`${file}.new`, file);
    const directory = await open(dirname(file), "r");
    await directory.sync().finally(() => directory.close());
  }
  const passwordHash = await hashPassword(password);
  await db.transaction(async (sql) => {
    await insertAccount(sql, {
      id: wanted.random.uuid(),
      name: "admin",
      role: "administrator",
      passwordHash,
      initialPassword: generated,
    });
    await recordAudit(sql, {
      accountId: null,
      accountName: "owl",
      address: null,
      action: "account.added",
      target: "admin",
    });
  });
  return generated
    ? { message: "The administrator admin was added with a one-time password.", file }
    : { message: "The administrator admin was added with the given password.", file: null };
}
