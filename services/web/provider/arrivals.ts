// Whoever comes from the identity provider, and the account that is theirs. Invariants: issuer and subject alone lead to
// it; a first visit makes one or, where that is configured, links the one called as the verified mail address; what the
// person's groups make of them is written down at each sign-in.

import type { OidcConfig } from "../../../config/auth-config.ts";
import type { Role } from "../../core/approval.ts";
import { accountNames, type Claims, judgeClaims } from "../../core/claims.ts";
import { countAdministrators, insertAccount, lockAdministrators } from "../../db/accounts.ts";
import { recordAudit } from "../../db/audit.ts";
import { findLinked, linkByName, lockPerson, setRole, shutOut } from "../../db/identities.ts";
import type { Sql } from "../../db/pool.ts";
import type { WebDeps } from "../deps.ts";

interface Person {
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Claims;
}

type Refusal = "group" | "domain" | "disabled" | "unknown";

type Admitted =
  | { readonly verdict: "admitted"; readonly id: string; readonly name: string }
  | { readonly verdict: "refused"; readonly why: Refusal; readonly name: string };

/** Password of none: no password's hash looks like it. */
const NO_PASSWORD = "";

/** Finds or makes the person's account; who is refused is signed out everywhere. */
export function admitPerson(deps: WebDeps, rules: OidcConfig, person: Person, address: string): Promise<Admitted> {
  const { issuer, subject, claims } = person;
  const names = accountNames(claims, deps.random.token(6).toLowerCase());
  return deps.db.transaction(async (sql): Promise<Admitted> => {
    await lockPerson(sql, person);
    const judged = judgeClaims(claims, rules);
    const before = await findLinked(sql, person);
    const refuse = (why: Refusal): Admitted => ({ verdict: "refused", why, name: before?.name ?? names[0] ?? "" });
    if (judged.verdict === "refused") {
      await shutOut(sql, person);
      return refuse(judged.why);
    }
    const entry = { accountId: null, accountName: "identity provider", address };
    if (before === null) {
      const name = await giveAccount(sql, deps, rules, { person, names, email: judged.email, role: judged.role });
      if (name === null) return refuse("unknown");
      await recordAudit(sql, { ...entry, action: "account.linked", target: name, detail: { issuer, subject } });
    }
    const account = before ?? (await findLinked(sql, person));
    if (account === null || account.isDisabled) return refuse("disabled");
    const { id, name } = account;
    if (judged.role !== null && judged.role !== account.role && (await mayTake(sql, account.role))) {
      await setRole(sql, id, judged.role);
      await recordAudit(sql, { ...entry, action: "account.role", target: name, detail: { role: judged.role } });
    }
    return { verdict: "admitted", id, name };
  });
}

/** The last administrator stays one, whatever the groups say: else nobody could undo it. */
async function mayTake(sql: Sql, role: Role): Promise<boolean> {
  if (role !== "administrator") return true;
  await lockAdministrators(sql);
  return (await countAdministrators(sql)) > 1;
}

/** The name of the account that the person has from now on; null: they get none. */
async function giveAccount(
  sql: Sql,
  deps: WebDeps,
  rules: OidcConfig,
  wanted: {
    readonly person: Person;
    readonly names: readonly string[];
    readonly email: string | null;
    readonly role: Role | null;
  },
): Promise<string | null> {
  const { person, email } = wanted;
  if (rules.linkByEmail && email !== null && (await linkByName(sql, person, email))) return email;
  if (!rules.provision) return null;
  const role = wanted.role ?? "member";
  for (const name of wanted.names) {
    const account = { id: deps.random.uuid(), name, role, passwordHash: NO_PASSWORD, initialPassword: false };
    if ((await insertAccount(sql, account)) && (await linkByName(sql, person, name))) return name;
  }
  return null;
}
