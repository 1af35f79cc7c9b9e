// Heavy work of other processes (decoders, statements) takes the processors that answering leaves: it runs as fast as
// ever on an idle machine, and behind everybody's questions on a busy one.

import { getPriority, setPriority } from "node:os";

/** Not the least there is: a statement that holds a lock of the server has to get on with it. */
const BEHIND_US = 10;
const LEAST = 19;

export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, Math.min(getPriority() + BEHIND_US, LEAST));
  } catch {
    // It has ended, or is another user's: it runs as it is.
  }
}
