// Claiming, handing back and reclaiming rows of any kind: the claim columns are the same in every kind's table.
// Invariant: attempt is the fence. It rises at each claim; every write of a running job names it, and 0 rows means lost.

import { JOB_KINDS, type JobKind } from "../../config/config.ts";
import { jobKindRow, knownFormats } from "../core/job-kinds.ts";
import type { Sql } from "./pool.ts";
import type { JobQueue, QueuedJob } from "./queue.ts";

/** A row this worker runs. */
export interface Claim extends QueuedJob {
  readonly attempt: number;
  readonly worker: string;
}

const table = (kind: JobKind): string => `owl.${jobKindRow(kind).table}`;

interface Claimed {
  readonly claims: readonly Claim[];
  /** Queue jobs whose row no longer waits under them: they may be cleared away. */
  readonly stale: readonly QueuedJob[];
  /**
   * This worker is taken for gone or has deregistered, or its code is older than a row's format (its queue keeps such a
   * job away already; this is the second lock): the transaction must be undone.
   */
  readonly refused: boolean;
}

// A turn's first event of its run goes with its claim.
const noted = (kind: JobKind): string =>
  kind === "chat"
    ? `noted AS (
       INSERT INTO owl.turn_event (turn_id, seq, kind, data)
       SELECT c.id, coalesce((SELECT max(v.seq) FROM owl.turn_event v WHERE v.turn_id = c.id), 0) + 1,
              'state', '{"state":"running"}' FROM claimed c),`
    : "";

function claimText(kind: JobKind, fetch: string, parameter: (n: number) => string): string {
  const [worker, format] = [parameter(1), parameter(2)];
  return `WITH fetched AS (${fetch}),
     alive AS (
       SELECT w.id FROM owl.worker w WHERE w.id = ${worker} AND w.gone_at IS NULL AND w.stopped_at IS NULL),
     claimed AS (
       UPDATE ${table(kind)} r
          SET state = 'running', attempt = r.attempt + 1, claimed_by = alive.id, claimed_at = clock_timestamp()
         FROM fetched f, alive
        WHERE r.id = (f.data->>'id')::uuid AND r.queue_job = f.id AND r.state = 'queued' AND r.format <= ${format}::int
       RETURNING r.id, r.attempt),
     ${noted(kind)}
     whether AS (SELECT EXISTS (SELECT 1 FROM alive) AS alive)
     SELECT f.data->>'id' AS id, f.id AS "queueJob", f."retryCount", c.attempt,
            whether.alive AND NOT EXISTS (SELECT 1 FROM ${table(kind)} r
                                           WHERE r.id = (f.data->>'id')::uuid AND r.format > ${format}::int) AS "mayClear"
       FROM whether, fetched f LEFT JOIN claimed c ON c.id = (f.data->>'id')::uuid`;
}

/** Up to `limit` waiting jobs of `kind`, older formats first, their rows queued -> running for this worker. */
export async function claimJobs(
  sql: Sql,
  queue: Pick<JobQueue, "fetchWithin">,
  wanted: { readonly kind: JobKind; readonly limit: number; readonly worker: string },
): Promise<Claimed> {
  const { kind, worker } = wanted;
  const claims: Claim[] = [];
  const stale: QueuedJob[] = [];
  let refused = false;
  for (const format of knownFormats(kind)) {
    const limit = wanted.limit - claims.length - stale.length;
    if (limit === 0) break;
    const found = await queue.fetchWithin<Omit<QueuedJob, "format"> & { attempt: number | null; mayClear: boolean }>(
      sql,
      { kind, format, limit },
      (fetch, parameter) => ({
        text: claimText(kind, fetch, parameter),
        values: [worker, jobKindRow(kind).format],
      }),
    );
    for (const { id, queueJob, retryCount, attempt, mayClear } of found) {
      if (attempt === null) stale.push({ kind, id, queueJob, retryCount, format });
      else claims.push({ kind, id, queueJob, retryCount, format, attempt, worker });
      refused ||= attempt === null && !mayClear;
    }
  }
  return { claims, stale, refused };
}

