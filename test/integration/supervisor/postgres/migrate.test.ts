import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../../config/system-time.ts";
import { migrate } from "../../../../supervisor/postgres/migrate.ts";
import { startTestPostgres, type TestPostgres } from "../../../support/postgres.ts";

let server: TestPostgres;
let dir: string;
let url: string;

beforeAll(async () => {
  server = await startTestPostgres();
});
afterAll(() => server.stop());
beforeEach(async () => {
  url = await server.database();
  dir = await mkdtemp("/tmp/owl-migrations-");
  return () => rm(dir, { recursive: true, force: true });
});

async function files(contents: Record<string, string>): Promise<void> {
  for (const [name, sql] of Object.entries(contents)) await writeFile(join(dir, name), sql);
}

function run(allowIncompatible = true): Promise<readonly string[]> {
  return migrate(url, dir, { allowIncompatible, say: () => undefined, signal: new AbortController().signal });
}

async function rows(sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe("migrating", () => {
  test("applies what is pending once, in order, and notes it with its hash", async () => {
    await files({ "0001_a.sql": "-- compatible\nCREATE TABLE owl.a (n int)" });
    expect(await run()).toEqual(["0001_a.sql"]);
    await files({ "0002_b.sql": "-- incompatible\nALTER TABLE owl.a RENAME n TO m; INSERT INTO a VALUES (1)" });
    expect(await run()).toEqual(["0002_b.sql"]);
    expect(await run()).toEqual([]);
    expect(await rows("SELECT m FROM owl.a")).toEqual([{ m: 1 }]);
    expect(await rows("SELECT number, compatible, length(sha256) AS digits FROM owl.migration ORDER BY 1")).toEqual([
      { number: 1, compatible: true, digits: 64 },
      { number: 2, compatible: false, digits: 64 },
    ]);
  });

  test("a failing one leaves the database as it was and is named", async () => {
    await files({
      "0001_a.sql": "-- compatible\nCREATE TABLE owl.a (n int)",
      "0002_b.sql": "-- compatible\nCREATE TABEL owl.b (n int)",
    });
    await expect(run()).rejects.toMatchObject({ code: "migrate.failed", message: /0002_b\.sql.*TABEL/s });
    expect(await rows("SELECT to_regnamespace('owl') AS schema")).toEqual([{ schema: null }]);
  });

  test("an incompatible one is refused while services run, with nothing changed", async () => {
    await files({ "0001_a.sql": "-- compatible\nCREATE TABLE owl.a (n int)" });
    await run();
    await files({ "0002_b.sql": "-- incompatible\nDROP TABLE owl.a" });
    await expect(run(false)).rejects.toMatchObject({ code: "migrate.incompatible", message: /0002_b\.sql/ });
    expect(await rows("SELECT count(*)::int AS n FROM owl.migration")).toEqual([{ n: 1 }]);
  });

  test("a changed file and a database from the future are refused", async () => {
    await files({ "0001_a.sql": "-- compatible\nSELECT 1", "0002_b.sql": "-- incompatible\nSELECT 2" });
    await run();
    await files({ "0001_a.sql": "-- compatible\nSELECT 3" });
    await expect(run()).rejects.toMatchObject({ code: "migrate.changed" });
    await files({ "0001_a.sql": "-- compatible\nSELECT 1" });
    await rm(join(dir, "0002_b.sql"));
    await expect(run()).rejects.toMatchObject({ code: "migrate.future" });
  });

  test("a schema of our name that is not ours is left alone", async () => {
    await rows("CREATE SCHEMA owl");
    await rows("CREATE TABLE owl.birds (name text)");
    await files({ "0001_a.sql": "-- compatible\nCREATE TABLE owl.a (n int)" });
    await expect(run()).rejects.toMatchObject({ code: "migrate.foreignSchema" });
    expect(await rows("SELECT to_regclass('owl.migration') AS ours")).toEqual([{ ours: null }]);
  });

  test("two at the same time apply everything once", async () => {
    await files({ "0001_a.sql": "-- compatible\nCREATE TABLE owl.a (n int); SELECT pg_sleep(0.2)" });
    const applied = await Promise.all([run(), run(), run()]);
    expect(applied.flat()).toEqual(["0001_a.sql"]);
  });

  test("an owld killed in the middle of it leaves nothing behind, and the next one migrates", async () => {
    // The first attempt waits on a lock the test holds; the second one runs when the server has noticed the death.
    await rows("CREATE TABLE gate (n int)");
    const holder = new Client({ connectionString: url });
    await holder.connect();
    await holder.query("BEGIN; LOCK TABLE gate");
    await files({ "0001_a.sql": "-- compatible\nCREATE TABLE owl.a (n int); SELECT count(*) FROM public.gate" });
    const program = new URL("../../../support/programs/run-migrate.ts", import.meta.url).pathname;
    const owld = spawn(process.execPath, [program, url, dir], { stdio: "ignore" });
    for (let tries = 0; tries < 1_000; tries++) {
      const waiting = await rows(
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%gate'",
      );
      if (waiting.length > 0) break;
      await systemClock.sleep(20);
    }
    const exited = once(owld, "exit");
    owld.kill("SIGKILL");
    await exited;
    const next = run();
    await holder.query("COMMIT");
    await holder.end();
    expect(await next).toEqual(["0001_a.sql"]);
    expect(await rows("SELECT number FROM owl.migration")).toEqual([{ number: 1 }]);
  });
});
