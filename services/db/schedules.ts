// Schedules as their owners keep them, and what became of their ticks. (Taking ticks: schedule-ticks.ts.)

import { type Before, beforeText, beforeValues, cursorText } from "./keyset.ts";
import type { Sql } from "./pool.ts";

/** What an owner writes. */
export interface ScheduleText {
  readonly name: string;
  readonly cron: string;
  readonly zone: string;
  /** A question; null: a playbook. */
  readonly text: string | null;
  readonly conversationId: string | null;
  readonly playbookId: string | null;
  readonly missed: "skip" | "once";
  readonly overlap: "skip" | "queue";
  readonly jitterMs: number;
}

/** When it ticks next, reckoned at `plannedAt`. */
export interface NextTick {
  readonly nextAt: Date | null;
  readonly dueAt: Date | null;
  readonly plannedAt: Date;
}

export type TickOutcome = "started" | "waiting" | "skipped" | "missed" | "refused";
/** overlap: its last run had not ended. conversation: a turn of it had not. gone: what it names is. */
export type TickReason = "overlap" | "conversation" | "limit" | "gone";
/** How a run went; of a tick without one, whether it counts as failed. */
type RunOutcome = "failed" | "succeeded" | "open";

export interface ScheduleRow extends ScheduleText {
  readonly id: string;
  readonly accountId: string;
  readonly accountName: string;
  readonly pausedAt: Date | null;
  readonly nextAt: Date | null;
  readonly createdAt: Date;
  readonly waitingAt: Date | null;
  /** A run of it has not ended. */
  readonly isOpen: boolean;
  readonly lastTick: { readonly tickAt: string; readonly outcome: TickOutcome } | null;
  /** Of the newest ticks that ran or were refused, newest first. */
  readonly outcomes: readonly RunOutcome[];
  readonly cursor: string;
}

/** As many of the newest are looked at for failures in a row. */
const RECENT = 10;

const OPEN = `(EXISTS (SELECT 1 FROM owl.turn t WHERE t.id = s.last_turn AND t.ended_at IS NULL)
  OR EXISTS (SELECT 1 FROM owl.playbook_run r WHERE r.id = s.last_run AND r.ended_at IS NULL))`;

const RUN_OUTCOME = `CASE WHEN k.outcome = 'refused' THEN 'failed'
  WHEN coalesce(t.state, r.state) IN ('answered', 'done') THEN 'succeeded'
  WHEN coalesce(t.state, r.state) = 'failed' THEN 'failed' ELSE 'open' END`;
const RUN_JOINS = "LEFT JOIN owl.turn t ON t.id = k.turn_id LEFT JOIN owl.playbook_run r ON r.id = k.run_id";

export const SCHEDULE_COLUMNS = `s.id, s.account_id AS "accountId", a.name AS "accountName", s.name, s.cron, s.zone, s.text,
  s.conversation_id AS "conversationId", s.playbook_id AS "playbookId", s.missed, s.overlap, s.jitter_ms AS "jitterMs",
  s.paused_at AS "pausedAt", s.next_at AS "nextAt", s.created_at AS "createdAt", s.waiting_at AS "waitingAt",
  ${OPEN} AS "isOpen"`;

const SCHEDULE = `SELECT ${SCHEDULE_COLUMNS}, l.tick AS "lastTick", coalesce(o.outcomes, '{}') AS outcomes,
    ${cursorText("s.created_at")} AS cursor
  FROM owl.schedule s JOIN owl.account a ON a.id = s.account_id
  LEFT JOIN LATERAL (
    SELECT jsonb_build_object('tickAt', k.tick_at, 'outcome', k.outcome) AS tick FROM owl.schedule_tick k
     WHERE k.schedule_id = s.id ORDER BY k.tick_at DESC LIMIT 1) l ON true
  LEFT JOIN LATERAL (
    SELECT array_agg(n.outcome ORDER BY n.tick_at DESC) AS outcomes FROM (
      SELECT k.tick_at, ${RUN_OUTCOME} AS outcome FROM owl.schedule_tick k ${RUN_JOINS}
       WHERE k.schedule_id = s.id AND k.outcome IN ('started', 'refused') ORDER BY k.tick_at DESC LIMIT ${RECENT}) n) o ON true`;

/** The schedule, when it is that account's (null: anybody's). */
export async function findSchedule(sql: Sql, id: string, accountId: string | null): Promise<ScheduleRow | null> {
  const { rows } = await sql.query<ScheduleRow>(
    `${SCHEDULE} WHERE s.id = $1 AND ($2::uuid IS NULL OR s.account_id = $2)`,
    [id, accountId],
  );
  return rows[0] ?? null;
}

