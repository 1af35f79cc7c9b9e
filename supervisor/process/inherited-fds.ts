// Closes what owld inherited by accident, so that no instance inherits it in turn and holds it for its whole life.
// Node marks low descriptors close-on-exec by itself, but stops looking at the first gap above 15.

import { closeSync, readdirSync, readFileSync } from "node:fs";

const CLOSE_ON_EXEC = 0o2000000;

/** Closes every descriptor from 3 up that a child would inherit, but `keep` (systemd's). Returns the closed ones. */
export function closeInherited(keep: ReadonlySet<number>): number[] {
  const closed: number[] = [];
  for (const name of readdirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd < 3 || keep.has(fd) || !isInheritable(fd)) continue;
    try {
      closeSync(fd);
      closed.push(fd);
    } catch {
      // The directory's own descriptor, closed by now.
    }
  }
  return closed;
}

function isInheritable(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false;
  }
}
