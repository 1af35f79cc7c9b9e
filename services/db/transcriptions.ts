// Transcriptions and their segments. Invariant: what a worker writes names its attempt; 0 rows means its claim is lost.

import type { ItemState } from "../core/batch-progress.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import type { Segment, SegmentSpan } from "../core/transcript.ts";
import { type Before, beforeText, beforeValues, cursorText } from "./keyset.ts";
import type { Sql } from "./pool.ts";

/** The fence of a running job. */
export interface Fence {
  readonly id: string;
  readonly attempt: number;
}

export interface TranscriptionJob {
  readonly uploadId: string | null;
  readonly path: string | null;
  readonly name: string;
  readonly options: { readonly language?: string };
  readonly plan: readonly SegmentSpan[] | null;
  readonly secondsTotal: number | null;
}

/** What the worker of this attempt has to do; null when the claim is lost. */
export async function loadTranscriptionJob(sql: Sql, fence: Fence): Promise<TranscriptionJob | null> {
  const { rows } = await sql.query<TranscriptionJob>(
    `SELECT upload_id AS "uploadId", path, name, options, segment_plan AS plan, seconds_total AS "secondsTotal"
       FROM owl.transcription WHERE id = $1 AND attempt = $2 AND state = 'running'`,
    [fence.id, fence.attempt],
  );
  return rows[0] ?? null;
}

/** Keeps where this recording is cut and what is already done; false when the claim is lost. */
export async function storePlan(
  sql: Sql,
  fence: Fence,
  plan: readonly SegmentSpan[],
  seconds: { readonly total: number; readonly done: number },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE owl.transcription SET segment_plan = $3::jsonb, segments_total = $4, seconds_total = $5, seconds_done = $6,
            moved_at = clock_timestamp() WHERE id = $1 AND attempt = $2 AND state = 'running'`,
    [fence.id, fence.attempt, JSON.stringify(plan), plan.length, seconds.total, seconds.done],
  );
  return rowCount === 1;
}

/** Stores a finished segment (again: overwritten) and how far the recording is; false when the claim is lost. */
export async function storeSegment(sql: Sql, fence: Fence, segment: Segment): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH held AS (
       SELECT id FROM owl.transcription WHERE id = $1 AND attempt = $2 AND state = 'running' FOR UPDATE),
     stored AS (
       INSERT INTO owl.segment (transcription_id, n, start_ms, end_ms, text, attempt)
       SELECT held.id, $3, $4, $5, $6, $2 FROM held
       ON CONFLICT (transcription_id, n) DO UPDATE SET start_ms = excluded.start_ms, end_ms = excluded.end_ms,
          text = excluded.text, attempt = excluded.attempt, stored_at = clock_timestamp()
       RETURNING transcription_id),
     moved AS (
       UPDATE owl.transcription t SET moved_at = clock_timestamp(), seconds_done = ($5::float8 - $4::float8) / 1000 + (
              SELECT coalesce(sum(s.end_ms - s.start_ms), 0)::float8 / 1000 FROM owl.segment s
               WHERE s.transcription_id = $1 AND s.n <> $3)
         FROM stored WHERE t.id = stored.transcription_id RETURNING t.id)
     SELECT pg_notify('owl_observe', 'transcription:' || id::text) FROM moved`,
    [fence.id, fence.attempt, segment.n, segment.startMs, segment.endMs, segment.text],
  );
  return rowCount === 1;
}

/** Segments of an earlier plan that the present one does not have are dropped. */
export async function dropSegmentsFrom(sql: Sql, fence: Fence, n: number): Promise<void> {
  await sql.query(
    `DELETE FROM owl.segment WHERE transcription_id = $1 AND n >= $3
        AND EXISTS (SELECT 1 FROM owl.transcription WHERE id = $1 AND attempt = $2 AND state = 'running')`,
    [fence.id, fence.attempt, n],
  );
}

