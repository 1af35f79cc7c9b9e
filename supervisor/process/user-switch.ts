// How a service comes to run as another user: as root by uid and gid, else through setpriv with CAP_SETUID.
// Invariant: a switched process keeps no capability of owld's.

import { accessSync, constants, readFileSync } from "node:fs";
import { execa } from "execa";
import { OwlError } from "../../config/errors.ts";

interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

export interface UserSwitch {
  /** What argv becomes, and the ids to give to spawn. */
  readonly argv: readonly [string, ...string[]];
  readonly uid?: number;
  readonly gid?: number;
}

const SETPRIV = ["/usr/bin/setpriv", "/bin/setpriv"];

/** `argv` as `user` runs it; unchanged for null. Throws `spawn.failed` for an unknown user or a missing right. */
export async function switchUser(argv: readonly [string, ...string[]], user: string | null): Promise<UserSwitch> {
  if (user === null) return { argv: dropPrivileges(argv) };
  return planSwitch(argv, await findAccount(user), process.geteuid?.() ?? 0);
}

/** The account of `user` (a name or a number) from /etc/passwd, else from getent (LDAP and the like). Throws. */
export async function findAccount(user: string): Promise<Account> {
  const found = parsePasswd(readFileSync("/etc/passwd", "utf8"), user);
  if (found) return found;
  const { stdout } = await execa("getent", ["passwd", user], { reject: false });
  const asked = typeof stdout === "string" ? parsePasswd(stdout, user) : null;
  if (asked) return asked;
  throw new OwlError("spawn.failed", `There is no user ${JSON.stringify(user)} on this machine.`, {
    next: `Create it (useradd --system ${user}) or change \`user:\` in owl.yaml.`,
    data: { user },
  });
}

/** The line of `user` in passwd's format, by name or number. Pure. */
export function parsePasswd(text: string, user: string): Account | null {
  for (const line of text.split("\n")) {
    const [name, , uid, gid, , home] = line.split(":");
    if (name === undefined || uid === undefined || gid === undefined) continue;
    if (name === user || uid === user) return { name, uid: Number(uid), gid: Number(gid), home: home ?? "/" };
  }
  return null;
}

/** The way from `own` (effective uid of owld) to `account`. Throws `spawn.failed` when there is none. */
export function planSwitch(
  argv: readonly [string, ...string[]],
  account: Account,
  own: number,
  setpriv: string | null = findSetpriv(),
): UserSwitch {
  if (account.uid === own) return { argv: dropPrivileges(argv) };
  if (setpriv !== null) {
    // Also as root: spawn's uid and gid drop the account's further groups, setpriv gives them.
    const drop = ["--init-groups", "--inh-caps=-all", ...(own === 0 ? [] : ["--ambient-caps=-all"])];
    return { argv: [setpriv, `--reuid=${account.uid}`, `--regid=${account.gid}`, ...drop, "--", ...argv] };
  }
  if (own === 0) return { argv, uid: account.uid, gid: account.gid };
  throw new OwlError("spawn.failed", `A service cannot run as ${account.name}: owld may not switch users.`, {
    next: "Run owld as root, or install util-linux's setpriv and grant CAP_SETUID and CAP_SETGID, or remove `user:`.",
    data: { user: account.name },
  });
}

/**
 * `argv` without the capabilities owld holds under its unit (ambient ones survive every exec): through setpriv where
 * there are any, else unchanged. The process keeps its number.
 */
export function dropPrivileges(argv: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (!holdsAmbient()) return argv;
  const setpriv = findSetpriv();
  if (setpriv === null) return argv;
  return [setpriv, "--inh-caps=-all", "--ambient-caps=-all", "--", ...argv];
}

/** Does this process hand capabilities on by exec (AmbientCapabilities= of its unit)? */
export function holdsAmbient(status = readFileSync("/proc/self/status", "utf8")): boolean {
  const held = /^CapAmb:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return held !== undefined && BigInt(`0x${held}`) !== 0n;
}

function findSetpriv(): string | null {
  for (const path of SETPRIV) {
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not there: the next one.
    }
  }
  return null;
}
