// The SQL tool's bounds on a real server: rows, bytes, time, writes, aborts. No connection is left behind.

import { readFile } from "node:fs/promises";
import { getPriority } from "node:os";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../config/system-time.ts";
import { createDatabase, type Database } from "../../../services/db/pool.ts";
import { createSources, type Sources } from "../../../services/tools/sources.ts";
import type { StatementLimits } from "../../../services/tools/statement.ts";
import { startTestPostgres, type TestPostgres } from "../../support/postgres.ts";
import { testAppConfig, until } from "../../support/services.ts";

let postgres: TestPostgres;
let url: string;
let db: Database;
const made: Sources[] = [];
const limits: StatementLimits = { timeoutMs: 60_000, rows: 100, bytes: 64 * 1024 };

beforeAll(async () => {
  postgres = await startTestPostgres();
  url = await postgres.database();
  db = createDatabase({ url, max: 2, onError: () => undefined });
  await db.query("CREATE SCHEMA owl");
  await db.query("CREATE TABLE owl.data_source (name text, url text)");
  await db.query("CREATE TABLE public.written (n int)");
});
afterAll(async () => {
  for (const sources of made) await sources.stop();
  await db?.stop();
  await postgres?.stop();
});

function sources(change: Partial<StatementLimits> = {}, max = 2, source = url): Sources {
  const config = testAppConfig(url, "/tmp", { dataSources: { main: { url: source } } });
  const one = createSources({
    config,
    db,
    clock: systemClock,
    max,
    onError: () => undefined,
    limits: { ...limits, ...change },
  });
  made.push(one);
  return one;
}

const run = (sql: string, change: Partial<StatementLimits> = {}, signal = new AbortController().signal) =>
  sources(change).run("main", sql, signal);

// The mark is a parameter: in this text it would be found on the pool's other connection, whose last statement this was.
const strangers = async () =>
  (
    await db.query("SELECT query FROM pg_stat_activity WHERE datname = current_database() AND query LIKE $1", [
      "%owl-marked%",
    ])
  ).rowCount;

test("numbers, booleans, nulls and text arrive as such", async () => {
  const result = await run(
    "SELECT 1 AS a, 2.50 AS b, 9007199254740993 AS c, true AS d, NULL AS e, date '2026-01-02' AS f",
  );
  expect(result.columns).toEqual(["a", "b", "c", "d", "e", "f"]);
  expect(result.rows).toEqual([[1, "2.50", "9007199254740993", true, null, "2026-01-02"]]);
});

test("a million rows are cut at the row limit", async () => {
  const result = await run("SELECT n FROM generate_series(1, 1000000) n /* owl-marked */");
  expect(result).toMatchObject({ cut: "rows" });
  expect(result.rows).toHaveLength(100);
  await until("nothing runs on", async () => (await strangers()) === 0, 30_000);
});

test("a value of 100 MB is cut, not carried", async () => {
  const result = await run(
    "SELECT string_agg(repeat('x', 1000), '') AS big FROM generate_series(1, 100000) /* owl-marked */",
  );
  expect(result).toMatchObject({ cut: "bytes", rows: [] });
  await until("nothing runs on", async () => (await strangers()) === 0, 30_000);
});

test.each([
  "INSERT INTO written VALUES (1)",
  "WITH w AS (INSERT INTO written VALUES (1) RETURNING n) SELECT * FROM w",
  "SELECT 1; INSERT INTO written VALUES (1)",
  "EXPLAIN ANALYZE INSERT INTO written VALUES (1)",
  "/* SELECT */ DELETE FROM written",
  "COMMIT",
  "COPY written TO PROGRAM 'true'",
  "SET default_transaction_read_only = off",
  "SELECT set_config('transaction_read_only', 'off', false)",
])("%s is refused and writes nothing", async (sql) => {
  await expect(run(sql)).rejects.toMatchObject({ code: "sql.refused" });
  expect((await db.query("SELECT 1 FROM written")).rowCount).toBe(0);
});

