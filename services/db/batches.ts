// Batches: one statement, one function. Invariants: every figure of a batch comes from one query; lock order is items,
// then batch; the batch's own end is the trigger's (0002), whoever ends the last item.

import type { PlannedItem, SkippedFile } from "../core/batch-plan.ts";
import { type BatchCounts, type BatchState, type ItemState, RECENT } from "../core/batch-progress.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import { type Before, beforeText, beforeValues, cursorText } from "./keyset.ts";
import type { Sql } from "./pool.ts";

export interface BatchRow {
  readonly id: string;
  readonly accountId: string;
  readonly kind: string;
  readonly request: { readonly path?: string; readonly items?: number };
  readonly state: BatchState;
  readonly total: number;
  readonly skippedCount: number;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  readonly counts: BatchCounts;
  readonly partial: number;
  readonly activeMs: number;
  readonly marks: readonly number[];
  readonly movedAt: Date | null;
  /** created_at in microseconds, for paging. */
  readonly cursor: string;
}

const COUNTS = `jsonb_build_object(
             'queued', count(*) FILTER (WHERE t.state = 'queued'), 'running', count(*) FILTER (WHERE t.state = 'running'),
             'done', count(*) FILTER (WHERE t.state = 'done'), 'failed', count(*) FILTER (WHERE t.state = 'failed'),
             'cancelled', count(*) FILTER (WHERE t.state = 'cancelled')) AS counts`;

// An item whose length is not known yet counts as 0: least() alone would pass over its null and say 1. Of a batch that
// has ended the states alone are read, and those from the index: a page of large batches is looked at again and again.
const BATCH = `SELECT b.id, b.account_id AS "accountId", b.kind, b.request, b.state, b.total,
    jsonb_array_length(b.skipped) AS "skippedCount", b.created_at AS "createdAt", b.ended_at AS "endedAt",
    c.counts, c.partial, c."movedAt", owl.batch_active_ms(b)::float8 AS "activeMs",
    ARRAY(SELECT t.batch_active_ms::float8 FROM owl.transcription t
           WHERE t.batch_id = b.id AND t.batch_active_ms IS NOT NULL AND t.state IN ('done', 'failed')
           ORDER BY t.batch_active_ms DESC LIMIT ${RECENT + 1}) AS marks,
    ${cursorText("b.created_at")} AS cursor
  FROM owl.batch b, LATERAL (
    SELECT ${COUNTS},
           coalesce(sum(least(1, coalesce(t.seconds_done / nullif(t.seconds_total, 0), 0)))
             FILTER (WHERE t.state IN ('queued', 'running')), 0)::float8 AS partial,
           max(t.moved_at) AS "movedAt"
      FROM owl.transcription t WHERE t.batch_id = b.id AND b.ended_at IS NULL HAVING b.ended_at IS NULL
    UNION ALL
    SELECT ${COUNTS}, 0, b.ended_at
      FROM owl.transcription t WHERE t.batch_id = b.id AND b.ended_at IS NOT NULL HAVING b.ended_at IS NOT NULL) c`;

/** The batch, when it is that account's (null: anybody's). */
export async function findBatch(sql: Sql, id: string, accountId: string | null): Promise<BatchRow | null> {
  const { rows } = await sql.query<BatchRow>(
    `${BATCH} WHERE b.id = $1 AND b.deleted_at IS NULL AND ($2::uuid IS NULL OR b.account_id = $2)`,
    [id, accountId],
  );
  return rows[0] ?? null;
}

/** Deletes one that has ended: nobody sees it any more, the sweep takes it apart. False: it has not ended. */
export async function deleteBatch(sql: Sql, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    "UPDATE owl.batch SET deleted_at = clock_timestamp() WHERE id = $1 AND ended_at IS NOT NULL AND deleted_at IS NULL",
    [id],
  );
  return rowCount === 1;
}

