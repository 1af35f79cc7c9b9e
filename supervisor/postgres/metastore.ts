// What owld reads from and writes to the metastore while everything runs: bounded, best effort, two connections.
// Invariant: no call here waits longer than its bound or rejects; owld runs on without a database.

import { Pool, type QueryResultRow } from "pg";
import type { Logger } from "pino";
import type { WorkerStatus } from "../../config/control-api.ts";
import type { Clock, MonotonicMs } from "../../config/time.ts";
import type { DatabaseWear } from "../core/wear.ts";
import type { JobCounts, Metastore } from "../ports.ts";
import { readLimits } from "./limits.ts";
import { createWorkFigures } from "./work-figures.ts";

const BOUND_MS = 2_000;
/** Between two signs of life of the database. */
const PING_MS = 2_000;

interface MetastoreDeps {
  readonly url: string;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
  /** Age of a heartbeat from which a worker counts as stalled. */
  readonly stalledAfterMs: number;
}

export interface RunningMetastore extends Metastore {
  /** Begins to ping; idempotent. */
  start(): void;
  /** Ends the pings and closes the pool. Tolerates twice. */
  stop(): Promise<void>;
}

// Only pg_read_all_stats sees another role's backend_type; what has both a role and a database is a client.
const OPEN_BY_APPLICATION = `
  SELECT coalesce(nullif(application_name, ''), '(unnamed)') AS name, count(*)::int AS open
  FROM pg_stat_activity
  WHERE usesysid IS NOT NULL AND datid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend'
  GROUP BY 1`;

const LIVING_WORKERS = `
  SELECT id, draining_since IS NOT NULL AS draining, jobs,
         (extract(epoch FROM clock_timestamp() - heartbeat_at) * 1000)::float8 AS age_ms
  FROM owl.worker WHERE stopped_at IS NULL AND (gone_at IS NULL OR id = ANY($1)) ORDER BY started_at, id`;

const MARK_GONE = `
  WITH marked AS (
    UPDATE owl.worker SET gone_at = now() WHERE id = $1 AND gone_at IS NULL AND stopped_at IS NULL RETURNING id)
  SELECT pg_notify('owl_worker_gone', id) FROM marked`;

const JOB_COUNTS = `
  SELECT coalesce(sum((counts->>'finished')::int), 0)::int AS finished,
         coalesce(sum((counts->>'handedBack')::int), 0)::int AS "handedBack",
         coalesce(sum((counts->>'cut')::int), 0)::int AS cut,
         coalesce(sum(reclaimed), 0)::int AS reclaimed
  FROM owl.worker WHERE id = ANY($1)`;

const WEAR = `
  SELECT current_setting('data_checksums') = 'on' AS checksums,
         (SELECT max(age(datfrozenxid)) FROM pg_database)::float8 AS "xidAge"`;

const MOST_DEAD = `
  SELECT relid::regclass::text AS table, n_dead_tup::float8 AS dead, n_live_tup::float8 AS live
  FROM pg_stat_user_tables ORDER BY n_dead_tup DESC LIMIT 1`;

/** A metastore over `deps.url`; connects when first asked. */
export function createMetastore(deps: MetastoreDeps): RunningMetastore {
  const { clock, log } = deps;
  const pool = new Pool({
    connectionString: deps.url,
    application_name: "owl/owld",
    max: 2,
    connectionTimeoutMillis: BOUND_MS,
    query_timeout: BOUND_MS,
    statement_timeout: BOUND_MS,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
  });
  // An idle connection that breaks is no failure of its own: the next question tells.
  pool.on("error", () => undefined);
  let answeringSince: MonotonicMs | null = null;
  let peak = 0;
  const ended = new AbortController();
  /** Gone while the database did not answer. */
  const unmarked = new Set<string>();
  let pinging: Promise<void> | null = null;

  function heard(answered: boolean): void {
    if (answered) {
      if (answeringSince === null) log.info("the metastore answers");
      answeringSince ??= clock.monotonicMs();
    } else {
      if (answeringSince !== null) log.warn("the metastore does not answer");
      answeringSince = null;
    }
  }

  /** Rows, or null when the database did not answer or lacks the table. */
  async function ask<Row extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<readonly Row[] | null> {
    try {
      const { rows } = await pool.query<Row>(sql, values);
      heard(true);
      return rows;
    } catch (error) {
      // A refusal by the server (SQLSTATE of five characters) is an answer, except when it is shutting down (57P..).
      const state = (error as { code?: unknown }).code;
      heard(typeof state === "string" && /^[0-9A-Z]{5}$/.test(state) && !/^(57P|53|08)/.test(state));
      return null;
    }
  }

  /** A worker that went with the database is marked as soon as that answers: nobody has to wait for its silence. */
  async function mark(worker: string): Promise<boolean> {
    const isMarked = (await ask(MARK_GONE, [worker])) !== null;
    if (isMarked) unmarked.delete(worker);
    else unmarked.add(worker);
    return isMarked;
  }

  async function ping(): Promise<void> {
    for await (const _ of clock.every(PING_MS, ended.signal)) {
      await ask("SELECT 1");
      if (answeringSince !== null) for (const worker of unmarked) await mark(worker);
    }
  }

  return {
    start() {
      pinging ??= ping();
    },
    async stop() {
      if (ended.signal.aborted) return;
      ended.abort();
      await pinging;
      await pool.end();
    },
    async connections() {
      const rows = await ask<{ name: string; open: number }>(OPEN_BY_APPLICATION);
      const limits = rows && (await readLimits(pool).catch(() => null));
      if (!rows || !limits) return null;
      const byApplication = Object.fromEntries(rows.map(({ name, open }) => [name, open]));
      const open = rows.reduce((sum, row) => sum + row.open, 0);
      peak = Math.max(peak, open);
      return { limit: limits.limit, maxConnections: limits.maxConnections, open, peak, byApplication };
    },
    async workers(living) {
      const rows = await ask<{ id: string; draining: boolean; jobs: WorkerStatus["jobs"]; age_ms: number }>(
        LIVING_WORKERS,
        [living],
      );
      return (
        rows?.map((row) => ({
          id: row.id,
          state: row.age_ms > deps.stalledAfterMs ? "stalled" : row.draining ? "draining" : "active",
          heartbeatAgeMs: Math.max(0, Math.round(row.age_ms)),
          jobs: row.jobs,
        })) ?? null
      );
    },
    work: createWorkFigures(ask),
    async wear() {
      const found = (await ask<{ checksums: boolean; xidAge: number }>(WEAR))?.[0];
      const dead = await ask<NonNullable<DatabaseWear["dead"]>>(MOST_DEAD);
      return found === undefined || dead === null ? null : { ...found, dead: dead[0] ?? null };
    },
    async jobCounts(workers) {
      return (await ask<JobCounts>(JOB_COUNTS, [workers]))?.[0] ?? null;
    },
    markGone: mark,
    answeringSince: () => answeringSince,
  };
}
