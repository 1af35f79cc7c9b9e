// Whether the kernel killed a process for want of memory lately, by its own counter for the whole machine
// (/proc/vmstat; control groups' limits count there too). A person's kill -9 does not move it.

import { readFileSync } from "node:fs";
import type { Clock } from "../../config/time.ts";
import type { OomKills } from "../ports.ts";

/** An exit is heard of within this of its kill, also one that only a slow poll sees. */
const LATELY_MS = 15_000;

/** `read`: the text of /proc/vmstat. Kills before this count for nothing. */
export function createOomKills(clock: Clock, read: () => string = readVmstat): OomKills {
  let count = counted(read);
  let roseAtMs = Number.NEGATIVE_INFINITY;
  const look = (): void => {
    const now = counted(read);
    if (now !== null && count !== null && now > count) roseAtMs = clock.monotonicMs();
    count = now;
  };
  return {
    look,
    lately() {
      look();
      return count === null || clock.monotonicMs() - roseAtMs <= LATELY_MS;
    },
  };
}

function readVmstat(): string {
  return readFileSync("/proc/vmstat", "utf8");
}

function counted(read: () => string): number | null {
  try {
    const found = /^oom_kill (\d+)$/m.exec(read())?.[1];
    return found === undefined ? null : Number(found);
  } catch {
    return null;
  }
}