/** Newest first. */
export async function listBatches(
  sql: Sql,
  query: {
    readonly accountId: string | null;
    readonly before: Before;
    readonly limit: number;
  },
): Promise<readonly BatchRow[]> {
  const { rows } = await sql.query<BatchRow>(
    `${BATCH} WHERE b.deleted_at IS NULL AND ${beforeText("b.created_at", "b.id", "$1", "$2")}${query.accountId === null ? "" : " AND b.account_id = $4"}
     ORDER BY b.created_at DESC, b.id DESC LIMIT $3`,
    [...beforeValues(query.before), query.limit, ...(query.accountId === null ? [] : [query.accountId])],
  );
  return rows;
}

export async function listSkipped(sql: Sql, id: string): Promise<readonly SkippedFile[]> {
  const { rows } = await sql.query<{ skipped: SkippedFile[] }>("SELECT skipped FROM owl.batch WHERE id = $1", [id]);
  return rows[0]?.skipped ?? [];
}

interface NewBatchItem {
  readonly id: string;
  readonly queueJob: string;
  readonly item: PlannedItem & { readonly uploadId?: string };
}

/** The batch and all its items, two statements however many. */
export async function insertBatch(
  sql: Sql,
  batch: {
    readonly id: string;
    readonly accountId: string;
    readonly kind: string;
    readonly request: Readonly<Record<string, unknown>>;
    readonly options: Readonly<Record<string, unknown>>;
    readonly skipped: readonly SkippedFile[];
    readonly items: readonly NewBatchItem[];
    readonly requestId?: string;
  },
): Promise<void> {
  await sql.query(
    `INSERT INTO owl.batch (id, account_id, kind, request, total, skipped) VALUES ($1, $2, $3, $4::jsonb, $5, $6::jsonb)`,
    [
      batch.id,
      batch.accountId,
      batch.kind,
      JSON.stringify(batch.request),
      batch.items.length,
      JSON.stringify(batch.skipped),
    ],
  );
  await sql.query(
    `INSERT INTO owl.transcription (id, account_id, batch_id, position, upload_id, path, name, bytes, options, queue_job, format,
       request_id)
     SELECT v.id, $1, $2, v.n - 1, v.upload, v.path, v.name, v.bytes, $3::jsonb, v.job, $10, $11
       FROM unnest($4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::bigint[], $9::uuid[]) WITH ORDINALITY
         AS v(id, upload, path, name, bytes, job, n)`,
    [
      batch.accountId,
      batch.id,
      JSON.stringify(batch.options),
      batch.items.map((one) => one.id),
      batch.items.map((one) => one.item.uploadId ?? null),
      batch.items.map((one) => (one.item.uploadId === undefined ? one.item.path : null)),
      batch.items.map((one) => one.item.name),
      batch.items.map((one) => one.item.bytes),
      batch.items.map((one) => one.queueJob),
      jobKindRow("transcription").format,
      batch.requestId ?? null,
    ],
  );
}

export interface BatchItemRow {
  readonly id: string;
  readonly position: number;
  readonly path: string | null;
  readonly name: string;
  readonly bytes: string | null;
  readonly state: ItemState;
  readonly message: string | null;
  readonly secondsTotal: number | null;
  readonly secondsDone: number;
  readonly attempt: number;
  readonly movedAt: Date;
  readonly endedAt: Date | null;
}

/** Items in order of the plan, from `afterPosition` on; `state` null: all. */
export async function listBatchItems(
  sql: Sql,
  query: {
    readonly batchId: string;
    readonly state: ItemState | null;
    readonly afterPosition: number;
    readonly limit: number;
  },
): Promise<readonly BatchItemRow[]> {
  const { rows } = await sql.query<BatchItemRow>(
    `SELECT id, position, path, name, bytes, state, message, seconds_total AS "secondsTotal",
            seconds_done AS "secondsDone", attempt, moved_at AS "movedAt", ended_at AS "endedAt"
       FROM owl.transcription WHERE batch_id = $1 AND ($2::text IS NULL OR state = $2) AND position > $3
      ORDER BY position LIMIT $4`,
    [query.batchId, query.state, query.afterPosition, query.limit],
  );
  return rows;
}

