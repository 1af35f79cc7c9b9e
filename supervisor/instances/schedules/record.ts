// What is on record of a service with a schedule, and what its clock says is to be done. Pure. Invariants: a time that was
// taken is never taken again; a clock that is put right takes back what was reckoned by the wrong one.

import type { ScheduleConfig } from "../../../config/config.ts";
import type { CronLine } from "../../../config/cron-line.ts";
import { planTicks } from "../../../config/due-ticks.ts";
import type { WallMs } from "../../../config/time.ts";
import type { ProcessIdentity } from "../../ports.ts";

/** One run that goes on: written before its process is made. */
export interface TimedRun {
  readonly id: string;
  readonly service: string;
  readonly release: string;
  /** The time it was due; null: somebody asked for it. */
  readonly tickAt: WallMs | null;
  readonly startedAt: WallMs;
  readonly bootId: string;
  readonly identity: ProcessIdentity | null;
  readonly stop: { readonly graceMs: number; readonly signal: NodeJS.Signals };
  readonly limitMs: number;
  readonly memoryLimitBytes: number | null;
  /** Why it was told to end; null: it was not. */
  readonly cause: string | null;
}

export interface TimedEnd {
  readonly id: string;
  readonly tickAt: WallMs | null;
  readonly startedAt: WallMs;
  readonly endedAt: WallMs;
  /** lost: it ended while no owld looked, so nobody knows how. */
  readonly outcome: "succeeded" | "failed" | "lost";
  readonly how: string;
  readonly code: number | null;
  readonly signal: string | null;
}

export interface ScheduleRecord {
  /** What `nextAt` was reckoned from, and when; "": it is to be reckoned. */
  readonly line: string;
  readonly plannedAt: WallMs;
  /** null: never. */
  readonly nextAt: WallMs | null;
  /** The newest time that was taken. */
  readonly takenAt: WallMs | null;
  /** A time that came while the run before went on, to be run after it. */
  readonly waitingAt: WallMs | null;
  readonly run: TimedRun | null;
  readonly last: TimedEnd | null;
}

export const EMPTY: ScheduleRecord = {
  line: "",
  plannedAt: 0,
  nextAt: null,
  takenAt: null,
  waitingAt: null,
  run: null,
  last: null,
};

interface Due {
  readonly record: ScheduleRecord;
  /** Begin a run for that time. */
  readonly start: WallMs | null;
  /** Times nobody took: from, and the first after them. */
  readonly missed: { readonly fromAt: WallMs; readonly untilAt: WallMs | null } | null;
  /** Left out for the run that goes on. */
  readonly skippedAt: WallMs | null;
}

/** Clocks may be corrected by so much without anything being reckoned again. */
const MARGIN_MS = 60_000;
/** Times taken so far ahead were taken by a wrong clock. */
const WRONG_MS = 86_400_000;

/** What is to be done now. The record is to be kept when it is another one. */
export function dueNow(record: ScheduleRecord, schedule: ScheduleConfig, line: CronLine, nowMs: WallMs): Due {
  const nothing = { start: null, missed: null, skippedAt: null };
  const key = `${schedule.cron} ${schedule.zone}`;
  if (record.line !== key || nowMs < record.plannedAt - MARGIN_MS) {
    const { takenAt } = record;
    const isTaken = takenAt !== null && takenAt > nowMs && takenAt - nowMs < WRONG_MS;
    const nextAt = line.next(isTaken ? takenAt : nowMs);
    return { ...nothing, record: { ...record, line: key, plannedAt: nowMs, nextAt, waitingAt: null } };
  }
  if (record.nextAt === null || record.nextAt > nowMs) {
    if (record.waitingAt === null || record.run !== null) return { ...nothing, record };
    return { ...nothing, record: { ...record, waitingAt: null }, start: record.waitingAt };
  }
  const plan = planTicks({ nextAt: record.nextAt, missed: schedule.missed }, line, nowMs);
  const missed = plan.missed === null ? null : { fromAt: plan.missed.tickAt, untilAt: plan.missed.untilAt };
  const moved = { ...record, plannedAt: nowMs, nextAt: plan.nextAt, takenAt: plan.run?.tickAt ?? record.takenAt };
  if (plan.run === null) return { ...nothing, record: moved, missed };
  const { tickAt } = plan.run;
  if (record.run === null) return { record: { ...moved, waitingAt: null }, start: tickAt, missed, skippedAt: null };
  if (schedule.overlap === "queue" && record.waitingAt === null)
    return { record: { ...moved, waitingAt: tickAt }, start: null, missed, skippedAt: null };
  return { record: moved, start: null, missed, skippedAt: tickAt };
}
