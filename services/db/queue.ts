// The queue: the only file that imports pg-boss. A job's data is the id of its row in our tables; the row is the truth.
// Invariants: enqueue, claim and settle run in the caller's transaction (no row without a job, no job without a row);
// pg-boss never runs a job again by itself (retryLimit 0); only `installQueue` touches its schema; a job of a format
// this code does not know lies in a queue it never reads.
//
// Neither work() nor fetch() is used: which job is next is our rows' to say (line.ts: fair by account, which an order of
// pg-boss's own table cannot be), and it is taken inside the very statement that claims its row. A claim on the wire when
// the drain begins is then rolled back, untouched, and no second LISTEN connection is needed.

import { type Db, PgBoss } from "pg-boss";
import { JOB_KINDS, type JobKind } from "../../config/config.ts";
import { invariant } from "../../config/errors.ts";
import { jobKindRow, knownFormats, type QueueDeclaration } from "../core/job-kinds.ts";
import { failure } from "../core/wire/errors.ts";
import type { Database, Sql } from "./pool.ts";

export const QUEUE_SCHEMA = "pgboss";

/** A fetched job: `id` is the row it stands for, `queueJob` and `retryCount` fence its settling. */
export interface QueuedJob {
  readonly kind: JobKind;
  readonly id: string;
  readonly queueJob: string;
  readonly retryCount: number;
  /** The row's format: which of the kind's queues it came from, and goes back to. */
  readonly format: number;
}

export interface NewJob {
  readonly id: string;
  readonly queueJob: string;
  /** Higher first; 0. */
  readonly priority?: number;
  /** Its row's format; absent: that of a row never begun. */
  readonly format?: number;
}

/** pg-boss's statement, and what names its caller's own parameters in a text: the n-th, from 1. */
export type Around = (
  statement: string,
  parameter: (n: number) => string,
) => { readonly text: string; readonly values: readonly unknown[] };

export interface JobQueue {
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * Puts the row `id` in line under the queue job id `queueJob`; workers wake when `sql` commits.
   */
  enqueue(sql: Sql, kind: JobKind, job: NewJob): Promise<void>;
  /** As `enqueue`, as part of the caller's own statement, which also wakes them (owl_jobs). */
  enqueueWithin(sql: Sql, kind: JobKind, job: NewJob, around: Around): Promise<void>;
  /** As `enqueue`, for many rows in one statement. */
  enqueueMany(sql: Sql, kind: JobKind, jobs: readonly NewJob[]): Promise<void>;
  /** Settles fetched jobs as over, whatever their outcome (the outcome is our rows'). */
  complete(sql: Sql, ...jobs: readonly QueuedJob[]): Promise<void>;
  /**
   * Takes jobs out by id, waiting or not: their rows ended or got another job. Those of a newer format stay, and are
   * cleared away as stale by the code that knows them.
   */
  remove(sql: Sql, kind: JobKind, queueJobs: readonly string[]): Promise<void>;
  /** Refreshes the leases of running jobs. */
  touch(jobs: readonly QueuedJob[]): Promise<void>;
  /** Age of the oldest lease among these running jobs by the database's clock, ms; null when none is held. */
  oldestLeaseMs(jobs: readonly QueuedJob[]): Promise<number | null>;
}

export interface QueueOptions {
  readonly database: Database;
  readonly instance: string;
  /** True in workers: pg-boss's own upkeep (deleting what is over, the 90 s backstop) runs there. */
  readonly upkeep: boolean;
  readonly onError: (error: Error) => void;
  readonly onWarning: (message: string) => void;
}

/** pg-boss hands several statements as one text with no values: that must be no prepared statement. */
function adapter(sql: Sql): Db {
  return {
    async executeSql(text, values) {
      const { rows } = await sql.query(text, values !== undefined && values.length > 0 ? values : undefined);
      return { rows };
    },
  };
}

/** Runs pg-boss's one statement within the caller's; pg-boss itself gets `given`, and never our errors. */
function createWithin<Row extends object>(
  sql: Sql,
  around: Around,
  given: readonly object[],
): { readonly db: Db; rows(): readonly Row[] } {
  let result: readonly Row[] | null = null;
  let failure: unknown = null;
  return {
    db: {
      async executeSql(text, values = []) {
        const { text: whole, values: own } = around(text, (n) => `$${values.length + n}`);
        try {
          result = (await sql.query<Row>(whole, [...values, ...own])).rows;
        } catch (error) {
          failure = error;
        }
        return { rows: [...given] };
      },
    },
    rows() {
      if (failure !== null) throw failure;
      invariant(result !== null, "pg-boss runs one statement to enqueue or to fetch");
      return result;
    },
  };
}