/**
 * Waiting items are cancelled, running ones asked to stop; the batch is cancelled when that met any. All items are locked
 * before the batch is: one that ends at this moment ends as it is, or is met here. Gives the queue jobs that are now
 * stale, to be removed after the commit.
 */
export async function cancelBatch(sql: Sql, id: string): Promise<{ cancelled: boolean; staleJobs: readonly string[] }> {
  const { rows } = await sql.query<{ queueJob: string | null; state: ItemState }>(
    `WITH held AS MATERIALIZED (
       SELECT t.id FROM owl.transcription t WHERE t.batch_id = $1 AND t.state IN ('queued', 'running') ORDER BY t.id
          FOR UPDATE),
     asked AS (
       UPDATE owl.transcription t
          SET state = CASE t.state WHEN 'queued' THEN 'cancelled' ELSE t.state END,
              ended_at = CASE t.state WHEN 'queued' THEN clock_timestamp() END,
              moved_at = CASE t.state WHEN 'queued' THEN clock_timestamp() ELSE t.moved_at END,
              stop_requested_at = CASE t.state WHEN 'running' THEN coalesce(t.stop_requested_at, clock_timestamp())
                                  ELSE t.stop_requested_at END
         FROM held WHERE t.id = held.id AND t.state IN ('queued', 'running')
       RETURNING t.id, t.state, t.queue_job)
     SELECT queue_job AS "queueJob", state,
            CASE state WHEN 'running' THEN pg_notify('owl_stop', 'transcription:' || id::text) END FROM asked`,
    [id],
  );
  if (rows.length > 0) {
    await sql.query(
      `UPDATE owl.batch b SET state = 'cancelled', active_ms = owl.batch_active_ms(b), active_since = NULL,
              ended_at = clock_timestamp() WHERE id = $1`,
      [id],
    );
  }
  const stale = rows.filter(({ state }) => state === "cancelled");
  return {
    cancelled: rows.length > 0,
    staleJobs: stale.flatMap(({ queueJob }) => (queueJob === null ? [] : [queueJob])),
  };
}

/**
 * running -> paused; its waiting items are in no line then. Gives their queue jobs, to be removed after the commit. Null:
 * it does not run.
 */
export async function pauseBatch(sql: Sql, id: string): Promise<readonly string[] | null> {
  const { rows } = await sql.query<{ queueJob: string }>(
    `WITH held AS MATERIALIZED (
       SELECT t.id, t.queue_job FROM owl.transcription t
        WHERE t.batch_id = $1 AND t.state = 'queued' AND t.queue_job IS NOT NULL
          AND EXISTS (SELECT 1 FROM owl.batch WHERE id = $1 AND state = 'running')
        ORDER BY t.id FOR UPDATE),
     freed AS (UPDATE owl.transcription t SET queue_job = NULL FROM held WHERE t.id = held.id)
     SELECT queue_job AS "queueJob" FROM held`,
    [id],
  );
  const { rowCount } = await sql.query(
    `UPDATE owl.batch b SET state = 'paused', active_ms = owl.batch_active_ms(b), active_since = NULL
      WHERE id = $1 AND state = 'running'`,
    [id],
  );
  if (rowCount === 0) return null;
  await notifyBatch(sql, id);
  return rows.map((row) => row.queueJob);
}

interface Requeued {
  readonly id: string;
  readonly queueJob: string;
  readonly format: number;
}

