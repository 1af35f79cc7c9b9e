// Measured turns and waiting work: the figures of `owlctl turns`, the administrator's page and the metrics.

import { JOB_KINDS, type JobKind } from "../../config/config.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import type { Sql } from "./pool.ts";

interface TurnFigure {
  readonly outcome: "answered" | "stopped" | "failed";
  readonly count: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** So many of the latest endings are measured: a look every few seconds must not read a day of a busy installation. */
const MEASURED = 20_000;

const ENDED = `(SELECT state, ended_at, claimed_at, created_at FROM owl.turn
   WHERE ended_at > statement_timestamp() - make_interval(secs => $1::float8 / 1000)
   ORDER BY ended_at DESC LIMIT ${MEASURED}) t`;

/**
 * Lengths (claim to end; from acceptance where nobody claimed) of the turns that ended within `sinceMs`; of the newest
 * 20,000 where there were more.
 */
export async function turnFigures(sql: Sql, sinceMs: number): Promise<readonly TurnFigure[]> {
  const { rows } = await sql.query<TurnFigure>(
    `SELECT state AS outcome, count(*)::int AS count,
            percentile_disc(0.5) WITHIN GROUP (ORDER BY ms) AS "p50Ms",
            percentile_disc(0.95) WITHIN GROUP (ORDER BY ms) AS "p95Ms",
            percentile_disc(0.99) WITHIN GROUP (ORDER BY ms) AS "p99Ms", max(ms) AS "maxMs"
       FROM (SELECT state, greatest(0, round(extract(epoch FROM ended_at - coalesce(claimed_at, created_at)) * 1000))::int AS ms
               FROM ${ENDED}) lengths
      GROUP BY state ORDER BY state`,
    [sinceMs],
  );
  return rows;
}

interface QueueFigure {
  readonly kind: JobKind;
  readonly queued: number;
  readonly running: number;
  /** How long the oldest waiting job has waited, s; null when none waits. */
  readonly oldestSeconds: number | null;
}

/** Waiting and running jobs of each kind; more than 100,000 waiting are told as that. */
export async function queueFigures(sql: Sql): Promise<readonly QueueFigure[]> {
  const parts = JOB_KINDS.map((kind) => {
    const table = `owl.${jobKindRow(kind).table}`;
    return `SELECT '${kind}' AS kind,
      (SELECT count(*)::int FROM (SELECT 1 FROM ${table} WHERE state = 'queued' LIMIT 100000) q) AS queued,
      (SELECT count(*)::int FROM ${table} WHERE state = 'running') AS running,
      (SELECT extract(epoch FROM clock_timestamp() - created_at)::float8 FROM ${table} WHERE state = 'queued'
        ORDER BY created_at LIMIT 1) AS "oldestSeconds"`;
  });
  const { rows } = await sql.query<QueueFigure>(parts.join(" UNION ALL "));
  return rows;
}

/** Ends of the histogram's bars, s; the finish budget is made one of them, so that it lies between two bars. */
const BAR_ENDS_S = [1, 3, 10, 30, 60, 120, 180, 300, 600, 1_800];

interface HistogramBar {
  readonly fromMs: number;
  /** null: everything longer. */
  readonly toMs: number | null;
  readonly count: number;
}

/** How many turns that ended within `sinceMs` (of the newest 20,000) took how long, in bars that `finishMs` falls between. */
export async function turnHistogram(sql: Sql, sinceMs: number, finishMs: number): Promise<readonly HistogramBar[]> {
  const ends = [...new Set([...BAR_ENDS_S.map((end) => end * 1_000), finishMs])].sort((a, b) => a - b);
  const { rows } = await sql.query<{ bar: number; count: number }>(
    `SELECT width_bucket(ms, $2::float8[]) AS bar, count(*)::int AS count
       FROM (SELECT (extract(epoch FROM ended_at - coalesce(claimed_at, created_at)) * 1000)::float8 AS ms
               FROM ${ENDED}) lengths
      GROUP BY bar`,
    [sinceMs, ends],
  );
  const counts = new Map(rows.map((row) => [row.bar, row.count]));
  return [0, ...ends].map((fromMs, bar) => ({ fromMs, toMs: ends[bar] ?? null, count: counts.get(bar) ?? 0 }));
}