function createBoss(options: QueueOptions, migrate: boolean): PgBoss {
  const boss = new PgBoss({
    db: { ...adapter(options.database), poolCounts: () => options.database.counts() },
    schema: QUEUE_SCHEMA,
    migrate,
    createSchema: migrate,
    supervise: options.upkeep,
    schedule: false,
    useListenNotify: false,
    superviseIntervalSeconds: 30,
    monitorIntervalSeconds: 30,
    maintenanceIntervalSeconds: 600,
    reindex: false,
    monitorVacuum: false,
    registerInstance: false,
    instanceName: options.instance,
    openTelemetry: { enabled: false },
  });
  boss.on("error", options.onError);
  boss.on("warning", (warning) => options.onWarning(warning.message));
  return boss;
}

const COMPARED = [
  "retryLimit",
  "expireInSeconds",
  "retentionSeconds",
  "deleteAfterSeconds",
  "heartbeatSeconds",
  "policy",
  "notify",
] as const satisfies readonly (keyof QueueDeclaration)[];

/** pg-boss's name for the queue of one format of a kind. */
export function queueName(kind: JobKind, format: number): string {
  return format === 1 ? kind : `${kind}.${format}`;
}

/** The format whose queue that is. */
export function formatOfQueue(kind: JobKind, name: string): number {
  return name === kind ? 1 : Number(name.slice(kind.length + 1));
}

/**
 * For a statement that ends rows of `kind`: takes their queue jobs out with it. `ended` names what holds the rows' ids
 * of queue jobs in `queue_job`. A `waiting` job may be locked by a claim that waits for the very row we hold: it is left
 * to that claim, which finds it stale.
 */
export function takeOutText(kind: JobKind, ended: string, what: "running" | "waiting"): string {
  const locking = what === "waiting" ? " FOR UPDATE OF o SKIP LOCKED" : "";
  return `DELETE FROM ${QUEUE_SCHEMA}.job j USING (
    SELECT o.name, o.id FROM ${QUEUE_SCHEMA}.job o, ${ended} e
     WHERE o.name IN (${queueNames(kind)}) AND o.id = e.queue_job${locking}) over
   WHERE j.name = over.name AND j.id = over.id`;
}

const queueNames = (kind: JobKind): string =>
  knownFormats(kind)
    .map((format) => `'${queueName(kind, format)}'`)
    .join(", ");

/** What may stand in a FROM after a row of `kind`: its queue job, if that waits in a queue this code knows. */
export function waitingJobText(kind: JobKind, queueJob: string): string {
  return `LATERAL (SELECT o.name, o.id FROM ${QUEUE_SCHEMA}.job o
       WHERE o.name IN (${queueNames(kind)}) AND o.id = ${queueJob} AND o.state < 'active' AND NOT o.blocked)`;
}

/** pg-boss's own fetch, for the locked jobs in `taken` (name, id, row); gives the queue job, its row and the fence. */
export function activateText(taken: string): string {
  return `UPDATE ${QUEUE_SCHEMA}.job o
       SET state = 'active', started_on = ${QUEUE_SCHEMA}.job_now(), heartbeat_on = ${QUEUE_SCHEMA}.job_now(),
           retry_count = CASE WHEN o.started_on IS NOT NULL THEN o.retry_count + 1 ELSE o.retry_count END
      FROM ${taken} t WHERE o.name = t.name AND o.id = t.id
     RETURNING o.id AS "queueJob", t.row AS id, o.name AS queue, o.retry_count AS "retryCount"`;
}

function queues(): { readonly name: string; readonly wanted: QueueDeclaration }[] {
  return JOB_KINDS.flatMap((kind) =>
    knownFormats(kind).map((format) => ({ name: queueName(kind, format), wanted: jobKindRow(kind).queue })),
  );
}

/** Installs or migrates pg-boss's schema and makes its queues equal the declarations. Repeatable. */
export async function installQueue(options: QueueOptions): Promise<void> {
  const boss = createBoss({ ...options, upkeep: false }, true);
  await boss.start();
  try {
    for (const { name, wanted } of queues()) {
      if (await boss.getQueue(name)) {
        const { policy: _fixed, ...changeable } = wanted;
        await boss.updateQueue(name, changeable);
      } else await boss.createQueue(name, wanted);
    }
    await checkQueues(boss);
  } finally {
    await boss.stop({ graceful: false, close: false });
  }
}

/** Throws `queue.declaration` when a queue in the database is not as THE table declares it. */
async function checkQueues(boss: PgBoss): Promise<void> {
  for (const { name, wanted } of queues()) {
    const found = await boss.getQueue(name);
    const wrong = COMPARED.filter((key) => (found?.[key] ?? null) !== (wanted[key] ?? null));
    if (!found || wrong.length > 0) {
      const what = found ? `${wrong.join(", ")} differ from the job-kind table` : "is not there";
      throw failure("queue.declaration", { name, what });
    }
  }
}

