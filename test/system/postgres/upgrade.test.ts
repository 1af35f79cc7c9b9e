// A managed database of Debian's PostgreSQL into the npm package's newer one, by Debian's pg_dump.

import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { invariant } from "../../../config/errors.ts";
import { systemClock, systemRandom } from "../../../config/system-time.ts";
import { type Binaries, listBinaries } from "../../../supervisor/postgres/binaries.ts";
import { createCluster } from "../../../supervisor/postgres/cluster.ts";
import { createManagedPostgres } from "../../../supervisor/postgres/managed.ts";
import { ADMIN_ROLE } from "../../../supervisor/postgres/roles.ts";
import { attemptIn } from "../../../supervisor/postgres/upgrade/attempt.ts";
import { upgradeData } from "../../../supervisor/postgres/upgrade/move.ts";
import { goBack, planUpgrade, upgrade } from "../../../supervisor/postgres/upgrade/upgrade.ts";

const BOUND_MS = 600_000;
const signal = new AbortController().signal;
const path = process.env.PATH ?? "";
const postgres = { maxConnections: 50, binaries: "auto", settings: { shared_buffers: "16MB" } };
let home: string;
let base: string;

beforeEach(async () => {
  home = await mkdtemp("/tmp/owl-upgrade-");
  await chmod(home, 0o755);
  base = join(home, "postgres");
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

const deps = () => {
  const steps: string[] = [];
  return {
    clock: systemClock,
    random: systemRandom,
    path,
    say: (step: string) => void steps.push(step),
    signal,
    steps,
  };
};

function managed(binaries = "auto") {
  const config = { ...postgres, binaries };
  return createManagedPostgres({ ...deps(), config, base, logFile: join(home, "postgres.log") });
}

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

async function whileUp(work: (url: string, adminUrl: string) => Promise<void>, binaries?: string): Promise<void> {
  const server = managed(binaries);
  try {
    const { url, adminUrl } = await server.start(() => undefined, signal);
    await work(url, adminUrl);
  } finally {
    await server.stop();
  }
}

const version = () => readFile(join(base, "data", "PG_VERSION"), "utf8").then(Number);
const oldest = async (): Promise<Binaries> => {
  const all = await listBinaries({ configured: "auto", path });
  const [first] = all.toSorted((a, b) => a.major - b.major);
  invariant(first !== undefined, "there is a PostgreSQL");
  return first;
};

test(
  "a database goes up with its rows, roles and closed functions, and back; killed between the renames, it is as it was",
  async () => {
    const { dir, major } = await oldest();
    await whileUp(async (url, adminUrl) => {
      await query(url, "CREATE SCHEMA owl; CREATE TABLE owl.turn (text text)");
      await query(url, "INSERT INTO owl.turn SELECT '답 ' || n FROM generate_series(1, 50) n");
      await query(adminUrl, "CREATE ROLE reader LOGIN PASSWORD 'read'");
      await query(adminUrl, "CREATE DATABASE demo OWNER reader");
      const closing = "REVOKE EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) FROM PUBLIC";
      await query(adminUrl.replace("@/postgres?", "@/owl?"), closing);
    }, dir);
    await mkdir(join(home, "state"), { recursive: true });
    await mkdir(join(home, "logs"), { recursive: true });

    const { plan } = await planUpgrade({ home, to: null, postgres }, { path });
    expect(plan).toMatchObject({ way: "dump", former: join(base, "copies", "former-postgres", "data") });
    expect(await version()).toBe(major);
    const asked = deps();
    const done = await upgrade({ home, to: null, postgres }, asked);
    expect(asked.steps).toEqual(["old", "dump", "new", "load", "compare", "swap"]);
    expect(await version()).toBe(Number(done.to.split(".")[0]));
    expect(await version()).toBeGreaterThan(major);
    expect(existsSync(attemptIn(base))).toBe(false);

    // Killed after the present one was moved aside, with an attempt half made.
    await mkdir(join(attemptIn(base), "data"), { recursive: true });
    await rename(join(base, "data"), join(base, "data.replaced"));
    await whileUp(async (url, adminUrl) => {
      expect(await query(url, "SELECT count(*)::int AS n, min(text) AS t FROM owl.turn")).toEqual([
        { n: 50, t: "답 1" },
      ]);
      await query(adminUrl.replace(/^postgres:\/\/[^@]*@\/postgres/, "postgres://reader:read@/demo"), "SELECT 1");
      const open =
        "SELECT bool_or(has_function_privilege('reader', oid, 'EXECUTE')) AS open FROM pg_proc WHERE proname = 'pg_logical_emit_message'";
      expect(await query(adminUrl.replace("@/postgres?", "@/owl?"), open)).toEqual([{ open: false }]);
    });
    expect(existsSync(attemptIn(base))).toBe(false);

    expect(await goBack({ home }, deps())).toMatchObject({ to: major });
    expect(await version()).toBe(major);
    await whileUp(async (url) => {
      expect(await query(url, "SELECT count(*)::int AS n FROM owl.turn")).toEqual([{ n: 50 }]);
    });
  },
  BOUND_MS,
);

test(
  "pg_upgrade fills a fresh cluster from a stopped one",
  async () => {
    const binaries = await oldest();
    let account = null;
    const server = managed(binaries.dir);
    try {
      const { url } = await server.start(() => undefined, signal);
      ({ account } = server.place());
      await query(url, "CREATE SCHEMA owl; CREATE TABLE owl.turn AS SELECT 7 AS n");
    } finally {
      await server.stop();
    }
    const password = (await readFile(join(base, "admin-password"), "utf8")).trim();
    const fresh = join(home, "fresh");
    await mkdir(fresh, { mode: 0o711 });
    const admin = { name: ADMIN_ROLE, password };
    await createCluster({ binaries, dir: fresh, account, admin, attempt: "a", signal });
    const from = { dir: binaries.dir, data: join(base, "data") };
    const to = { dir: binaries.dir, data: join(fresh, "data") };
    await upgradeData({ from, to, password, directory: join(fresh, "work"), account, signal });
    await rm(join(base, "data"), { recursive: true });
    await rename(join(fresh, "data"), join(base, "data"));
    await whileUp(async (url) => {
      expect(await query(url, "SELECT n FROM owl.turn")).toEqual([{ n: 7 }]);
    }, binaries.dir);
  },
  BOUND_MS,
);

test(
  "an upgrade that fails leaves the database as it was, and no attempt behind",
  async () => {
    const { dir, major } = await oldest();
    await whileUp(async () => undefined, dir);
    await mkdir(join(home, "state"), { recursive: true });
    await mkdir(join(home, "logs"), { recursive: true });
    const ended = new AbortController();
    const say = (step: string): void => {
      if (step === "load") ended.abort();
    };
    await expect(upgrade({ home, to: null, postgres }, { ...deps(), say, signal: ended.signal })).rejects.toThrow();
    expect(await version()).toBe(major);
    expect(existsSync(attemptIn(base))).toBe(false);
    await whileUp(async () => undefined, dir);
  },
  BOUND_MS,
);
