// Whether this process could start a program as another user: root, or the capabilities for it, and the user exists.

import { readFileSync } from "node:fs";
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

function maySwitch(): boolean {
  try {
    const line = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"));
    const held = BigInt(`0x${line?.[1] ?? "0"}`);
    return ((held >> CAP_SETUID) & 1n) === 1n && ((held >> CAP_SETGID) & 1n) === 1n;
  } catch {
    return false;
  }
}
