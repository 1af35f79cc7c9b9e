// Heavy work of other processes (decoders, statements) takes the processors that answering leaves: it runs as fast as
// ever on an idle machine, and behind everybody's questions on a busy one.

import { readFileSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

const LEAST = 19;

/** `by` how much: the least there is, but for whom others may wait (a statement that holds a lock of the server). */
export function lowerPriority(pid: number, by = LEAST): void {
  try {
    const priority = Math.min(getPriority() + by, LEAST);
    setPriority(pid, priority);
    // Linux shares processors out by session first, where it groups them so, and by priority only within one.
    const session = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[3];
    if (session === String(pid)) writeFileSync(`/proc/${pid}/autogroup`, String(priority));
  } catch {
    // It has ended, is another user's, or sessions are not grouped: it runs as it is.
  }
}
