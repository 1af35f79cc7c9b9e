// What is done to a schedule by its owner and by an operator alike: run it now, pause it, let it go on.

import { failure } from "../core/wire/errors.ts";
import type { Sql } from "../db/pool.ts";
import { type HeldSchedule, holdSchedule, insertTick, settleTick, type TickEnd } from "../db/schedule-ticks.ts";
import { pauseSchedule, resumeSchedule } from "../db/schedules.ts";
import { readCronLine } from "../schedules/cron-line.ts";
import { runSchedule } from "../schedules/run.ts";
import { nextTick } from "../schedules/scheduler.ts";
import { limitReached } from "./account-limits.ts";
import type { WebDeps } from "./deps.ts";

export const SCHEDULE_ACTS = ["pause", "resume"] as const;

export const runJson = (scheduleId: string, { turnId, conversationId, runId }: TickEnd) => ({
  scheduleId,
  turnId,
  conversationId,
  runId,
});

/** `accountId` null: an operator, whose it may be. */
async function held(sql: Sql, id: string, accountId: string | null): Promise<HeldSchedule> {
  const schedule = await holdSchedule(sql, id);
  if (!schedule || (accountId !== null && schedule.accountId !== accountId)) throw failure("schedule.notFound");
  return schedule;
}

/** Runs it once more, beside its ticks. Throws what its owner can be told. */
export async function runNow(deps: WebDeps, sql: Sql, id: string, accountId: string | null): Promise<TickEnd> {
  const schedule = await held(sql, id, accountId);
  if (schedule.isOpen) throw failure("schedule.running");
  const end = await runSchedule(deps, sql, schedule);
  if (end.reason === "limit") throw limitReached("turns", deps.config.limits.turns);
  if (end.reason === "conversation") throw failure("turn.running");
  if (end.reason === "gone") {
    throw failure("schedule.refused", { why: "its conversation or playbook is no longer there" });
  }
  // Never an instant of the clock's own: those are whole seconds.
  const nowMs = deps.clock.now();
  const tickAt = new Date(nowMs % 1_000 === 0 ? nowMs + 1 : nowMs);
  if (!(await insertTick(sql, id, { tickAt, untilAt: null, outcome: "started", byHand: true }))) {
    throw failure("schedule.running");
  }
  await settleTick(sql, id, tickAt, end);
  return end;
}

export async function actOnSchedule(
  deps: WebDeps,
  act: (typeof SCHEDULE_ACTS)[number],
  id: string,
  accountId: string | null,
): Promise<void> {
  await deps.db.transaction(async (sql) => {
    const schedule = await held(sql, id, accountId);
    if (act === "pause") return pauseSchedule(sql, id);
    const line = readCronLine(schedule.cron, schedule.zone);
    return resumeSchedule(sql, id, nextTick(line.next(deps.clock.now()), deps, schedule));
  });
}
