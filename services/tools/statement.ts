// One read-only statement on one connection. Invariants: it runs alone in a READ ONLY transaction through the extended
// protocol (which takes one statement only); rows, bytes and time are bounded while they arrive; an abort cancels it in
// the database and this function returns only when the connection is quiet or destroyed.

import type { Duplex } from "node:stream";
import pg from "pg";
import type { OwlError } from "../../config/errors.ts";
import type { Clock } from "../../config/time.ts";
import { failure } from "../core/wire/errors.ts";
import { cancelRequest } from "./cancel-request.ts";
import { readingStatement } from "./check-statement.ts";

export interface StatementLimits {
  readonly timeoutMs: number;
  readonly rows: number;
  readonly bytes: number;
}

export const STATEMENT_LIMITS: StatementLimits = { timeoutMs: 240_000, rows: 200, bytes: 256 * 1024 };

export interface StatementResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** Why not all rows are here, or null. */
  readonly cut: "rows" | "bytes" | null;
  readonly elapsedMs: number;
}

interface StatementRun {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly signal: AbortSignal;
  readonly limits: StatementLimits;
  readonly clock: Clock;
}

/** What arrives beyond the byte limit before the cancel reaches the server; past it the connection is cut. */
const WIRE_SLACK = 4 * 2 ** 20;
const CANCEL_BOUND_MS = 3_000;
/**
 * Should this process be killed, nobody cancels: then the server itself looks whether its client is still there
 * (PostgreSQL 14 or newer, on Linux; others refuse it), instead of computing on to the time limit.
 */
const CHECK_CLIENT = "SET client_connection_check_interval = '2s'";

const NUMBERS = new Set([20, 21, 23, 26, 700, 701, 1700]);
/** Numbers that survive the way as JavaScript numbers, booleans, and PostgreSQL's own text for all else. */
const types = {
  getTypeParser: ((oid: number) => {
    if (oid === 16) return (text: string) => text === "t";
    if (!NUMBERS.has(oid)) return (text: string) => text;
    return (text: string) => {
      const number = Number(text);
      return Number.isFinite(number) && (Number.isSafeInteger(number) || String(number) === text) ? number : text;
    };
  }) as unknown as typeof pg.types.getTypeParser,
};

/** Runs it. Throws `sql.refused` with the database's words, or the signal's reason when aborted. */
export async function runStatement(client: pg.Client, run: StatementRun): Promise<StatementResult> {
  const { clock, limits, signal } = run;
  const startedAt = clock.monotonicMs();
  const text = readingStatement(run.sql);
  await client.query(CHECK_CLIENT).catch(() => undefined);
  await client.query("BEGIN READ ONLY");
  signal.throwIfAborted();

  const columns: string[] = [];
  const rows: (readonly unknown[])[] = [];
  let cut: StatementResult["cut"] = null;
  let bytes = 0;
  let received = 0;
  const stream = (client as unknown as { connection: { stream: Duplex } }).connection.stream;
  const onData = (chunk: Buffer) => {
    received += chunk.length;
    if (received > limits.bytes + WIRE_SLACK) {
      cut ??= "bytes";
      stream.destroy();
    }
  };
  stream.on("data", onData);

  let cancelled: Promise<void> | null = null;
  const cancel = () => {
    cancelled ??= cancelRequest(client).catch(() => undefined);
  };
  const query = new pg.Query<unknown[]>({
    text,
    values: [...run.values],
    rowMode: "array",
    types,
    queryMode: "extended",
  } as unknown as pg.QueryArrayConfig);
  query.on("row", (row: unknown[]) => {
    if (cut !== null) return;
    const size = row.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 8), 0);
    if (bytes + size > limits.bytes) cut = "bytes";
    else if (rows.length >= limits.rows) cut = "rows";
    else {
      rows.push(row);
      bytes += size;
      return;
    }
    cancel();
  });
  const finished = new Promise<void>((resolve, reject) => {
    query.on("end", () => resolve());
    query.on("error", reject);
    client.once("end", () => reject(new Error("the connection ended")));
  });
  // Heard twice: when we stop waiting for it, its rejection must not float.
  finished.catch(() => undefined);
  const onAbort = () => cancel();
  signal.addEventListener("abort", onAbort, { once: true });
  const aborted = Promise.withResolvers<void>();
  const giveUp = () => clock.after(CANCEL_BOUND_MS, () => aborted.resolve(), { unref: true });
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    client.query(query);
    await Promise.race([finished, aborted.promise]);
  } catch (error) {
    if (cut === null && !signal.aborted) throw refused(error as Error & { code?: string }, limits);
  } finally {
    signal.removeEventListener("abort", onAbort);
    signal.removeEventListener("abort", giveUp);
    stream.off("data", onData);
    await cancelled;
    // Nothing to keep: the transaction only read, and the connection is closed by the caller.
    if (signal.aborted) stream.destroy();
  }
  signal.throwIfAborted();
  for (const field of fieldsOf(query)) columns.push(field.name);
  return { columns, rows, cut, elapsedMs: Math.round(clock.monotonicMs() - startedAt) };
}

/** pg keeps the row description on the query's result, which its types do not show. */
function fieldsOf(query: unknown): readonly { readonly name: string }[] {
  return (query as { _result?: { fields?: { name: string }[] } })._result?.fields ?? [];
}

function refused(error: Error & { code?: string }, limits: StatementLimits): OwlError {
  if (error.code === "57014") {
    return failure("sql.refused#slow", { seconds: limits.timeoutMs / 1_000 });
  }
  if (error.code === "25006") return failure("sql.refused#wrote");
  return failure("sql.refused", { why: error.message }, { data: { sqlstate: error.code ?? null } });
}
