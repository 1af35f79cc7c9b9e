// The supervisor's memory on disk: SQLite, written before each step, read once at the start.
// Invariant: what callers see is the memory; the disk follows. When a write fails (disk full) supervision goes on from
// memory, `failing` says so, and everything is written again as soon as a write succeeds.

import { chmodSync, existsSync, readFileSync, renameSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { asError, OwlError } from "../../config/errors.ts";

const FORMAT = 1;
/** At the start another process may hold the file: whoever reads it first after a kill puts its log in order. */
const OPEN_WAIT_MS = 10_000;
const BUSY_WAIT_MS = 2_000;
const KEEP_EVENTS = 20_000;
const TABLES = {
  counter: "name",
  instance: "id",
  rollout: "number",
  proxy: "id",
  service: "name",
  fact: "name",
} as const;
type Keyed = Exclude<keyof typeof TABLES, "counter">;
type Key = string | number;

export interface Store {
  /** All documents of a table, by key, in key order. */
  all<T>(table: Keyed): ReadonlyMap<Key, T>;
  put(table: Keyed, key: Key, doc: unknown): void;
  remove(table: Keyed, key: Key): void;
  /** The next number of that name, kept before it is given. */
  next(counter: string): number;
  /** The number that `next` gave last; 0: none so far. */
  given(counter: string): number;
  /** Makes sure that `next` gives a number above `atLeast`. */
  raise(counter: string, atLeast: number): void;
  append(table: "event" | "rollout_event", id: number, doc: unknown, rollout?: string): void;
  /** Removes the events of that rollout. */
  removeEvents(rollout: string): void;
  /** Appended documents, oldest first. */
  read<T>(
    table: "event" | "rollout_event",
    filter?: { readonly rollout?: string; readonly limit?: number },
  ): readonly T[];
  /** Highest id given so far. */
  lastId(table: "event" | "rollout_event"): number;
  /** All that `run` writes is on disk whole or not at all. */
  atomically(run: () => void): void;
  /** What was written before outlives a power cut too; without it, a process's end only. */
  sync(): void;
  /** Why nothing can be written at the moment, or null. */
  failing(): string | null;
  /** Tries again what could not be written; true when all is on disk. */
  retry(): boolean;
  close(): void;
}

interface OpenedStore {
  readonly store: Store;
  /** Set: the file was damaged or of a newer version, and lies here now. */
  readonly setAside: { readonly path: string; readonly reason: string } | null;
}

/**
 * Opens (or makes) the state file. A damaged one, or one of a newer owld, is kept aside under a name with `stamp`; one
 * that is whole but not to be had now (locked, no right, no space) is left where it is and told: `state.unusable`.
 */
export function openStore(file: string, stamp: string, openWaitMs = OPEN_WAIT_MS): OpenedStore {
  try {
    return { store: readStore(file, openWaitMs), setAside: null };
  } catch (error) {
    if (!isUnfit(error)) throw unusable(file, asError(error));
    const reason = asError(error).message;
    const path = `${file.replace(/owl\.sqlite$/, "")}owl.sqlite.damaged-${stamp}`;
    renameSync(file, path);
    for (const suffix of ["-wal", "-shm"]) if (existsSync(file + suffix)) renameSync(file + suffix, path + suffix);
    return { store: readStore(file, openWaitMs), setAside: { path, reason } };
  }
}

/** What lies in the file is nothing this owld can go on from, whenever it looks again. */
class Unfit extends Error {}

/** SQLite's primary result codes that tell of a file's content: ERROR (other tables than ours), CORRUPT, NOTADB. */
const UNFIT_CODES: readonly number[] = [1, 11, 26];

function isUnfit(error: unknown): boolean {
  if (error instanceof Unfit || error instanceof SyntaxError) return true;
  const { errcode } = error as { readonly errcode?: unknown };
  return typeof errcode === "number" && UNFIT_CODES.includes(errcode & 0xff);
}

function unusable(file: string, error: Error): OwlError {
  const isLocked = /locked|busy/i.test(error.message);
  return new OwlError("state.unusable", `The state file ${file} cannot be used: ${error.message}.`, {
    next: isLocked
      ? `End the program that holds it (see: fuser -v ${file}), then start owld again.`
      : "Make it readable and writable for this user, free some space, then start owld again.",
    cause: error,
  });
}

function readStore(file: string, waitMs: number): Store {
  const database = openDatabase(file, waitMs);
  try {
    return createStore(database);
  } catch (error) {
    // Closed later, by the garbage collector, it would take the log of the file that has this name then.
    database.close();
    throw error;
  }
}

function openDatabase(file: string, waitMs: number): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: waitMs });
  try {
    chmodSync(file, 0o600);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    const check = database.prepare("PRAGMA quick_check").get() as { quick_check?: string } | undefined;
    if (check?.quick_check !== "ok") throw new Unfit(`it is damaged (${check?.quick_check ?? "no answer"})`);
    const { user_version: found } = database.prepare("PRAGMA user_version").get() as { user_version: number };
    if (found > FORMAT) throw new Unfit(`it is of a newer version of Owl (format ${found}, this one knows ${FORMAT})`);
    database.exec(readFileSync(new URL("./schema.sql", import.meta.url), "utf8"));
    database.exec(`PRAGMA user_version = ${FORMAT}; PRAGMA busy_timeout = ${BUSY_WAIT_MS}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one open file and what waits for it.
function createStore(database: DatabaseSync): Store {
  const memory = new Map<Keyed, Map<Key, unknown>>();
  const counters = new Map<string, number>();
  const statements = new Map<string, StatementSync>();
  const last = { event: maximum("event", "id"), rollout_event: maximum("rollout_event", "seq") };
  /** Writes that did not get through, in order. */
  let waiting: { readonly sql: string; readonly values: readonly (string | number)[] }[] = [];
  let failure: string | null = null;
  /** Writes of the transaction that is open, to be done again when it cannot be kept. */
  let together: { readonly sql: string; readonly values: readonly (string | number)[] }[] | null = null;
  let sinceTrim = 0;

  for (const table of ["instance", "rollout", "proxy", "service", "fact"] as const) {
    const rows = database.prepare(`SELECT ${TABLES[table]} AS key, doc FROM ${table} ORDER BY 1`).all();
    memory.set(table, new Map(rows.map((row) => [row.key as Key, JSON.parse(String(row.doc))])));
  }
  for (const row of database.prepare("SELECT name, value FROM counter").all()) {
    counters.set(String(row.name), Number(row.value));
  }

  function maximum(table: string, column: string): number {
    return Number(database.prepare(`SELECT coalesce(max(${column}), 0) AS top FROM ${table}`).get()?.top ?? 0);
  }

  function run(sql: string, values: readonly (string | number)[]): void {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    statement.run(...values);
  }

  function write(sql: string, ...values: (string | number)[]): void {
    if (failure !== null) {
      waiting.push({ sql, values });
      return;
    }
    try {
      together?.push({ sql, values });
      run(sql, values);
    } catch (error) {
      failure = asError(error).message;
      if (together === null) waiting.push({ sql, values });
      else giveUpTogether();
    }
  }

  function giveUpTogether(): void {
    waiting.push(...(together ?? []));
    together = null;
    if (database.isTransaction) database.exec("ROLLBACK");
  }

  function atomically(body: () => void): void {
    if (failure !== null || together !== null) {
      body();
      return;
    }
    together = [];
    try {
      database.exec("BEGIN IMMEDIATE");
    } catch (error) {
      failure = asError(error).message;
      together = null;
      body();
      return;
    }
    try {
      body();
    } finally {
      if (together !== null) {
        try {
          database.exec("COMMIT");
          together = null;
        } catch (error) {
          failure = asError(error).message;
          giveUpTogether();
        }
      }
    }
  }

  function tableOf(table: Keyed): Map<Key, unknown> {
    const found = memory.get(table);
    if (found === undefined) throw new Error(`unknown table ${table}`);
    return found;
  }

  function setCounter(name: string, value: number): void {
    counters.set(name, value);
    write("INSERT INTO counter VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value);
  }

  return {
    all: <T>(table: Keyed) => tableOf(table) as ReadonlyMap<Key, T>,
    put(table, key, doc) {
      tableOf(table).set(key, doc);
      const column = TABLES[table];
      const sql = `INSERT INTO ${table} (${column}, doc) VALUES (?, ?) ON CONFLICT (${column}) DO UPDATE SET doc = excluded.doc`;
      write(sql, key, JSON.stringify(doc));
    },
    remove(table, key) {
      if (tableOf(table).delete(key)) write(`DELETE FROM ${table} WHERE ${TABLES[table]} = ?`, key);
    },
    next(counter) {
      const value = (counters.get(counter) ?? 0) + 1;
      setCounter(counter, value);
      return value;
    },
    given: (counter) => counters.get(counter) ?? 0,
    raise(counter, atLeast) {
      if ((counters.get(counter) ?? 0) < atLeast) setCounter(counter, atLeast);
    },
    append(table, id, doc, rollout) {
      last[table] = Math.max(last[table], id);
      if (table === "rollout_event") {
        write("INSERT OR REPLACE INTO rollout_event VALUES (?, ?, ?)", id, rollout ?? "", JSON.stringify(doc));
        return;
      }
      write("INSERT OR REPLACE INTO event VALUES (?, ?)", id, JSON.stringify(doc));
      if (++sinceTrim >= 1_000) {
        sinceTrim = 0;
        write("DELETE FROM event WHERE id <= ?", last.event - KEEP_EVENTS);
      }
    },
    removeEvents(rollout) {
      write("DELETE FROM rollout_event WHERE rollout = ?", rollout);
    },
    read<T>(table: "event" | "rollout_event", filter: { readonly rollout?: string; readonly limit?: number } = {}) {
      const limit = filter.limit ?? -1;
      const rows =
        table === "rollout_event"
          ? database.prepare("SELECT doc FROM rollout_event WHERE rollout = ? ORDER BY seq").all(filter.rollout ?? "")
          : database
              .prepare("SELECT doc FROM (SELECT id, doc FROM event ORDER BY id DESC LIMIT ?) ORDER BY id")
              .all(limit);
      return rows.map((row) => JSON.parse(String(row.doc)) as T);
    },
    lastId: (table) => last[table],
    atomically,
    sync() {
      if (failure !== null || together !== null) return;
      try {
        // Writes the log and then the file through to the disk.
        database.exec("PRAGMA wal_checkpoint(PASSIVE)");
      } catch (error) {
        failure = asError(error).message;
      }
    },
    failing: () => failure,
    retry() {
      if (failure === null) return true;
      try {
        database.exec("BEGIN IMMEDIATE");
        for (const { sql, values } of waiting) run(sql, values);
        database.exec("COMMIT");
        waiting = [];
        failure = null;
        return true;
      } catch (error) {
        failure = asError(error).message;
        if (database.isTransaction) database.exec("ROLLBACK");
        return false;
      }
    },
    close() {
      database.close();
    },
  };
}
