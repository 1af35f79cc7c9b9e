// pg_dump, pg_restore and psql are Debian's (postgresql-client); the npm package's server has none of them.

import { mkdtemp, readdir, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findBinaries } from "../../../supervisor/postgres/binaries.ts";
import { dumpDatabase, restoreDump } from "../../../supervisor/postgres/copy-dump.ts";
import { startTestPostgres, type TestPostgres } from "../../support/postgres.ts";

const signal = new AbortController().signal;
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp("/tmp/owl-copies-");
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

describe("a team's own database", () => {
  let postgres: TestPostgres;
  let bin: string;
  beforeAll(async () => {
    postgres = await startTestPostgres();
    bin = (await findBinaries({ configured: "auto", major: null, path: process.env.PATH ?? "" })).dir;
  });
  afterAll(async () => {
    await postgres.stop();
  });

  async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      const result: unknown = await client.query(text);
      return Array.isArray(result) ? [] : (result as { rows: Record<string, unknown>[] }).rows;
    } finally {
      await client.end();
    }
  }

  async function filled(): Promise<string> {
    const url = await postgres.database();
    await query(
      url,
      "CREATE SCHEMA owl; CREATE TABLE owl.turn (id int PRIMARY KEY, text text); INSERT INTO owl.turn SELECT n, '답 ' || n FROM generate_series(1, 50) n; CREATE TABLE public.theirs (id int)",
    );
    return url;
  }

  test("is dumped, migrated away from, and restored; tables that are not ours stay", async () => {
    const url = await filled();
    const file = join(dir, "a.dump");
    expect(await dumpDatabase({ url, file, bin, signal })).toBeGreaterThan(100);
    await query(
      url,
      "ALTER TABLE owl.turn DROP COLUMN text; CREATE TABLE owl.later (turn int REFERENCES owl.turn); INSERT INTO public.theirs VALUES (7)",
    );
    await restoreDump({ url, file, bin, signal });
    expect(await query(url, "SELECT count(*)::int AS n, min(text) AS t FROM owl.turn")).toEqual([{ n: 50, t: "답 1" }]);
    expect(await query(url, "SELECT to_regclass('owl.later') AS later")).toEqual([{ later: null }]);
    expect(await query(url, "SELECT id FROM public.theirs")).toEqual([{ id: 7 }]);
    expect(await readdir(dir)).toEqual(["a.dump"]);
  });

  test("a dump that cannot be read back changes nothing", async () => {
    const url = await filled();
    const file = join(dir, "b.dump");
    const bytes = await dumpDatabase({ url, file, bin, signal });
    await truncate(file, Math.floor(bytes / 2));
    await query(url, "INSERT INTO owl.turn VALUES (51, 'after')");
    await expect(restoreDump({ url, file, bin, signal })).rejects.toMatchObject({ code: "copy.unreadable" });
    expect(await query(url, "SELECT count(*)::int AS n FROM owl.turn")).toEqual([{ n: 51 }]);
  });

  test("a database that is not there is a clear failure and leaves no file", async () => {
    const gone = postgres.urlOf("nowhere");
    await expect(dumpDatabase({ url: gone, file: join(dir, "c.dump"), bin, signal })).rejects.toMatchObject({
      code: "copy.failed",
    });
    expect(await readdir(dir)).toEqual([]);
  });
});
