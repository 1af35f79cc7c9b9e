// The metastore's connection pool and transactions. Invariants: an idle client's error never ends the process; no
// statement outlives `statementTimeoutMs` on the server; what the database undid because two were in each other's way
// (deadlock, serialization) is run again here, for everybody.
//
// The order in which rows are locked, everywhere: a job's conversation, then job rows (several: by id), then their
// batches (by id), then their queue jobs, then worker rows. A claim comes from the other side (queue job, then row), so
// nobody who holds a row waits for a queue job that still waits in line: `takeOutText` passes over a locked one.

import pg from "pg";
import type { Clock } from "../../config/time.ts";
import { isConflict, markDatabaseError } from "./database-errors.ts";
import type { Channel } from "./listen.ts";
import { createNotifications } from "./notifications.ts";
import { lowerBackend } from "./own-backend.ts";

export interface SqlResult<Row> {
  readonly rows: Row[];
  readonly rowCount: number;
}

/** Something statements run on: the pool itself, or one transaction. */
export interface Sql {
  /** Without `values`, `text` may be several statements: their rows, one after the other. */
  query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<SqlResult<Row>>;
}

export interface Database extends Sql {
  /** Runs `work` in one transaction; a throw rolls back and is thrown on. `work` may run again after a deadlock. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** As `transaction`, but rolls back without an error when `work` returns undefined. */
  attempt<T>(work: (sql: Sql) => Promise<T | undefined>): Promise<T | undefined>;
  /** Notifies soon, on its own: for what is committed already. */
  notify(channel: Channel, payload: string): void;
  /** Resolves when everything committed before is on disk: what a statement with LOOSE_COMMIT left open. */
  flush(): Promise<void>;
  /** Pool size and use now. */
  counts(): { readonly max: number; readonly total: number; readonly idle: number; readonly waiting: number };
  stop(): Promise<void>;
}

/**
 * As an item of a statement's select list: its transaction's commit does not wait for the disk. For what promises
 * nothing before `flush`. Lost in a crash of the server are then the last commits, all of them from one instant on.
 */
export const LOOSE_COMMIT = "set_config('synchronous_commit', 'off', true)";

export interface PoolOptions {
  readonly url: string;
  readonly max: number;
  readonly statementTimeoutMs?: number;
  /** Its statements run behind everybody's questions, where the server is on this machine. */
  readonly behind?: boolean;
  /** Given in workers, which notify much: what `notify` collects is sent together. */
  readonly clock?: Clock;
  readonly onError: (error: Error) => void;
}

// Our statements are constants: prepared once per connection, their parsing and planning is paid once. The bound is for
// texts that are built; past it they are sent as they are.
const MOST_PREPARED = 400;
const prepared = new Map<string, string>();

function nameOf(text: string): string | undefined {
  const known = prepared.get(text);
  if (known !== undefined || prepared.size >= MOST_PREPARED) return known;
  const name = `owl_${prepared.size + 1}`;
  prepared.set(text, name);
  return name;
}

function marked(error: unknown): never {
  throw markDatabaseError(error);
}

function sqlOf(client: pg.Pool | pg.PoolClient): Sql {
  return {
    async query<Row extends object>(text: string, values?: readonly unknown[]) {
      const name = values === undefined ? undefined : nameOf(text);
      const result: pg.QueryResult<Row> | pg.QueryResult<Row>[] = await client
        .query<Row>({ text, values: values as unknown[] | undefined, name })
        .catch(marked);
      if (!Array.isArray(result)) return { rows: result.rows, rowCount: result.rowCount ?? 0 };
      const rowCount = result.reduce((sum, one) => sum + (one.rowCount ?? 0), 0);
      return { rows: result.flatMap(({ rows }) => rows), rowCount };
    },
  };
}

const CONFLICT_TRIES = 10;

/** Run again at once: who was undone waits for the winner's locks, and for nothing else. */
async function throughConflicts<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      if (!isConflict(error) || tries === CONFLICT_TRIES) throw error;
    }
  }
}

/** Opens a pool of at most `max` connections, lazily. */
export function createDatabase(options: PoolOptions): Database {
  const timeoutMs = options.statementTimeoutMs ?? 30_000;
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs + 2_000,
    idle_in_transaction_session_timeout: timeoutMs,
  });
  pool.on("error", options.onError);
  if (options.behind) pool.on("connect", (client) => void lowerBackend(client));
  const notifications = createNotifications(sqlOf(pool), options.clock, options.onError);
  let stopped: Promise<void> | null = null;

  async function once<T>(work: (sql: Sql) => Promise<T | undefined>): Promise<T | undefined> {
    const client = await pool.connect().catch(marked);
    // The pool takes its error listener off a client it hands out; unheard, a dying socket would end the process.
    let broken = false;
    const onError = (error: Error) => {
      broken = true;
      options.onError(error);
    };
    client.on("error", onError);
    try {
      await client.query("BEGIN").catch(marked);
      const result = await work(sqlOf(client));
      await client.query(result === undefined ? "ROLLBACK" : "COMMIT").catch(marked);
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch(() => {
        broken = true;
      });
      throw error;
    } finally {
      client.removeListener("error", onError);
      client.release(broken);
    }
  }

  const alone = sqlOf(pool);
  const attempt: Database["attempt"] = (work) => throughConflicts(() => once(work));

  return {
    query: (text, values) => throughConflicts(() => alone.query(text, values)),
    attempt,
    async transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
      const done = await attempt(async (sql) => ({ value: await work(sql) }));
      return (done as { value: T }).value;
    },
    notify: notifications.note,
    async flush() {
      // The smallest thing that is written and waited for; the server writes what came before in front of it.
      const text = "SELECT pg_logical_emit_message(true, 'owl', ''::text)";
      await pool.query({ name: "owl_flush", text }).catch(marked);
    },
    counts: () => ({
      max: options.max,
      total: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    stop() {
      stopped ??= notifications.sent().then(() => pool.end());
      return stopped;
    },
  };
}
