// A prepared metastore for tests inside the test process: migrated, queues installed, one account, helpers for rows.

import { randomUUID } from "node:crypto";
import { type Logger, pino } from "pino";
import type { JobKind } from "../../config/config.ts";
import { newestFormats } from "../../services/core/job-kinds.ts";
import { type Claim, claimJobs } from "../../services/db/claims.ts";
import { createDatabase, type Database } from "../../services/db/pool.ts";
import { createQueue, installQueue, type JobQueue } from "../../services/db/queue.ts";
import { acceptTurn } from "../../services/db/turns.ts";
import { registerWorker } from "../../services/db/workers.ts";
import { startTestPostgres, type TestPostgres } from "./postgres.ts";
import { migrate } from "./services.ts";

export interface Metastore {
  readonly postgres: TestPostgres;
  readonly url: string;
  readonly db: Database;
  readonly queue: JobQueue;
  readonly accountId: string;
  readonly log: Logger;
  /** A queued turn in a conversation of its own, with its job. */
  turn(claimMs?: number): Promise<{ readonly id: string; readonly queueJob: string }>;
  worker(id: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startMetastore(): Promise<Metastore> {
  const postgres = await startTestPostgres();
  const url = await postgres.database();
  await migrate(url);
  const log = pino({ level: "silent" });
  const onError = () => undefined;
  const db = createDatabase({ url, max: 10, onError });
  const options = { database: db, instance: "test-1", upkeep: false, onError, onWarning: onError };
  await installQueue(options);
  const queue = createQueue(options);
  await queue.start();
  const accountId = randomUUID();
  await db.query("INSERT INTO owl.account (id, name, role, password_hash) VALUES ($1, 'mina', 'member', '')", [
    accountId,
  ]);
  return {
    postgres,
    url,
    db,
    queue,
    accountId,
    log,
    async turn(claimMs = 420_000) {
      const [id, conversationId, queueJob] = [randomUUID(), randomUUID(), randomUUID()];
      await db.transaction(async (sql) => {
        await sql.query("INSERT INTO owl.conversation (id, account_id) VALUES ($1, $2)", [conversationId, accountId]);
        await acceptTurn(sql, queue, {
          id,
          conversationId,
          accountId,
          text: "question",
          queueJob,
          claimMs,
          requestId: `r-${id}`,
        });
      });
      return { id, queueJob };
    },
    async worker(id) {
      await registerWorker(db, { id, release: "test", pid: 1, host: "test", formats: newestFormats() });
    },
    async stop() {
      await queue.stop();
      await db.stop();
      await postgres.stop();
    },
  };
}

/** Claims that very row: for as long as it takes, somebody else holds every other waiting job. */
export function claimRow(
  db: Database,
  row: { readonly kind: JobKind; readonly id: string; readonly queueJob: string },
  worker: string,
): Promise<Claim | "stale" | "none"> {
  return db.transaction(async (holder) => {
    await holder.query("SELECT 1 FROM pgboss.job WHERE id <> $1 AND state < 'active' FOR UPDATE SKIP LOCKED", [
      row.queueJob,
    ]);
    const { claims, stale } = await claimJobs(db, { kind: row.kind, limit: 1, worker, accountLimit: 1_000_000 });
    return claims[0] ?? (stale.length > 0 ? "stale" : "none");
  });
}