/** Puts `others` in line as pg-boss has put `first`: its own statement costs three times as much. */
async function copyJob(sql: Sql, name: string, first: NewJob, others: readonly NewJob[]): Promise<void> {
  const { rows } = await sql.query<{ columns: string }>(
    `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns FROM pg_attribute
      WHERE attrelid = '${QUEUE_SCHEMA}.job'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
        AND attname NOT IN ('id', 'data', 'priority')`,
  );
  const columns = rows[0]?.columns ?? "";
  const { rowCount } = await sql.query(
    `INSERT INTO ${QUEUE_SCHEMA}.job (id, data, priority, ${columns})
     SELECT v.job, jsonb_build_object('id', v.id), v.priority, ${columns}
       FROM unnest($3::uuid[], $4::uuid[], $5::int[]) AS v(job, id, priority),
            (SELECT ${columns} FROM ${QUEUE_SCHEMA}.job WHERE name = $1 AND id = $2::uuid) model`,
    [
      name,
      first.queueJob,
      others.map(({ queueJob }) => queueJob),
      others.map(({ id }) => id),
      others.map(({ priority }) => priority ?? 0),
    ],
  );
  invariant(rowCount === others.length, "the first job is there to be copied");
}

const formatOf = (kind: JobKind, job: NewJob): number => job.format ?? jobKindRow(kind).freshFormat;

/** The queue over pg-boss, on the process's own pool. start() refuses a database whose queues differ. */
export function createQueue(options: QueueOptions): JobQueue {
  const boss = createBoss(options, false);
  const data = (job: NewJob) => ({
    id: job.queueJob,
    data: { id: job.id },
    priority: job.priority ?? 0,
  });
  async function complete(sql: Sql, ...jobs: readonly QueuedJob[]): Promise<void> {
    for (const [name, alike] of Map.groupBy(jobs, ({ kind, format }) => queueName(kind, format))) {
      const attempts = alike.map(({ queueJob, retryCount }) => ({ id: queueJob, retryCount }));
      await boss.complete(name, attempts, null, { db: adapter(sql) });
    }
  }

  return {
    async start() {
      await boss.start();
      await checkQueues(boss);
    },
    async stop() {
      await boss.stop({ graceful: false, close: false });
    },
    async enqueue(sql, kind, job) {
      const { data: payload, ...rest } = data(job);
      await boss.send(queueName(kind, formatOf(kind, job)), payload, { ...rest, db: adapter(sql) });
      await sql.query("SELECT pg_notify('owl_jobs', $1)", [kind]);
    },
    async enqueueWithin(sql, kind, job, around) {
      const { data: payload, ...rest } = data(job);
      const statement = createWithin(sql, around, [{ id: job.queueJob }]);
      await boss.send(queueName(kind, formatOf(kind, job)), payload, { ...rest, db: statement.db });
      statement.rows();
    },
    async enqueueMany(sql, kind, jobs) {
      if (jobs.length === 0) return;
      for (const [format, alike] of Map.groupBy(jobs, (job) => formatOf(kind, job))) {
        const [first, ...others] = alike;
        invariant(first !== undefined, "a group has a first job");
        const name = queueName(kind, format);
        await boss.insert(name, [data(first)], { db: adapter(sql) });
        if (others.length > 0) await copyJob(sql, name, first, others);
      }
      await sql.query("SELECT pg_notify('owl_jobs', $1)", [kind]);
    },
    complete,
    async remove(sql, kind, queueJobs) {
      if (queueJobs.length === 0) return;
      for (const format of knownFormats(kind))
        await boss.deleteJob(queueName(kind, format), [...queueJobs], { db: adapter(sql) });
    },
    async touch(jobs) {
      for (const [name, held] of Map.groupBy(jobs, (job) => queueName(job.kind, job.format)))
        await boss.touch(
          name,
          held.map((job) => ({ id: job.queueJob, retryCount: job.retryCount })),
        );
    },
    async oldestLeaseMs(jobs) {
      const { rows } = await options.database.query<{ age: number | null }>(
        `SELECT (extract(epoch FROM max(clock_timestamp() - coalesce(heartbeat_on, started_on))) * 1000)::float8 AS age
           FROM ${QUEUE_SCHEMA}.job WHERE name = ANY($1) AND id = ANY($2::uuid[]) AND state = 'active'`,
        [[...new Set(jobs.map((job) => queueName(job.kind, job.format)))], jobs.map((job) => job.queueJob)],
      );
      return rows[0]?.age ?? null;
    },
  };
}
