// Worker rows: written by the worker itself; gone_at also by owld and the reclaimer. Ages are by the database's clock.

import { JOB_KINDS, type JobKind } from "../../config/config.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import type { Sql } from "./pool.ts";

export type JobsByKind = Partial<Record<JobKind, number>>;

/** What a worker has done with its jobs, for a rollout's ledger. */
export interface WorkerCounts {
  readonly finished: number;
  readonly handedBack: number;
  readonly cut: number;
}

/** Of the worker `w`: no job of any kind is running under its name. */
const HOLDS_NOTHING = JOB_KINDS.map(
  (kind) =>
    `NOT EXISTS (SELECT 1 FROM owl.${jobKindRow(kind).table} r WHERE r.claimed_by = w.id AND r.state = 'running')`,
).join(" AND ");

/** Registers; false when a row of that id still holds claims (it must be reclaimed first). */
export async function registerWorker(
  sql: Sql,
  worker: {
    readonly id: string;
    readonly release: string;
    readonly pid: number;
    readonly host: string;
    readonly formats: Readonly<Record<JobKind, number>>;
  },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `INSERT INTO owl.worker AS w (id, release, pid, host, formats) VALUES ($1, $2, $3, $4, $5::jsonb)
     ON CONFLICT (id) DO UPDATE SET release = excluded.release, pid = excluded.pid, host = excluded.host,
       started_at = clock_timestamp(), heartbeat_at = clock_timestamp(), draining_since = NULL, stopped_at = NULL,
       gone_at = NULL, formats = excluded.formats, jobs = '{}', counts = '{}', reclaimed = 0
      WHERE (w.gone_at IS NOT NULL OR w.stopped_at IS NOT NULL)
        AND ${HOLDS_NOTHING}`,
    [worker.id, worker.release, worker.pid, worker.host, JSON.stringify(worker.formats)],
  );
  return rowCount === 1;
}

/**
 * One beat; no row: this worker is taken for gone. The beat on its way while the worker deregisters is none such, and
 * leaves the last word to that: no sign of life comes after it.
 */
export const HEARTBEAT = `UPDATE owl.worker
     SET heartbeat_at = CASE WHEN stopped_at IS NULL THEN clock_timestamp() ELSE heartbeat_at END,
         jobs = CASE WHEN stopped_at IS NULL THEN $2::jsonb ELSE jobs END,
         counts = CASE WHEN stopped_at IS NULL THEN $3::jsonb ELSE counts END
  WHERE id = $1 AND gone_at IS NULL`;

/** Marks when the drain began (kept when it is already marked). */
export async function markDraining(sql: Sql, id: string): Promise<void> {
  await sql.query("UPDATE owl.worker SET draining_since = coalesce(draining_since, clock_timestamp()) WHERE id = $1", [
    id,
  ]);
}

/** Deregisters: no claim of this id is valid any more. */
export async function deregisterWorker(sql: Sql, id: string, counts: WorkerCounts): Promise<void> {
  await sql.query("UPDATE owl.worker SET stopped_at = clock_timestamp(), jobs = '{}', counts = $2 WHERE id = $1", [
    id,
    JSON.stringify(counts),
  ]);
}

interface SilentWorkers {
  readonly ids: readonly string[];
  /** When they were looked at, by the database's clock. */
  readonly readAt: Date;
}

/** Workers whose heartbeat is older than `stalledAfterMs`; null when there is none. */
export async function findSilentWorkers(sql: Sql, stalledAfterMs: number): Promise<SilentWorkers | null> {
  const { rows } = await sql.query<{ ids: string[] | null; readAt: Date }>(
    `SELECT array_agg(id) AS ids, clock_timestamp() AS "readAt" FROM owl.worker
      WHERE gone_at IS NULL AND stopped_at IS NULL
        AND heartbeat_at < clock_timestamp() - make_interval(secs => $1::float8 / 1000)`,
    [stalledAfterMs],
  );
  const row = rows[0];
  return row?.ids ? { ids: row.ids, readAt: row.readAt } : null;
}

/** Marks those gone that are silent still; none when the look was more than a second ago (a database that hung). */
export async function markSilentWorkers(
  sql: Sql,
  silent: SilentWorkers,
  stalledAfterMs: number,
): Promise<readonly string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `UPDATE owl.worker SET gone_at = clock_timestamp()
      WHERE id = ANY($1) AND gone_at IS NULL AND stopped_at IS NULL
        AND clock_timestamp() < $2::timestamptz + interval '1 second'
        AND heartbeat_at < clock_timestamp() - make_interval(secs => $3::float8 / 1000) RETURNING id`,
    [silent.ids, silent.readAt, stalledAfterMs],
  );
  return rows.map((row) => row.id);
}

export async function countReclaimed(sql: Sql, id: string): Promise<void> {
  await sql.query("UPDATE owl.worker SET reclaimed = reclaimed + 1 WHERE id = $1", [id]);
}

/** Another living worker that claims, and knows what this code leaves of `kind`, is there to go on with it. */
export async function hasHeir(sql: Sql, id: string, kind: JobKind): Promise<boolean> {
  const { rowCount } = await sql.query(
    `SELECT 1 FROM owl.worker WHERE id <> $1 AND gone_at IS NULL AND stopped_at IS NULL AND draining_since IS NULL
        AND coalesce((formats->>$2)::int, 1) >= $3 LIMIT 1`,
    [id, kind, jobKindRow(kind).format],
  );
  return rowCount > 0;
}

interface WorkerRow {
  readonly id: string;
  readonly release: string;
  readonly state: "active" | "draining" | "stalled";
  readonly heartbeatAgeMs: number;
  readonly jobs: JobsByKind;
}

/** The living workers. */
export async function listWorkers(sql: Sql, stalledAfterMs: number): Promise<readonly WorkerRow[]> {
  const { rows } = await sql.query<WorkerRow>(
    `SELECT id, release, jobs, age::int AS "heartbeatAgeMs",
            CASE WHEN age > $1 THEN 'stalled' WHEN draining_since IS NOT NULL THEN 'draining' ELSE 'active' END AS state
       FROM (SELECT *, extract(epoch FROM clock_timestamp() - heartbeat_at) * 1000 AS age FROM owl.worker
              WHERE gone_at IS NULL AND stopped_at IS NULL) w ORDER BY started_at, id`,
    [stalledAfterMs],
  );
  return rows;
}

/** Forgets workers that ended more than a week ago and hold nothing. */
export async function forgetWorkers(sql: Sql): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM owl.worker w WHERE coalesce(stopped_at, gone_at) < clock_timestamp() - interval '7 days'
        AND ${HOLDS_NOTHING}`,
  );
  return rowCount;
}
