// Claiming and handing back rows of any kind: the claim columns are the same in every kind's table.
// Invariant: attempt is the fence. It rises at each claim; every write of a running job names it, and 0 rows means lost.

import type { JobKind } from "../../config/config.ts";
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

/** True while the row runs under this very claim. */
export async function isClaimed(sql: Sql, claim: Claim): Promise<boolean> {
  const { rowCount } = await sql.query(
    `SELECT 1 FROM ${table(claim.kind)} WHERE id = $1 AND attempt = $2 AND claimed_by = $3 AND state = 'running'`,
    [claim.id, claim.attempt, claim.worker],
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
