// Taking ticks. Invariant: a schedule's row is locked, its tick's row inserted (one of an instant, for ever) and the
// schedule moved on in one transaction with the run itself: two processes never run a tick twice, a killed one loses none.

import type { Sql } from "./pool.ts";
import { type NextTick, SCHEDULE_COLUMNS, type ScheduleRow, type TickOutcome, type TickReason } from "./schedules.ts";

/** What is needed to run it. */
export type HeldSchedule = Omit<ScheduleRow, "lastTick" | "outcomes" | "cursor">;

const HELD = `SELECT ${SCHEDULE_COLUMNS} FROM owl.schedule s
  JOIN owl.account a ON a.id = s.account_id AND a.disabled_at IS NULL AND a.deleted_at IS NULL`;
const ACTIVE = "s.paused_at IS NULL";
const LOCK = "LIMIT 1 FOR UPDATE OF s SKIP LOCKED";

/** A schedule of a living account whose tick is due, locked; null: none but `except` that nobody else is at. */
export async function holdDueSchedule(sql: Sql, now: Date, except: readonly string[]): Promise<HeldSchedule | null> {
  const { rows } = await sql.query<HeldSchedule>(
    `${HELD} WHERE ${ACTIVE} AND s.due_at <= $1 AND s.id <> ALL($2::uuid[]) ORDER BY s.due_at ${LOCK}`,
    [now, except],
  );
  return rows[0] ?? null;
}

/** One with a tick that waited for a run which has ended now, locked. */
export async function holdFreedSchedule(sql: Sql, except: readonly string[]): Promise<HeldSchedule | null> {
  const { rows } = await sql.query<HeldSchedule>(
    `${HELD} WHERE ${ACTIVE} AND s.waiting_at IS NOT NULL AND s.id <> ALL($1::uuid[])
        AND NOT EXISTS (SELECT 1 FROM owl.turn t WHERE t.ended_at IS NULL
              AND (t.id = s.last_turn OR (s.text IS NOT NULL AND t.conversation_id = s.conversation_id)))
        AND NOT EXISTS (SELECT 1 FROM owl.playbook_run r WHERE r.id = s.last_run AND r.ended_at IS NULL)
      ORDER BY s.waiting_at ${LOCK}`,
    [except],
  );
  return rows[0] ?? null;
}

/** One that was reckoned when the clock showed more than `after`, locked. */
export async function holdMisplannedSchedule(
  sql: Sql,
  after: Date,
  except: readonly string[],
): Promise<HeldSchedule | null> {
  const { rows } = await sql.query<HeldSchedule>(
    `${HELD} WHERE ${ACTIVE} AND s.planned_at > $1 AND s.id <> ALL($2::uuid[]) ORDER BY s.planned_at ${LOCK}`,
    [after, except],
  );
  return rows[0] ?? null;
}

/** The schedule, waited for and locked, whoever's it is. */
export async function holdSchedule(sql: Sql, id: string): Promise<HeldSchedule | null> {
  const { rows } = await sql.query<HeldSchedule>(`${HELD} WHERE s.id = $1 FOR UPDATE OF s`, [id]);
  return rows[0] ?? null;
}

interface NewTick {
  readonly tickAt: Date;
  readonly untilAt: Date | null;
  readonly outcome: TickOutcome;
  readonly byHand?: boolean;
}

/** False: that tick was taken before. */
export async function insertTick(sql: Sql, scheduleId: string, tick: NewTick): Promise<boolean> {
  const { rowCount } = await sql.query(
    `INSERT INTO owl.schedule_tick (schedule_id, tick_at, until_at, outcome, by_hand) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (schedule_id, tick_at) DO NOTHING`,
    [scheduleId, tick.tickAt, tick.untilAt, tick.outcome, tick.byHand ?? false],
  );
  return rowCount === 1;
}

/** What became of it. */
export interface TickEnd {
  readonly outcome: TickOutcome;
  readonly reason: TickReason | null;
  readonly turnId: string | null;
  readonly conversationId: string | null;
  readonly runId: string | null;
}

export async function settleTick(sql: Sql, scheduleId: string, tickAt: Date, end: TickEnd): Promise<void> {
  await sql.query(
    `WITH settled AS (
       UPDATE owl.schedule_tick SET outcome = $3, reason = $4, turn_id = $5, run_id = $6
        WHERE schedule_id = $1 AND tick_at = $2)
     UPDATE owl.schedule SET last_turn = coalesce($5, last_turn), last_run = coalesce($6, last_run),
            waiting_at = CASE WHEN $3 = 'waiting' THEN $2 WHEN waiting_at = $2 THEN NULL ELSE waiting_at END
      WHERE id = $1`,
    [scheduleId, tickAt, end.outcome, end.reason, end.turnId, end.runId],
  );
}

export async function moveSchedule(sql: Sql, id: string, next: NextTick): Promise<void> {
  await sql.query("UPDATE owl.schedule SET next_at = $2, due_at = $3, planned_at = $4 WHERE id = $1", [
    id,
    next.nextAt,
    next.dueAt,
    next.plannedAt,
  ]);
}

/** What was told as missed and has not come yet by the right clock is not: its ticks are still to be taken. */
export async function forgetUnborn(sql: Sql, id: string, now: Date): Promise<void> {
  await sql.query(
    `WITH gone AS (DELETE FROM owl.schedule_tick WHERE schedule_id = $1 AND outcome = 'missed' AND tick_at >= $2)
     UPDATE owl.schedule_tick SET until_at = $2 WHERE schedule_id = $1 AND outcome = 'missed' AND tick_at < $2 AND until_at > $2`,
    [id, now],
  );
}
