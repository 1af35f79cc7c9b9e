// Whether this process could start a program as another user: root, or the capabilities for it, and the user exists.

import { readFileSync, statSync } from "node:fs";
import { userInfo } from "node:os";

const CAP_SETGID = 6n;
const CAP_SETUID = 7n;

/** Why this process cannot start a program as `user`, or null when it can (or already is that user). */
export function canBecome(user: string): string | null {
  if (userInfo().username === user) return null;
  const missing = unknownUser(user);
  if (missing !== null) return missing;
  if (process.getuid?.() === 0 || maySwitch()) return null;
  return `owld runs as ${userInfo().username} and cannot switch to ${user}; leave user out, or start owld as root or by its systemd unit`;
}

/** A sentence when /etc/passwd does not know `user`, else null. */
export function unknownUser(user: string): string | null {
  let known: string;
  try {
    known = readFileSync("/etc/passwd", "utf8");
  } catch {
    return null;
  }
  return known.split("\n").some((line) => line.startsWith(`${user}:`))
    ? null
    : `there is no user ${user} on this machine (useradd --system ${user})`;
}

/**
 * Why a service of `user` could not put its socket where owld reaches it, or null. Root gives each user a directory of
 * its own; any other owld shares its run directory by groups.
 */
export function socketDenied(user: string, runDirectory: string): string | null {
  const run = statSync(runDirectory, { throwIfNoEntry: false });
  if (run === undefined || run.uid === 0) return null;
  const accounts = table("/etc/passwd");
  const nameOf = (uid: number): string => accounts.find((row) => row[2] === String(uid))?.[0] ?? String(uid);
  const account = accounts.find((row) => row[0] === user || row[2] === user);
  if (account === undefined || Number(account[2]) === run.uid) return null;
  const groups = table("/etc/group");
  const holds = (gid: string, name: string): boolean =>
    groups.some((row) => row[2] === gid && (row[3] ?? "").split(",").includes(name)) ||
    accounts.some((row) => row[0] === name && row[3] === gid);
  const groupOf = (gid: string): string => groups.find((row) => row[2] === gid)?.[0] ?? gid;
  const [name = user, , , gid = ""] = account;
  const needed = [
    ...((run.mode & 0o020) !== 0 && holds(String(run.gid), name)
      ? []
      : [`usermod -aG ${groupOf(String(run.gid))} ${name}`]),
    ...(holds(gid, nameOf(run.uid)) ? [] : [`usermod -aG ${groupOf(gid)} ${nameOf(run.uid)}`]),
  ];
  if (needed.length === 0) return null;
  return `${name} and ${nameOf(run.uid)} do not share a socket in ${runDirectory}; run as root: ${needed.join("; ")} (then restart owld), or use listen: port`;
}

function table(file: string): string[][] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.split(":"));
  } catch {
    return [];
  }
}

function maySwitch(): boolean {
  try {
    const line = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"));
    const held = BigInt(`0x${line?.[1] ?? "0"}`);
    return ((held >> CAP_SETUID) & 1n) === 1n && ((held >> CAP_SETGID) & 1n) === 1n;
  } catch {
    return false;
  }
}
