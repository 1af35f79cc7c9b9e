// A queue of 1,000,000 waiting jobs: accepting a turn, claiming one, putting a batch of 10,000 items in line, in the
// product's own transactions on a real PostgreSQL, before and after. The waiting turns are written by SQL, as accepted ones look.

import { randomUUID } from "node:crypto";
import pg from "pg";
import { systemClock } from "../../../config/system-time.ts";
import { insertBatch } from "../../../services/db/batches.ts";
import { claimJobs } from "../../../services/db/claims.ts";
import { createDatabase, type Database } from "../../../services/db/pool.ts";
import { createQueue, type JobQueue } from "../../../services/db/queue.ts";
import { acceptTurn } from "../../../services/db/turns.ts";
import { startServices } from "../../support/services.ts";
import { type Bench, type Row, scaled, summaryOf } from "../figures.ts";

const WAITING = scaled(1_000_000, 20_000);
const SAMPLES = scaled(400, 100);
export const ITEMS = 10_000;
const WORKER = "worker-bench";

export const millionJobsBench: Bench = {
  name: "million-jobs",
  async run(log) {
    const services = await startServices({}, { shared_buffers: "256MB", max_wal_size: "4GB" });
    const database = createDatabase({ url: services.url, max: 4, onError: () => undefined });
    const queue = createQueue({
      database,
      instance: WORKER,
      upkeep: false,
      onError: () => undefined,
      onWarning: () => undefined,
    });
    const admin = new pg.Client({ connectionString: services.url });
    await admin.connect();
    try {
      await queue.start();
      await admin.query("INSERT INTO owl.worker (id, release, pid, host) VALUES ($1, 'bench', 1, 'bench')", [WORKER]);
      const accountId = (await admin.query<{ id: string }>("SELECT id FROM owl.account LIMIT 1")).rows[0]?.id ?? "";
      const bench = { database, queue, admin, accountId };
      await measure(bench);
      const empty = await measure(bench);
      log(`writing ${WAITING} waiting turns`);
      await fill(bench);
      log("measuring");
      await measure(bench);
      const full = await measure(bench);
      const batches: number[] = [];
      for (let n = 0; n < 5; n++) batches.push(await enqueueBatch(bench));
      const summary = summaryOf(batches);
      return [
        compare("accepting a turn", empty.accept, full.accept),
        compare("claiming a job", empty.claim, full.claim),
        {
          work: `a batch of ${ITEMS.toLocaleString("en")} items put in line, beside them`,
          goal: "at most 1 s",
          measured: `${summary.p50.toFixed(0)} ms at the median of 5`,
          met: summary.p50 <= 1_000,
          unit: "ms",
          summary,
        },
      ];
    } finally {
      await admin.end();
      await queue.stop();
      await database.stop();
      await services.stop();
    }
  },
};

export interface Bed {
  readonly database: Database;
  readonly queue: JobQueue;
  readonly admin: pg.Client;
  readonly accountId: string;
}

async function measure({ database, queue, admin, accountId }: Bed): Promise<{ accept: number[]; claim: number[] }> {
  const accept: number[] = [];
  const claim: number[] = [];
  for (let n = 0; n < SAMPLES; n++) {
    const conversationId = randomUUID();
    await admin.query("INSERT INTO owl.conversation (id, account_id) VALUES ($1, $2)", [conversationId, accountId]);
    const queueJob = randomUUID();
    const id = randomUUID();
    const from = performance.now();
    await acceptTurn(database, queue, { id, conversationId, accountId, text: "hello", queueJob, claimMs: 420_000 });
    await database.flush();
    accept.push(performance.now() - from);
    const began = performance.now();
    const { claims } = await database.transaction((sql) =>
      claimJobs(sql, { kind: "chat", limit: 1, worker: WORKER, accountLimit: 1_000_000 }),
    );
    if (claims.length !== 1) throw new Error("nothing was claimed");
    claim.push(performance.now() - began);
    if (n % 50 === 0) await systemClock.sleep(1);
  }
  return { accept, claim };
}

/** How long the transaction of one batch takes, ms. */
export async function enqueueBatch({ database, queue, accountId }: Omit<Bed, "admin">): Promise<number> {
  const id = randomUUID();
  const items = Array.from({ length: ITEMS }, (_, n) => {
    const item = { path: `/srv/recordings/${id}/${n}.wav`, name: `${n}.wav`, bytes: 1_000_000 };
    return { id: randomUUID(), queueJob: randomUUID(), item };
  });
  const batch = { id, accountId, kind: "transcription", request: {}, options: {}, skipped: [], items };
  const from = performance.now();
  await database.transaction(async (sql) => {
    await insertBatch(sql, batch);
    await queue.enqueueMany(sql, "transcription", items);
  });
  await database.flush();
  return performance.now() - from;
}

/** Turns, each in a conversation of its own, and their queue jobs, made like the last one pg-boss itself wrote. */
async function fill({ database, queue, admin, accountId }: Bed): Promise<void> {
  const conversationId = randomUUID();
  const queueJob = randomUUID();
  const id = randomUUID();
  await admin.query("INSERT INTO owl.conversation (id, account_id) VALUES ($1, $2)", [conversationId, accountId]);
  await acceptTurn(database, queue, { id, conversationId, accountId, text: "hello", queueJob, claimMs: 420_000 });
  await admin.query("SET statement_timeout = 0");
  await admin.query(
    `CREATE TEMP TABLE fresh AS SELECT gen_random_uuid() AS id, gen_random_uuid() AS job FROM generate_series(1, ${WAITING})`,
  );
  await admin.query("INSERT INTO owl.conversation (id, account_id) SELECT id, $1 FROM fresh", [accountId]);
  await admin.query(
    `INSERT INTO owl.turn (id, conversation_id, account_id, text, queue_job, claim_deadline_at)
       SELECT id, id, $1, 'hello', job, clock_timestamp() + interval '1 day' FROM fresh`,
    [accountId],
  );
  const { rows } = await admin.query<{ columns: string }>(
    `SELECT string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
      WHERE table_schema = 'pgboss' AND table_name = 'job' AND column_name NOT IN ('id', 'data') AND is_generated = 'NEVER'`,
  );
  const columns = rows[0]?.columns ?? "";
  await admin.query(
    `INSERT INTO pgboss.job (id, data, ${columns})
       SELECT f.job, jsonb_build_object('id', f.id), ${columns} FROM fresh f,
              (SELECT ${columns} FROM pgboss.job WHERE id = $1) model`,
    [queueJob],
  );
  // What the server does by itself within minutes of such an insert: not beside what is measured.
  await admin.query("VACUUM (ANALYZE)");
  await admin.query("CHECKPOINT");
}

function compare(what: string, empty: readonly number[], full: readonly number[]): Row {
  const before = summaryOf(empty);
  const summary = summaryOf(full);
  const ratio = summary.p50 / before.p50;
  return {
    work: `${what} with ${WAITING.toLocaleString("en")} jobs waiting`,
    goal: "within 2x of an empty queue",
    measured: `${ratio.toFixed(2)}x at the median, ${(summary.p99 / before.p99).toFixed(2)}x at p99 (empty: p50 ${before.p50.toFixed(2)} ms, p99 ${before.p99.toFixed(2)} ms)`,
    met: ratio <= 2,
    unit: "ms",
    summary,
    note: "transaction alone, on a PostgreSQL that does not wait for the disk",
  };
}
