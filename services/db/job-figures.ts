// How many jobs of each kind wait, run and failed, and for how long: every figure of one look from one statement.

import { JOB_KINDS, type JobKind } from "../../config/config.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import type { KindFigures } from "../core/job-warnings.ts";
import type { Sql } from "./pool.ts";

/** More are counted as that: a look every few seconds must not read a million rows. */
export const COUNTED = 100_000;
/** The last ones that succeeded, of which a kind's usual length is made. */
const MEASURED = 1_000;

function figures(kind: JobKind): string {
  const table = `owl.${jobKindRow(kind).table}`;
  const succeeded = kind === "chat" ? "answered" : "done";
  // Of a paused batch nothing is to be claimed; one tried again waits since then.
  const isPaused =
    kind === "transcription" ? "q.batch_id IN (SELECT b.id FROM owl.batch b WHERE b.state = 'paused')" : "false";
  const since = kind === "transcription" ? "greatest(q.created_at, q.moved_at)" : "q.created_at";
  const columns = kind === "transcription" ? "r.created_at, r.moved_at, r.batch_id" : "r.created_at";
  return `SELECT '${kind}' AS kind, waiting.queued, waiting.oldest AS "oldestWaitingMs", held.running,
      held.longest AS "longestRunningMs", held.alone AS "withoutWorker", failed.n AS "failedLastDay",
      done.p95 AS "p95Ms", done.n AS measured
    FROM
    (SELECT count(*)::int AS queued,
            (extract(epoch FROM max(clock_timestamp() - ${since}) FILTER (WHERE NOT coalesce(${isPaused}, false)))
              * 1000)::float8 AS oldest
       FROM (SELECT ${columns} FROM ${table} r WHERE r.state = 'queued' ORDER BY r.created_at LIMIT ${COUNTED}) q) waiting,
    (SELECT count(*)::int AS running,
            (extract(epoch FROM max(clock_timestamp() - r.claimed_at)) * 1000)::float8 AS longest,
            count(*) FILTER (WHERE w.id IS NULL OR w.gone_at IS NOT NULL OR w.stopped_at IS NOT NULL
              OR w.heartbeat_at < statement_timestamp() - make_interval(secs => $1::float8 / 1000))::int AS alone
       FROM ${table} r LEFT JOIN owl.worker w ON w.id = r.claimed_by WHERE r.state = 'running') held,
    (SELECT count(*)::int AS n FROM (
       SELECT 1 FROM ${table} r WHERE r.state = 'failed' AND r.ended_at IS NOT NULL
          AND r.ended_at > statement_timestamp() - interval '1 day' LIMIT ${COUNTED}) f) failed,
    (SELECT count(*)::int AS n, percentile_disc(0.95) WITHIN GROUP (ORDER BY d.ms) AS p95
       FROM (SELECT (extract(epoch FROM r.ended_at - r.claimed_at) * 1000)::float8 AS ms FROM ${table} r
              WHERE r.state = '${succeeded}' AND r.ended_at IS NOT NULL
              ORDER BY r.ended_at DESC LIMIT ${MEASURED}) d WHERE d.ms IS NOT NULL) done`;
}

const TEXT = `SELECT f.*, statement_timestamp() AS "asOf" FROM (${JOB_KINDS.map(figures).join(" UNION ALL ")}) f`;

/** The figures of every kind, and the instant they were read at; a worker silent for `stalledAfterMs` does not live. */
export async function readJobFigures(
  sql: Sql,
  stalledAfterMs: number,
): Promise<{ readonly asOf: Date; readonly kinds: readonly KindFigures[] }> {
  const { rows } = await sql.query<KindFigures & { asOf: Date }>(TEXT, [stalledAfterMs]);
  const [first] = rows;
  return { asOf: first?.asOf ?? new Date(0), kinds: rows.map(({ asOf: _, ...figures }) => figures) };
}