/** The worker's ending; false when the claim is lost. */
export async function endTranscription(
  sql: Sql,
  fence: Fence,
  end: { readonly state: "done" | "failed" | "cancelled"; readonly message: string | null },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH ended AS (
       UPDATE owl.transcription SET state = $3, message = $4, ended_at = clock_timestamp(), moved_at = clock_timestamp(),
              seconds_done = CASE WHEN $3 = 'done' THEN coalesce(seconds_total, seconds_done) ELSE seconds_done END
        WHERE id = $1 AND attempt = $2 AND state = 'running' RETURNING id)
     SELECT pg_notify('owl_observe', 'transcription:' || id::text) FROM ended`,
    [fence.id, fence.attempt, end.state, end.message],
  );
  return rowCount === 1;
}

/** Those after number `after`, in order. */
export async function listSegments(sql: Sql, id: string, after = -1): Promise<readonly Segment[]> {
  const { rows } = await sql.query<Segment>(
    `SELECT n, start_ms::float8 AS "startMs", end_ms::float8 AS "endMs", text FROM owl.segment
      WHERE transcription_id = $1 AND n > $2 ORDER BY n`,
    [id, after],
  );
  return rows;
}

export interface TranscriptionRow {
  readonly id: string;
  readonly batchId: string | null;
  readonly uploadId: string | null;
  readonly path: string | null;
  readonly name: string;
  readonly state: ItemState;
  readonly message: string | null;
  readonly attempt: number;
  readonly secondsTotal: number | null;
  readonly secondsDone: number;
  readonly segmentsTotal: number | null;
  readonly stopRequested: boolean;
  readonly createdAt: Date;
  readonly movedAt: Date;
  readonly endedAt: Date | null;
  readonly cursor: string;
}

const COLUMNS = `t.id, t.batch_id AS "batchId", t.upload_id AS "uploadId", t.path, t.name, t.state, t.message, t.attempt,
  t.seconds_total AS "secondsTotal", t.seconds_done AS "secondsDone", t.segments_total AS "segmentsTotal",
  t.stop_requested_at IS NOT NULL AS "stopRequested", t.created_at AS "createdAt", t.moved_at AS "movedAt",
  t.ended_at AS "endedAt", ${cursorText("t.created_at")} AS cursor`;

export async function findTranscription(sql: Sql, id: string, accountId: string): Promise<TranscriptionRow | null> {
  const { rows } = await sql.query<TranscriptionRow>(
    `SELECT ${COLUMNS} FROM owl.transcription t WHERE t.id = $1 AND t.account_id = $2
        AND NOT EXISTS (SELECT 1 FROM owl.batch b WHERE b.id = t.batch_id AND b.deleted_at IS NOT NULL)`,
    [id, accountId],
  );
  return rows[0] ?? null;
}

/** The account's transcriptions that belong to no batch, newest first. */
export async function listTranscriptions(
  sql: Sql,
  query: {
    readonly accountId: string;
    readonly before: Before;
    readonly limit: number;
  },
): Promise<readonly TranscriptionRow[]> {
  const { rows } = await sql.query<TranscriptionRow>(
    `SELECT ${COLUMNS} FROM owl.transcription t WHERE t.account_id = $1 AND t.batch_id IS NULL
       AND ${beforeText("t.created_at", "t.id", "$2", "$3")}
     ORDER BY t.created_at DESC, t.id DESC LIMIT $4`,
    [query.accountId, ...beforeValues(query.before), query.limit],
  );
  return rows;
}

export async function insertTranscription(
  sql: Sql,
  one: {
    readonly id: string;
    readonly accountId: string;
    readonly uploadId: string | null;
    readonly path: string | null;
    readonly name: string;
    readonly bytes: number | null;
    readonly options: Readonly<Record<string, unknown>>;
    readonly queueJob: string;
    readonly requestId: string;
  },
): Promise<void> {
  await sql.query(
    `INSERT INTO owl.transcription (id, account_id, upload_id, path, name, bytes, options, queue_job, format, request_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10)`,
    [
      one.id,
      one.accountId,
      one.uploadId,
      one.path,
      one.name,
      one.bytes,
      JSON.stringify(one.options),
      one.queueJob,
      jobKindRow("transcription").format,
      one.requestId,
    ],
  );
}

/** What became of a deletion: with its text it went, and with the upload of that id, which no other one names. */
type Deletion = { readonly uploadId: string | null } | "open" | "inBatch";

/** Deletes one that has ended and is no batch's. null: it is not there. The order of locks is that of pool.ts. */
export async function deleteTranscription(sql: Sql, id: string, accountId: string): Promise<Deletion | null> {
  const { rows } = await sql.query<{ hasEnded: boolean; inBatch: boolean; uploadId: string | null }>(
    `SELECT ended_at IS NOT NULL AS "hasEnded", batch_id IS NOT NULL AS "inBatch", upload_id AS "uploadId"
       FROM owl.transcription WHERE id = $1 AND account_id = $2 FOR UPDATE`,
    [id, accountId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  if (row.inBatch) return "inBatch";
  if (!row.hasEnded) return "open";
  await sql.query("DELETE FROM owl.transcription WHERE id = $1", [id]);
  const uploads = await sql.query(
    `DELETE FROM owl.upload u WHERE u.id = $1
        AND NOT EXISTS (SELECT 1 FROM owl.transcription t WHERE t.upload_id = u.id)`,
    [row.uploadId],
  );
  return { uploadId: uploads.rowCount === 1 ? row.uploadId : null };
}

/** An item that waits again, with its new queue job. */
interface RetriedTranscription {
  readonly id: string;
  readonly queueJob: string;
  readonly format: number;
}

/**
 * Those of `ids` in one of the states `from` -> queued under new queue jobs, finished segments kept; their batches run
 * again. In the order they were planned. One that somebody else tries again at this moment is left to them.
 */
export async function retryTranscriptions(
  sql: Sql,
  ids: readonly string[],
  from: readonly ("failed" | "cancelled")[],
): Promise<readonly RetriedTranscription[]> {
  const { rows } = await sql.query<RetriedTranscription & { batchId: string | null }>(
    `WITH held AS (
       SELECT id FROM owl.transcription WHERE id = ANY($1::uuid[]) AND state = ANY($2) ORDER BY id
          FOR UPDATE SKIP LOCKED),
     again AS (
       UPDATE owl.transcription t SET state = 'queued', queue_job = gen_random_uuid(), message = NULL, ended_at = NULL,
              losses = 0, claimed_by = NULL, claimed_at = NULL, stop_requested_at = NULL, moved_at = clock_timestamp()
         FROM held WHERE t.id = held.id
       RETURNING t.id, t.queue_job, t.format, t.batch_id, t.created_at, t.position)
     SELECT id, queue_job AS "queueJob", format, batch_id AS "batchId" FROM again ORDER BY created_at, position, id`,
    [ids, from],
  );
  const batches = [...new Set(rows.flatMap((row) => row.batchId ?? []))];
  if (batches.length > 0) {
    // Items before batches, batches by id: as the trigger that settles them locks.
    await sql.query("SELECT 1 FROM owl.batch WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE", [batches]);
    await sql.query(
      `UPDATE owl.batch SET state = CASE WHEN state = 'paused' THEN 'paused' ELSE 'running' END, ended_at = NULL,
              active_since = CASE WHEN state = 'paused' THEN NULL ELSE coalesce(active_since, clock_timestamp()) END
        WHERE id = ANY($1::uuid[])`,
      [batches],
    );
  }
  await sql.query("SELECT pg_notify('owl_observe', 'transcription:' || id) FROM unnest($1::text[]) AS again(id)", [
    rows.map((row) => row.id),
  ]);
  return rows.map(({ batchId: _, ...row }) => row);
}
