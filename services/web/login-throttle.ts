// How often a password may be tried. Invariants: a try is recorded before it is evaluated, so that of many at once no
// more are evaluated than are allowed; who fails from elsewhere never keeps a known device of the account out.

import { failure } from "../core/wire/errors.ts";
import { countLoginFailures, forgetLoginFailures, recordLoginFailure } from "../db/accounts.ts";
import type { Database } from "../db/pool.ts";

const WINDOW_S = 900;

interface Subject {
  readonly name: string;
  /** Tries within the window. */
  readonly most: number;
}

/** Who tries to sign in: from a known device only that device counts, else address and account, together and apart. */
export function signInSubjects(who: {
  readonly account: string;
  /** Absent where the request came past the proxy, on this instance's own socket. */
  readonly address: string | undefined;
  readonly device: string | null;
}): readonly Subject[] {
  if (who.device !== null) return [{ name: `device:${who.device}`, most: 10 }];
  const network = who.address === undefined ? "here" : networkOf(who.address);
  return [
    { name: `pair:${network} ${who.account}`, most: 10 },
    { name: `address:${network}`, most: 50 },
    // Many addresses that try one account; its known devices are not concerned.
    { name: `account:${who.account}`, most: 100 },
  ];
}

/** Tries of the present password by whoever is signed in already; signing in is not concerned. */
export const changeSubjects = (accountId: string): readonly Subject[] => [{ name: `change:${accountId}`, most: 10 }];

/** Codes of a second factor, whoever knows the password. */
export const codeSubjects = (accountId: string): readonly Subject[] => [{ name: `code:${accountId}`, most: 10 }];

/** Sign-ins that the identity provider sent back and that came to nothing. */
export const providerSubjects = (address: string | undefined): readonly Subject[] => [
  { name: `provider:${address === undefined ? "here" : networkOf(address)}`, most: 50 },
];

/** An IPv6 host has a whole /64 to choose addresses from. */
function networkOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter(Boolean);
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(":").filter(Boolean).length;
  const all = [...groups, ...Array<string>(Math.max(0, missing)).fill("0")];
  return `${all.slice(0, 4).join(":")}::/64`;
}

/** Records a try. Throws `session.tooMany` (429) where one of the subjects has had its tries. */
export async function beginTry(db: Database, subjects: readonly Subject[]): Promise<void> {
  const names = subjects.map((subject) => subject.name);
  const isOver = async (slack: number) => {
    const counts = await countLoginFailures(db, names, WINDOW_S);
    return subjects.some(({ name, most }) => (counts.get(name) ?? 0) + slack > most);
  };
  // Looked at before as well: what is refused leaves no row, or a flood would fill the table.
  if (!(await isOver(1))) {
    await recordLoginFailure(db, names);
    if (!(await isOver(0))) return;
  }
  throw failure("session.tooMany", {}, { data: { retryAfterS: WINDOW_S } });
}

/** It was none: only what it recorded is taken back. */
export async function withdrawTry(db: Database, subjects: readonly Subject[]): Promise<void> {
  const names = subjects.map((subject) => subject.name);
  await forgetLoginFailures(db, [], names);
}

/** The try was right: it does not count, nor do those before it of the first subject. */
export async function endTry(db: Database, subjects: readonly Subject[]): Promise<void> {
  const [first, ...rest] = subjects.map((subject) => subject.name);
  await forgetLoginFailures(db, first === undefined ? [] : [first], rest);
}
