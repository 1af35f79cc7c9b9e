// What is due of a schedule at a moment, and when it is due next. Pure. Invariants: from tick to tick everything is either
// run or told as missed, and next is later than all of that; the cost does not depend on how long nobody looked.

import type { CronLine } from "./cron-line.ts";

export const MISSED_POLICIES = ["skip", "once"] as const;
export type MissedPolicy = (typeof MISSED_POLICIES)[number];

/** A tick that is taken later than this was missed. */
export const LATE_MS = 300_000;

interface Ticks {
  readonly tickAt: number;
  /** It stands for the ticks before this one too; null: for itself alone. */
  readonly untilAt: number | null;
}

interface TickPlan {
  readonly missed: Ticks | null;
  readonly run: Ticks | null;
  /** null: never again. */
  readonly nextAt: number | null;
}

/** `nextAt` has come: what of it and of the ticks after it is run, what was missed. */
export function planTicks(
  schedule: { readonly nextAt: number; readonly missed: MissedPolicy },
  line: CronLine,
  nowMs: number,
): TickPlan {
  const { nextAt } = schedule;
  const newest = newestTick(nextAt, line, nowMs);
  if (newest !== null) {
    const missed = newest === nextAt ? null : { tickAt: nextAt, untilAt: newest };
    return { missed, run: { tickAt: newest, untilAt: null }, nextAt: line.next(Math.max(newest, nowMs)) };
  }
  const later = line.next(nowMs);
  const all = { tickAt: nextAt, untilAt: later };
  return schedule.missed === "once"
    ? { missed: null, run: all, nextAt: later }
    : { missed: all, run: null, nextAt: later };
}

/** The newest tick that has come and is not late; null: all of them are. */
function newestTick(nextAt: number, line: CronLine, nowMs: number): number | null {
  let newest: number | null = nextAt >= nowMs - LATE_MS ? nextAt : null;
  for (let tick = newest ?? line.next(nowMs - LATE_MS - 1); tick !== null && tick <= nowMs; tick = line.next(tick)) {
    newest = tick;
  }
  return newest;
}
