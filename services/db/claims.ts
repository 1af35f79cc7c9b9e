// Claiming and handing back rows of any kind: the claim columns are the same in every kind's table.
// Invariant: attempt is the fence. It rises at each claim; every write of a running job names it, and 0 rows means lost.

import { JOB_KINDS, type JobKind } from "../../config/config.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import { fetchText } from "./line.ts";
import type { Sql } from "./pool.ts";
import { formatOfQueue, type QueuedJob } from "./queue.ts";

/** A row this worker runs. */
export interface Claim extends QueuedJob {
  readonly attempt: number;
  readonly worker: string;
  /** The request that asked for it; null: none did. */
  readonly requestId: string | null;
}

const table = (kind: JobKind): string => `owl.${jobKindRow(kind).table}`;

interface Claimed {
  readonly claims: readonly Claim[];
  /** Queue jobs whose row no longer waits under them: they may be cleared away. */
  readonly stale: readonly QueuedJob[];
  /**
   * What else there is: "none"; "contended": others were taking it at this moment; "capped": it waits until its account
   * has a place again.
   */
  readonly left: "none" | "contended" | "capped";
}

// A turn's first event of its run goes with its claim.
const noted = (kind: JobKind): string =>
  kind === "chat"
    ? `, noted AS (
       INSERT INTO owl.turn_event (turn_id, seq, kind, data)
       SELECT c.id, coalesce((SELECT max(v.seq) FROM owl.turn_event v WHERE v.turn_id = c.id), 0) + 1,
              'state', '{"state":"running"}' FROM claimed c)`
    : "";

const claimText = (kind: JobKind): string => `${fetchText(kind)},
  claimed AS (
    UPDATE ${table(kind)} r
       SET state = 'running', attempt = r.attempt + 1, claimed_by = $1, claimed_at = clock_timestamp()
      FROM fetched f WHERE r.id = f.id AND r.queue_job = f."queueJob" AND r.state = 'queued' AND r.format <= $2::int
    RETURNING r.id, r.attempt, r.request_id)${noted(kind)}
  SELECT seen.nominated, seen.capped, f.id, f."queueJob", f."retryCount", f.queue, c.attempt,
         c.request_id AS "requestId"
    FROM seen LEFT JOIN fetched f ON true LEFT JOIN claimed c ON c.id = f.id`;

/** Up to `limit` jobs of `kind` whose turn it is, their rows queued -> running for this worker. */
export async function claimJobs(
  sql: Sql,
  wanted: {
    readonly kind: JobKind;
    readonly limit: number;
    readonly worker: string;
    /** How many of this worker's places for the kind one account may hold. */
    readonly accountLimit: number;
  },
): Promise<Claimed> {
  const { kind, worker, limit, accountLimit } = wanted;
  const { rows } = await sql.query<Found>(CLAIM[kind], [worker, jobKindRow(kind).format, limit, accountLimit]);
  const claims: Claim[] = [];
  const stale: QueuedJob[] = [];
  for (const { id, queueJob, retryCount, queue, attempt, requestId } of rows) {
    if (id === null) continue;
    const job = { kind, id, queueJob, retryCount, format: formatOfQueue(kind, queue) };
    if (attempt === null) stale.push(job);
    else claims.push({ ...job, attempt, worker, requestId });
  }
  const first = rows[0];
  const contended = claims.length + stale.length < (first?.nominated ?? 0);
  return { claims, stale, left: contended ? "contended" : first?.capped ? "capped" : "none" };
}

interface Found {
  readonly nominated: number;
  readonly capped: boolean;
  readonly id: string | null;
  readonly queueJob: string;
  readonly retryCount: number;
  readonly queue: string;
  readonly attempt: number | null;
  readonly requestId: string | null;
}

const CLAIM = Object.fromEntries(JOB_KINDS.map((kind) => [kind, claimText(kind)])) as Readonly<Record<JobKind, string>>;

/** True while the row runs under this very claim. */
export async function isClaimed(sql: Sql, claim: Claim): Promise<boolean> {
  const { rowCount } = await sql.query(
    `SELECT 1 FROM ${table(claim.kind)} WHERE id = $1 AND attempt = $2 AND claimed_by = $3 AND state = 'running'`,
    [claim.id, claim.attempt, claim.worker],
  );
  return rowCount === 1;
}