/** running -> queued under a new queue job; false when the claim is no longer ours. */
export async function handBackRow(sql: Sql, claim: Claim, queueJob: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE ${table(claim.kind)} SET state = 'queued', claimed_by = NULL, claimed_at = NULL, queue_job = $4
      WHERE id = $1 AND attempt = $2 AND claimed_by = $3 AND state = 'running'`,
    [claim.id, claim.attempt, claim.worker, queueJob],
  );
  return rowCount === 1;
}

/** Of these claims (all of one worker), those that are no longer ours, and those the user asked to stop. */
export async function checkClaims(
  sql: Sql,
  claims: readonly Claim[],
): Promise<{ readonly lost: readonly Claim[]; readonly stop: readonly Claim[] }> {
  const lost: Claim[] = [];
  const stop: Claim[] = [];
  for (const kind of JOB_KINDS) {
    const held = claims.filter((claim) => claim.kind === kind);
    if (held.length === 0) continue;
    const { rows } = await sql.query<{ id: string; attempt: number; stop: boolean }>(
      `SELECT id, attempt, stop_requested_at IS NOT NULL AS stop FROM ${table(kind)}
        WHERE id = ANY($1::uuid[]) AND state = 'running' AND claimed_by = $2`,
      [held.map((claim) => claim.id), held[0]?.worker],
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const claim of held) {
      const row = found.get(claim.id);
      if (!row || row.attempt !== claim.attempt) lost.push(claim);
      else if (row.stop) stop.push(claim);
    }
  }
  return { lost, stop };
}

export interface LostRow {
  readonly kind: JobKind;
  readonly id: string;
  readonly attempt: number;
  readonly losses: number;
  readonly claimedBy: string;
  readonly queueJob: string | null;
  readonly format: number;
  readonly stopRequested: boolean;
}

/** Running rows whose worker is marked gone, has deregistered, or is not known at all. */
export async function findLostRows(sql: Sql): Promise<readonly LostRow[]> {
  const parts = JOB_KINDS.map(
    (kind) =>
      `SELECT '${kind}' AS kind, r.id, r.attempt, r.losses, r.claimed_by, r.queue_job, r.format,
              r.stop_requested_at IS NOT NULL AS stop
         FROM ${table(kind)} r LEFT JOIN owl.worker w ON w.id = r.claimed_by
        WHERE r.state = 'running' AND (w.id IS NULL OR w.gone_at IS NOT NULL OR w.stopped_at IS NOT NULL)`,
  );
  const { rows } = await sql.query<{
    kind: JobKind;
    id: string;
    attempt: number;
    losses: number;
    claimed_by: string;
    queue_job: string | null;
    format: number;
    stop: boolean;
  }>(parts.join(" UNION ALL "));
  return rows.map((row) => ({
    kind: row.kind,
    id: row.id,
    attempt: row.attempt,
    losses: row.losses,
    claimedBy: row.claimed_by,
    queueJob: row.queue_job,
    format: row.format,
    stopRequested: row.stop,
  }));
}

/** Locks a lost row for its one reclaim; false when another reclaimer has it or it is no longer lost. */
export async function lockLostRow(sql: Sql, row: LostRow): Promise<boolean> {
  const { rowCount } = await sql.query(
    `SELECT 1 FROM ${table(row.kind)} WHERE id = $1 AND attempt = $2 AND claimed_by = $3 AND state = 'running'
      FOR UPDATE SKIP LOCKED`,
    [row.id, row.attempt, row.claimedBy],
  );
  return rowCount === 1;
}

/** A lost row back in line under a new queue job. */
export async function requeueLostRow(sql: Sql, row: LostRow, queueJob: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE ${table(row.kind)}
        SET state = 'queued', losses = losses + 1, claimed_by = NULL, claimed_at = NULL, queue_job = $4
      WHERE id = $1 AND attempt = $2 AND claimed_by = $3 AND state = 'running'`,
    [row.id, row.attempt, row.claimedBy, queueJob],
  );
  return rowCount === 1;
}

/** Asks that the running row be stopped by its worker (NOTIFY owl_stop kind:id); false when it is not running. */
export async function requestStop(sql: Sql, kind: JobKind, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH asked AS (
       UPDATE ${table(kind)} SET stop_requested_at = coalesce(stop_requested_at, clock_timestamp())
        WHERE id = $1 AND state = 'running' RETURNING id)
     SELECT pg_notify('owl_stop', $2 || ':' || id::text) FROM asked`,
    [id, kind],
  );
  return rowCount === 1;
}
