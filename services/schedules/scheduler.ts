// The clock of the schedules, in every web process alike: there is nobody to elect, because whoever finds a schedule due
// holds its row. Invariants: what one pass does is one transaction a schedule; a clock that is put right takes back what
// was reckoned by the wrong one, and a tick that has run never runs again.

import type { Logger } from "pino";
import type { CronLine } from "../../config/cron-line.ts";
import { planTicks } from "../../config/due-ticks.ts";
import { asError } from "../../config/errors.ts";
import { createLoop, type Running } from "../../config/running.ts";
import type { Clock } from "../../config/time.ts";
import { mayPassLater } from "../db/database-errors.ts";
import type { Database, Sql } from "../db/pool.ts";
import {
  forgetUnborn,
  type HeldSchedule,
  holdDueSchedule,
  holdFreedSchedule,
  holdMisplannedSchedule,
  insertTick,
  moveSchedule,
  settleTick,
  type TickEnd,
} from "../db/schedule-ticks.ts";
import type { NextTick, ScheduleText } from "../db/schedules.ts";
import { readCronLine } from "./cron-line.ts";
import { type RunDeps, runSchedule } from "./run.ts";

interface SchedulerDeps extends RunDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Scheduler extends Running {
  /** Takes what is due; answers how many schedules that were. */
  runOnce(): Promise<number>;
}

const EVERY_MS = 1_000;
/** In one pass; the next one goes on. */
const AT_ONCE = 200;
/** Clocks of several machines may differ by as much without anything being reckoned again. */
const MARGIN_MS = 60_000;

const dateOf = (ms: number | null) => (ms === null ? null : new Date(ms));

/** When `nextAt` is taken: a part of the jitter after it. */
export function nextTick(
  nextAt: number | null,
  deps: { readonly clock: Pick<Clock, "now">; readonly random: { float(): number } },
  schedule: Pick<ScheduleText, "jitterMs">,
): NextTick {
  const dueAt = nextAt === null ? null : nextAt + Math.floor(deps.random.float() * schedule.jitterMs);
  return { nextAt: dateOf(nextAt), dueAt: dateOf(dueAt), plannedAt: new Date(deps.clock.now()) };
}

/** A tick comes while the run before it goes on. */
function overlapped(schedule: HeldSchedule): TickEnd {
  const waits = schedule.overlap === "queue" && schedule.waitingAt === null;
  return { outcome: waits ? "waiting" : "skipped", reason: "overlap", turnId: null, conversationId: null, runId: null };
}

/** It is left as it was until the next pass. */
class Passed extends Error {}

class Failed extends Error {
  readonly schedule: string;

  constructor(schedule: string, cause: unknown) {
    super("a schedule could not be run", { cause });
    this.schedule = schedule;
  }
}

/** Whose failure it is, whatever fails in `work`. What may pass later stays what it is. */
async function during(schedule: HeldSchedule, work: (line: CronLine) => Promise<void>): Promise<void> {
  try {
    await work(readCronLine(schedule.cron, schedule.zone));
  } catch (error) {
    if (mayPassLater(error)) throw error;
    throw new Failed(schedule.id, error);
  }
}

export function createScheduler(deps: SchedulerDeps): Scheduler {
  const { db, clock, log } = deps;
  const stopping = new AbortController();

  async function take(sql: Sql, schedule: HeldSchedule, line: CronLine, nowMs: number): Promise<void> {
    const { id, missed } = schedule;
    const plan = planTicks({ nextAt: schedule.nextAt?.getTime() ?? nowMs, missed }, line, nowMs);
    const tickOf = (ticks: { tickAt: number; untilAt: number | null }) => ({
      tickAt: new Date(ticks.tickAt),
      untilAt: dateOf(ticks.untilAt),
    });
    if (plan.missed !== null) await insertTick(sql, id, { ...tickOf(plan.missed), outcome: "missed" });
    if (plan.run !== null) {
      const tick = tickOf(plan.run);
      if (await insertTick(sql, id, { ...tick, outcome: "started" })) {
        const end = schedule.isOpen ? overlapped(schedule) : await runSchedule(deps, sql, schedule);
        await settleTick(sql, id, tick.tickAt, busy(schedule, end));
        log.info({ schedule: id, tick: tick.tickAt, outcome: end.outcome, why: end.reason }, "schedule ticked");
      }
    }
    await moveSchedule(sql, id, nextTick(plan.nextAt, deps, schedule));
  }

  /** Somebody asks in its conversation at this moment: as if its own run went on. */
  function busy(schedule: HeldSchedule, end: TickEnd): TickEnd {
    return end.reason === "conversation" ? { ...overlapped(schedule), reason: "conversation" } : end;
  }

  async function takeDue(sql: Sql, except: readonly string[]): Promise<HeldSchedule | null> {
    const nowMs = clock.now();
    const schedule = await holdDueSchedule(sql, new Date(nowMs), except);
    if (schedule !== null) await during(schedule, (line) => take(sql, schedule, line, nowMs));
    return schedule;
  }

  async function takeFreed(sql: Sql, except: readonly string[]): Promise<HeldSchedule | null> {
    const schedule = await holdFreedSchedule(sql, except);
    if (schedule === null || schedule.waitingAt === null) return null;
    const { id, waitingAt } = schedule;
    await during(schedule, async () => {
      const end = await runSchedule(deps, sql, schedule);
      // Somebody was quicker to ask in its conversation: it waits on.
      if (end.reason === "conversation") throw new Passed();
      await settleTick(sql, id, waitingAt, end);
      log.info({ schedule: id, outcome: end.outcome, why: end.reason }, "waiting tick taken");
    });
    return schedule;
  }

  async function planAgain(sql: Sql, except: readonly string[]): Promise<HeldSchedule | null> {
    const nowMs = clock.now();
    const schedule = await holdMisplannedSchedule(sql, new Date(nowMs + MARGIN_MS), except);
    if (schedule === null) return null;
    await during(schedule, async (line) => {
      await forgetUnborn(sql, schedule.id, new Date(nowMs));
      await moveSchedule(sql, schedule.id, nextTick(line.next(nowMs - 1), deps, schedule));
      log.warn({ schedule: schedule.id }, "the clock went back: the next tick was reckoned again");
    });
    return schedule;
  }

  async function runOnce(): Promise<number> {
    let count = 0;
    for (const step of [planAgain, takeDue, takeFreed]) {
      // One that fails is passed over for now: it must not keep the others from their ticks.
      const except: string[] = [];
      for (let n = 0; n < AT_ONCE && !stopping.signal.aborted; n++) {
        try {
          if ((await db.attempt(async (sql) => (await step(sql, except)) ?? undefined)) === undefined) break;
          count += 1;
        } catch (error) {
          if (!(error instanceof Failed)) throw error;
          except.push(error.schedule);
          if (error.cause instanceof Passed) continue;
          log.error(
            { err: asError(error.cause), schedule: error.schedule },
            "a schedule could not be run; it is tried again",
          );
        }
      }
    }
    return count;
  }

  const loop = createLoop({
    clock,
    everyMs: EVERY_MS,
    runOnce: async () => void (await runOnce()),
    failed: (err) => log.warn({ err }, "schedules were not looked after; it is tried again"),
  });
  return {
    ...loop,
    runOnce,
    async stop() {
      stopping.abort();
      await loop.stop();
    },
  };
}
