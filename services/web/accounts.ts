// Accounts as administrators handle them, from the page and from `owlctl user` alike.

import type { Role } from "../core/approval.ts";
import { failure } from "../core/wire/errors.ts";
import {
  type AccountRow,
  countAdministrators,
  findAccount,
  insertAccount,
  lockAdministrators,
  markAccountDeleted,
  setDisabled,
  setPassword,
} from "../db/accounts.ts";
import { type AuditEntry, recordAudit } from "../db/audit.ts";
import { removeSecondFactor } from "../db/second-factors.ts";
import type { WebDeps } from "./deps.ts";
import { checkPassword } from "./sessions.ts";

/** Who acts: for the audit trail. */
export type Actor = Pick<AuditEntry, "accountId" | "accountName" | "address">;

async function find(deps: WebDeps, name: string): Promise<AccountRow> {
  const account = await findAccount(deps.db, name.toLowerCase());
  if (account) return account;
  throw failure("account.notFound", { name });
}

/** Adds one; without `password` a one-time password is made and answered. Throws `account.conflict`, `password.weak`. */
export async function addAccount(
  deps: WebDeps,
  actor: Actor,
  wanted: { readonly name: string; readonly role: Role; readonly password: string | undefined },
): Promise<{ readonly name: string; readonly password: string | null }> {
  const name = wanted.name.toLowerCase();
  const password = wanted.password ?? deps.random.token(12);
  checkPassword(password);
  const passwordHash = await deps.passwords.hash(password);
  await deps.db.transaction(async (sql) => {
    const id = deps.random.uuid();
    const initialPassword = wanted.password === undefined;
    if (!(await insertAccount(sql, { id, name, role: wanted.role, passwordHash, initialPassword }))) {
      throw failure("account.conflict", { name });
    }
    await recordAudit(sql, { ...actor, action: "account.added", target: name, detail: { role: wanted.role } });
  });
  return { name, password: wanted.password === undefined ? password : null };
}

/** Sets a password (or makes a one-time one) and signs the account out everywhere. */
export async function resetPassword(
  deps: WebDeps,
  actor: Actor,
  wanted: { readonly name: string; readonly password: string | undefined },
): Promise<{ readonly name: string; readonly password: string | null }> {
  const account = await find(deps, wanted.name);
  const password = wanted.password ?? deps.random.token(12);
  checkPassword(password);
  const passwordHash = await deps.passwords.hash(password);
  await deps.db.transaction(async (sql) => {
    await setPassword(sql, account.id, {
      hash: passwordHash,
      initial: wanted.password === undefined,
      keepDevice: null,
    });
    // Whoever lost the device of the second factor asks an administrator.
    const factorRemoved = await removeSecondFactor(sql, account.id);
    await recordAudit(sql, { ...actor, action: "password.reset", target: account.name, detail: { factorRemoved } });
  });
  return { name: account.name, password: wanted.password === undefined ? password : null };
}

/** Disables (signs out) or enables. Throws `account.conflict` (409) for the last one who could still sign in. */
export async function switchAccount(deps: WebDeps, actor: Actor, name: string, disabled: boolean): Promise<void> {
  const account = await find(deps, name);
  await deps.db.transaction(async (sql) => {
    if (disabled) await lockAdministrators(sql);
    await setDisabled(sql, account.name, disabled);
    if (disabled && account.role === "administrator" && (await countAdministrators(sql)) === 0) {
      throw failure("account.conflict#last");
    }
    await recordAudit(sql, {
      ...actor,
      action: disabled ? "account.disabled" : "account.enabled",
      target: account.name,
    });
  });
}

/** Deletes it with all it owns: out at once, erased within minutes. Throws `account.conflict` for the last administrator. */
export async function deleteAccount(deps: WebDeps, actor: Actor, name: string): Promise<void> {
  const account = await find(deps, name);
  await deps.db.transaction(async (sql) => {
    await lockAdministrators(sql);
    if (!(await markAccountDeleted(sql, account.id))) throw failure("account.notFound", { name });
    if (account.role === "administrator" && (await countAdministrators(sql)) === 0) {
      throw failure("account.conflict#last");
    }
    await recordAudit(sql, { ...actor, action: "account.deleted", target: account.name });
  });
}
