// As whom PostgreSQL runs: never as root. Pure but for reading the account list.
// Invariant: the answer follows the owner of an existing data directory, so that an account added later changes nothing.

import { readFile } from "node:fs/promises";
import { OwlError } from "../../config/errors.ts";

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Tried in this order when owld is root. */
const CANDIDATES = ["postgres", "owl", "owl-app", "nobody"] as const;

/** The accounts of /etc/passwd. */
export async function readAccounts(file = "/etc/passwd"): Promise<readonly Account[]> {
  return parseAccounts(await readFile(file, "utf8"));
}

/** Lines of /etc/passwd as accounts; malformed lines are left out. */
function parseAccounts(passwd: string): readonly Account[] {
  return passwd.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":");
    if (!name || !/^\d+$/.test(uid ?? "") || !/^\d+$/.test(gid ?? "")) return [];
    return [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}

/**
 * The account PostgreSQL is started as, or null: as owld itself, which is not root.
 * `dataOwner`: owner of an existing data directory. Throws `postgres.noAccount` when root finds no other account.
 */
export function chooseAccount(facts: {
  readonly euid: number;
  readonly accounts: readonly Account[];
  readonly dataOwner: { readonly uid: number; readonly gid: number } | null;
}): Account | null {
  if (facts.euid !== 0) return null;
  const { dataOwner } = facts;
  if (dataOwner && dataOwner.uid !== 0) {
    const known = facts.accounts.find((account) => account.uid === dataOwner.uid);
    return { name: known?.name ?? `uid ${dataOwner.uid}`, ...dataOwner };
  }
  for (const name of CANDIDATES) {
    const found = facts.accounts.find((account) => account.name === name && account.uid !== 0);
    if (found) return found;
  }
  throw new OwlError(
    "postgres.noAccount",
    `PostgreSQL never runs as root, and none of the accounts ${CANDIDATES.join(", ")} exists here.`,
    { next: "Create one (useradd --system postgres), or start Owl as an ordinary user." },
  );
}
