// The supervisor's memory on disk: SQLite, written before each step, read once at the start.
// Invariant: what callers see is the memory; the disk follows. When a write fails (disk full) supervision goes on from
// memory, `failing` says so, and everything is written again as soon as a write succeeds.

import { chmodSync, existsSync, readFileSync, renameSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { asError, OwlError } from "../../config/errors.ts";
import { createWaitingWrites, type Write } from "./waiting-writes.ts";

const FORMAT = 1;
/** At the start another process may hold the file: whoever reads it first after a kill puts its log in order. */
const OPEN_WAIT_MS = 10_000;
const BUSY_WAIT_MS = 2_000;
const KEEP_EVENTS = 20_000;
const TRIM_EVERY = 1_000;
const upsert = (table: string, key: string, value: string): string =>
  `INSERT INTO ${table} (${key}, ${value}) VALUES (?, ?) ON CONFLICT (${key}) DO UPDATE SET ${value} = excluded.${value}`;
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
  /** Events let go since this was asked last, because too many waited to be written. */
  takeDropped(): number;
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
    if (isFull(error) && existsSync(file)) {
      try {
        // Its index in memory, where otherwise a file beside it would have to grow.
        return { store: readStore(file, openWaitMs, true), setAside: null };
      } catch {
        throw unusable(file, asError(error));
      }
    }
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

/** IOERR, FULL, CANTOPEN. */
const FULL_CODES: readonly number[] = [10, 13, 14];

function isFull(error: unknown): boolean {
  const { errcode } = error as { readonly errcode?: unknown };
  return typeof errcode === "number" && FULL_CODES.includes(errcode & 0xff);
}

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

function readStore(file: string, waitMs: number, alone = false): Store {
  const database = openDatabase(file, waitMs, alone);
  try {
    return createStore(database);
  } catch (error) {
    // Closed later, by the garbage collector, it would take the log of the file that has this name then.
    database.close();
    throw error;
  }
}

function openDatabase(file: string, waitMs: number, alone: boolean): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: waitMs });
  try {
    chmodSync(file, 0o600);
    if (alone) database.exec("PRAGMA locking_mode = EXCLUSIVE");
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    const check = database.prepare("PRAGMA quick_check").get() as { quick_check?: string } | undefined;
    if (check?.quick_check !== "ok") throw new Unfit(`it is damaged (${check?.quick_check ?? "no answer"})`);
    const { user_version: found } = database.prepare("PRAGMA user_version").get() as { user_version: number };
    if (found > FORMAT) throw new Unfit(`it is of a newer version of Owl (format ${found}, this one knows ${FORMAT})`);
    database.exec(readFileSync(new URL("./schema.sql", import.meta.url), "utf8"));
    // Not written over by itself: a full disk must not keep what is there from being read.
    if (found !== FORMAT) database.exec(`PRAGMA user_version = ${FORMAT}`);
    database.exec(`PRAGMA busy_timeout = ${BUSY_WAIT_MS}`);
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
  const waiting = createWaitingWrites();
  let failure: string | null = null;
  /** Writes of the transaction that is open, to be done again when it cannot be kept. */
  let together: Write[] | null = null;
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

  function perform(write: Write): void {
    if (write.kind === "forget") run("DELETE FROM rollout_event WHERE rollout = ?", [write.rollout]);
    else if (write.kind === "event") {
      const { id, rollout, doc } = write;
      if (write.table === "event") run("INSERT OR REPLACE INTO event VALUES (?, ?)", [id, doc]);
      else run("INSERT OR REPLACE INTO rollout_event VALUES (?, ?, ?)", [id, rollout, doc]);
    } else performDocument(write.table as keyof typeof TABLES, write.key);
  }

  function performDocument(table: keyof typeof TABLES, key: Key): void {
    const column = TABLES[table];
    if (table === "counter") {
      run(upsert(table, column, "value"), [key, counters.get(String(key)) ?? 0]);
      return;
    }
    const doc = tableOf(table).get(key);
    if (doc === undefined) run(`DELETE FROM ${table} WHERE ${column} = ?`, [key]);
    else run(upsert(table, column, "doc"), [key, JSON.stringify(doc)]);
  }

  function write(one: Write): void {
    if (failure !== null) {
      waiting.add(one);
      return;
    }
    try {
      together?.push(one);
      perform(one);
    } catch (error) {
      failure = asError(error).message;
      if (together === null) waiting.add(one);
      else giveUpTogether();
    }
  }

  function giveUpTogether(): void {
    for (const one of together ?? []) waiting.add(one);
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

  /** The oldest events go. Tried again after the next so many when it does not get through. */
  function trim(): void {
    if (failure !== null) return;
    sinceTrim = 0;
    try {
      run("DELETE FROM event WHERE id <= ?", [last.event - KEEP_EVENTS]);
    } catch (error) {
      failure = asError(error).message;
      if (together !== null) giveUpTogether();
    }
  }

  function tableOf(table: Keyed): Map<Key, unknown> {
    const found = memory.get(table);
    if (found === undefined) throw new Error(`unknown table ${table}`);
    return found;
  }

  function setCounter(name: string, value: number): void {
    counters.set(name, value);
    write({ kind: "document", table: "counter", key: name });
  }

  return {
    all: <T>(table: Keyed) => tableOf(table) as ReadonlyMap<Key, T>,
    put(table, key, doc) {
      tableOf(table).set(key, doc);
      write({ kind: "document", table, key });
    },
    remove(table, key) {
      if (tableOf(table).delete(key)) write({ kind: "document", table, key });
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
      write({ kind: "event", table, id, rollout: rollout ?? "", doc: JSON.stringify(doc) });
      if (table === "event" && ++sinceTrim >= TRIM_EVERY) trim();
    },
    removeEvents(rollout) {
      write({ kind: "forget", rollout });
    },
    read<T>(table: "event" | "rollout_event", filter: { readonly rollout?: string; readonly limit?: number } = {}) {
      const limit = filter.limit ?? -1;
      const rows =
        table === "rollout_event"
          ? database.prepare("SELECT doc FROM rollout_event WHERE rollout = ? ORDER BY seq").all(filter.rollout ?? "")
          : database
              .prepare("SELECT doc FROM (SELECT id, doc FROM event ORDER BY id DESC LIMIT ?) ORDER BY id")
              .all(limit);
      const stored = rows.map((row) => JSON.parse(String(row.doc)) as T);
      const unwritten = waiting.events(table).filter((one) => table === "event" || one.rollout === filter.rollout);
      const all = [...stored, ...unwritten.map(({ doc }) => JSON.parse(doc) as T)];
      return limit < 0 ? all : all.slice(-limit);
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
        for (const one of waiting.all()) perform(one);
        database.exec("COMMIT");
        waiting.clear();
        failure = null;
        return true;
      } catch (error) {
        failure = asError(error).message;
        if (database.isTransaction) database.exec("ROLLBACK");
        return false;
      }
    },
    takeDropped: waiting.takeDropped,
    close() {
      database.close();
    },
  };
}