test("a statement runs behind everybody's questions, and is refused more memory than its share", async () => {
  const controller = new AbortController();
  const running = run("SELECT pg_sleep(60) /* owl-marked */", {}, controller.signal);
  running.catch(() => undefined);
  const find = () =>
    db.query<{ pid: number }>("SELECT pid FROM pg_stat_activity WHERE query LIKE $1", ["SELECT pg_sleep%owl-marked%"]);
  await until("it runs", async () => (await find()).rowCount === 1);
  const pid = (await find()).rows[0]?.pid;
  const priority = Math.min(getPriority() + 15, 19);
  expect(getPriority(pid)).toBe(priority);
  // A backend is a session of its own: where Linux groups sessions, that of the group is what counts.
  expect(await readFile(`/proc/${pid}/autogroup`, "utf8").catch(() => `nice ${priority}`)).toContain(
    `nice ${priority}`,
  );
  controller.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
  const large = run("SELECT length(string_agg(repeat('x', 1000000), '')) FROM generate_series(1, 900)");
  await expect(large).rejects.toMatchObject({ code: "sql.refused", message: "out of memory" });
  expect((await run("SELECT 1 AS a")).rows).toEqual([[1]]);
});

test("one account's statements wait for each other's places; another account is served beside them", async () => {
  const config = testAppConfig(url, "/tmp", { dataSources: { main: { url } }, limits: { statements: 1 } });
  const one = createSources({ config, db, clock: systemClock, max: 4, onError: () => undefined, limits });
  made.push(one);
  const { signal } = new AbortController();
  const order: string[] = [];
  const slow = "SELECT pg_sleep(3) /* owl-first */";
  const first = one.run("main", slow, signal, [], "a").then(() => order.push("first"));
  const isRunning = "SELECT 1 FROM pg_stat_activity WHERE query = $1";
  await until("the first one runs", async () => (await db.query(isRunning, [slow])).rowCount === 1);
  const second = one.run("main", "SELECT 1", signal, [], "a").then(() => order.push("second"));
  await one.run("main", "SELECT 1", signal, [], "b").then(() => order.push("other"));
  await Promise.all([first, second]);
  expect(order).toEqual(["other", "first", "second"]);
});

test("a statement over its time is cancelled in the database and told so", async () => {
  const over = run("SELECT pg_sleep(60) /* owl-marked */", { timeoutMs: 200 });
  await expect(over).rejects.toMatchObject({ code: "sql.refused", message: expect.stringContaining("0.2 s") });
  await until("nothing runs on", async () => (await strangers()) === 0, 30_000);
});

test("an abort cancels it in the database and rejects with the abort's reason", async () => {
  const controller = new AbortController();
  const running = run("SELECT pg_sleep(60) /* owl-marked */", {}, controller.signal);
  running.catch(() => undefined);
  await until("it runs", async () => (await strangers()) === 1);
  controller.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
  await until("it is gone", async () => (await strangers()) === 0, 30_000);
});

test("statements over the cap wait for a place, and an abort while waiting takes none", async () => {
  const one = sources({}, 1);
  const first = one.run("main", "SELECT pg_sleep(0.3)", new AbortController().signal);
  const controller = new AbortController();
  const aborted = one.run("main", "SELECT 1", controller.signal);
  const third = one.run("main", "SELECT 3 AS n", new AbortController().signal);
  controller.abort(new Error("not any more"));
  await expect(aborted).rejects.toThrow("not any more");
  await first;
  expect((await third).rows).toEqual([[3]]);
});

test("a source that is down, or none of that name, is one sentence", async () => {
  const away = sources({}, 1, "postgres://nobody@/x?host=/tmp/owl-no-such-socket");
  await expect(away.run("main", "SELECT 1", new AbortController().signal)).rejects.toMatchObject({
    code: "source.away",
  });
  await expect(sources().run("other", "SELECT 1", new AbortController().signal)).rejects.toMatchObject({
    code: "source.notFound",
  });
});

test("a wrong statement is told in the database's words", async () => {
  await expect(run("SELECT * FROM nowhere")).rejects.toMatchObject({
    code: "sql.refused",
    message: 'relation "nowhere" does not exist',
  });
});

test("no connection of a source outlives its statement", async () => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const others = async () =>
    (
      await client.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
      )
    ).rowCount ?? 0;
  await until("only the test's own pool is left", async () => (await others()) <= 2);
  await client.end();
});