/** Newest first; `accountId` null: everybody's. */
export async function listSchedules(
  sql: Sql,
  query: { readonly accountId: string | null; readonly before: Before; readonly limit: number },
): Promise<readonly ScheduleRow[]> {
  const { rows } = await sql.query<ScheduleRow>(
    `${SCHEDULE} WHERE a.deleted_at IS NULL AND ${beforeText("s.created_at", "s.id", "$1", "$2")}
       ${query.accountId === null ? "" : "AND s.account_id = $4"}
     ORDER BY s.created_at DESC, s.id DESC LIMIT $3`,
    [...beforeValues(query.before), query.limit, ...(query.accountId === null ? [] : [query.accountId])],
  );
  return rows;
}

/** How many the account has; whoever adds one holds the account's lock (usage.ts). */
export async function countSchedules(sql: Sql, accountId: string): Promise<number> {
  const { rows } = await sql.query<{ n: number }>("SELECT count(*)::int AS n FROM owl.schedule WHERE account_id = $1", [
    accountId,
  ]);
  return rows[0]?.n ?? 0;
}

const WRITTEN =
  "name, cron, zone, text, conversation_id, playbook_id, missed, overlap, jitter_ms, next_at, due_at, planned_at";

const written = (text: ScheduleText, next: NextTick): readonly unknown[] => [
  text.name,
  text.cron,
  text.zone,
  text.text,
  text.conversationId,
  text.playbookId,
  text.missed,
  text.overlap,
  text.jitterMs,
  next.nextAt,
  next.dueAt,
  next.plannedAt,
];

export async function insertSchedule(
  sql: Sql,
  schedule: { readonly id: string; readonly accountId: string },
  text: ScheduleText,
  next: NextTick,
): Promise<void> {
  await sql.query(
    `INSERT INTO owl.schedule (id, account_id, ${WRITTEN})
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [schedule.id, schedule.accountId, ...written(text, next)],
  );
}

/** Writes it anew; a tick that waited is given up. False when it is not there. */
export async function changeSchedule(
  sql: Sql,
  schedule: { readonly id: string; readonly accountId: string },
  text: ScheduleText,
  next: NextTick,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE owl.schedule SET (${WRITTEN}) = ROW($3, $4, $5, $6, $7::uuid, $8::uuid, $9, $10, $11::int,
            $12::timestamptz, $13::timestamptz, $14::timestamptz), waiting_at = NULL, updated_at = clock_timestamp()
      WHERE id = $1 AND account_id = $2`,
    [schedule.id, schedule.accountId, ...written(text, next)],
  );
  return rowCount === 1;
}

/** With its ticks; what it ran stays. False when it is not there. */
export async function deleteSchedule(sql: Sql, id: string, accountId: string): Promise<boolean> {
  const { rowCount } = await sql.query("DELETE FROM owl.schedule WHERE id = $1 AND account_id = $2", [id, accountId]);
  return rowCount === 1;
}

export async function pauseSchedule(sql: Sql, id: string): Promise<void> {
  await sql.query(
    `UPDATE owl.schedule SET paused_at = coalesce(paused_at, clock_timestamp()), waiting_at = NULL WHERE id = $1`,
    [id],
  );
}

/** It goes on with the tick after now: what came while it was paused was not wanted. */
export async function resumeSchedule(sql: Sql, id: string, next: NextTick): Promise<void> {
  await sql.query(
    `UPDATE owl.schedule SET paused_at = NULL, next_at = $2, due_at = $3, planned_at = $4
      WHERE id = $1 AND paused_at IS NOT NULL`,
    [id, next.nextAt, next.dueAt, next.plannedAt],
  );
}

export interface TickRow {
  /** Its schedule's: a tick is named by that and its instant. */
  readonly id: string;
  readonly tickAt: Date;
  readonly untilAt: Date | null;
  readonly outcome: TickOutcome;
  readonly reason: TickReason | null;
  readonly byHand: boolean;
  readonly turnId: string | null;
  readonly conversationId: string | null;
  readonly runId: string | null;
  readonly state: string | null;
  readonly message: string | null;
  readonly cursor: string;
}

/** What became of its ticks, newest first. */
export async function listTicks(
  sql: Sql,
  query: { readonly scheduleId: string; readonly before: Before; readonly limit: number },
): Promise<readonly TickRow[]> {
  const { rows } = await sql.query<TickRow>(
    `SELECT k.schedule_id AS id, k.tick_at AS "tickAt", k.until_at AS "untilAt", k.outcome, k.reason, k.by_hand AS "byHand",
            t.id AS "turnId", t.conversation_id AS "conversationId", r.id AS "runId", coalesce(t.state, r.state) AS state,
            coalesce(t.message, r.message) AS message, ${cursorText("k.tick_at")} AS cursor
       FROM owl.schedule_tick k ${RUN_JOINS}
      WHERE k.schedule_id = $1 AND ${beforeText("k.tick_at", "k.schedule_id", "$2", "$3")}
      ORDER BY k.tick_at DESC LIMIT $4`,
    [query.scheduleId, ...beforeValues(query.before), query.limit],
  );
  return rows;
}