/** paused -> running; every waiting item gets a new queue job. Null: it is not paused. */
export async function resumeBatch(sql: Sql, id: string): Promise<readonly Requeued[] | null> {
  const { rows } = await sql.query<Requeued>(
    `UPDATE owl.transcription SET queue_job = gen_random_uuid()
      WHERE batch_id = $1 AND state = 'queued' AND EXISTS (SELECT 1 FROM owl.batch WHERE id = $1 AND state = 'paused')
      RETURNING id, queue_job AS "queueJob", format, position`,
    [id],
  );
  const { rowCount } = await sql.query(
    `UPDATE owl.batch SET state = 'running', active_since = clock_timestamp() WHERE id = $1 AND state = 'paused'`,
    [id],
  );
  if (rowCount === 0) return null;
  // A retry that ended while we waited for the batch saw it paused and left its items to us. One that waits for us sees
  // it running. An item that somebody holds now is being ended: holding the batch, we must not wait for it.
  const late = await sql.query<Requeued>(
    `UPDATE owl.transcription SET queue_job = gen_random_uuid()
      WHERE id IN (SELECT id FROM owl.transcription WHERE batch_id = $1 AND state = 'queued' AND id <> ALL ($2::uuid[])
                      FOR UPDATE SKIP LOCKED)
      RETURNING id, queue_job AS "queueJob", format, position`,
    [id, rows.map((row) => row.id)],
  );
  await notifyBatch(sql, id);
  return inOrder([...rows, ...late.rows]);
}

/**
 * Failed items (and those a cancelled batch cancelled) wait again, with what they were asked for and their finished
 * segments; the batch runs again when there were any. Gives those that need a queue job: of a paused batch none does.
 */
export async function retryBatch(
  sql: Sql,
  id: string,
): Promise<{ readonly count: number; readonly requeued: readonly Requeued[] }> {
  const { rows } = await sql.query<Requeued>(
    `UPDATE owl.transcription SET state = 'queued', queue_job = gen_random_uuid(), message = NULL, ended_at = NULL,
            losses = 0, claimed_by = NULL, claimed_at = NULL, stop_requested_at = NULL, moved_at = clock_timestamp()
      WHERE batch_id = $1 AND state IN ('failed', 'cancelled') RETURNING id, queue_job AS "queueJob", format, position`,
    [id],
  );
  if (rows.length === 0) return { count: 0, requeued: [] };
  const batch = await sql.query<{ state: string }>(
    `UPDATE owl.batch SET state = CASE WHEN state = 'paused' THEN 'paused' ELSE 'running' END, ended_at = NULL,
            active_since = CASE WHEN state = 'paused' THEN NULL ELSE coalesce(active_since, clock_timestamp()) END
      WHERE id = $1 RETURNING state`,
    [id],
  );
  // The state as it is while we hold the batch, not as it was read before.
  return { count: rows.length, requeued: batch.rows[0]?.state === "paused" ? [] : inOrder(rows) };
}

/** Queue jobs run in the order of the plan, as at the first time. */
function inOrder(rows: readonly Requeued[]): readonly Requeued[] {
  return (rows as readonly (Requeued & { position: number })[]).toSorted((a, b) => a.position - b.position);
}

async function notifyBatch(sql: Sql, id: string): Promise<void> {
  await sql.query("SELECT pg_notify('owl_observe', 'batch:' || $1::text)", [id]);
}

/** What recent transcriptions took and how many workers live: the ground of a plan's estimate. */
export async function readPace(
  sql: Sql,
): Promise<{ finished: number; bytes: number; workMs: number; workers: number }> {
  const { rows } = await sql.query<{ finished: number; bytes: number; workMs: number; workers: number }>(
    `SELECT count(*)::int AS finished, coalesce(sum(r.bytes), 0)::float8 AS bytes,
            coalesce(sum(extract(epoch FROM r.ended_at - r.claimed_at) * 1000), 0)::float8 AS "workMs",
            (SELECT count(*)::int FROM owl.worker WHERE gone_at IS NULL AND stopped_at IS NULL
                AND draining_since IS NULL) AS workers
       FROM (SELECT bytes, claimed_at, ended_at FROM owl.transcription
              WHERE state = 'done' AND bytes > 0 AND claimed_at IS NOT NULL ORDER BY ended_at DESC LIMIT 200) r`,
  );
  return rows[0] ?? { finished: 0, bytes: 0, workMs: 0, workers: 0 };
}
