import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Config } from "../../../../config/config.ts";
import { systemClock, systemRandom } from "../../../../config/system-time.ts";
import type { DatabaseService } from "../../../../supervisor/ports.ts";
import { createDatabaseService } from "../../../../supervisor/postgres/database-service.ts";

let home: string;
let code: string;
let opened: DatabaseService[];

beforeEach(async () => {
  const dir = await mkdtemp("/tmp/owl-database-");
  await chmod(dir, 0o755);
  home = join(dir, "home");
  code = join(dir, "code");
  await mkdir(home);
  await mkdir(join(code, "migrations"), { recursive: true });
  await mkdir(join(code, "services", "prepare"), { recursive: true });
  await writeFile(join(code, "package.json"), '{"type":"module"}');
  await writeFile(join(code, "migrations", "0001_a.sql"), "-- compatible\nCREATE TABLE owl.told (what text)");
  await prepareIs("console.log(JSON.stringify({ message: 'Queues are there.' }));");
  opened = [];
  return () => rm(dir, { recursive: true, force: true });
});

afterEach(async () => {
  for (const one of opened) await one.stop();
});

function prepareIs(program: string): Promise<void> {
  return writeFile(join(code, "services", "prepare", "main.ts"), program);
}

function service(change: Partial<Config> = {}): DatabaseService {
  const config = {
    home,
    usesDatabase: true,
    bundled: true,
    database: null,
    postgres: {
      maxConnections: 40,
      settings: { shared_buffers: "16MB", superuser_reserved_connections: "4" },
      binaries: "auto",
    },
    heartbeat: { intervalMs: 10_000, stalledAfterMs: 30_000 },
    app: { language: "en", databaseUrl: null },
    ...change,
  } as unknown as Config;
  const one = createDatabaseService({
    config,
    clock: systemClock,
    random: systemRandom,
    log: pino({ level: "silent" }),
    codeRoot: code,
    environment: process.env,
    adminPassword: "first-one",
  });
  opened.push(one);
  return one;
}

async function start(one: DatabaseService): Promise<string[]> {
  const said: string[] = [];
  await one.start((message) => said.push(message), new AbortController().signal);
  return said;
}

async function query(url: string | null, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url ?? "" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe("a managed database", () => {
  test("comes up migrated and prepared, with what prepare needs in its environment only", async () => {
    await prepareIs(`
      const app = JSON.parse(process.env.OWL_APP_CONFIG ?? "");
      const seen = {
        url: app.databaseUrl.startsWith("postgres://owl:"), admin: process.env.OWL_ADMIN_DATABASE_URL?.includes("owl_admin"),
        password: process.env.OWL_ADMIN_PASSWORD, home: process.env.OWL_HOME, argv: process.argv.length,
      };
      console.log(JSON.stringify({ message: JSON.stringify(seen) }));`);
    const one = service();
    const said = await start(one);
    expect(JSON.parse(said.at(-1) ?? "")).toEqual({ url: true, admin: true, password: "first-one", home, argv: 2 });
    expect(await query(one.url(), "SELECT count(*)::int AS n FROM owl.migration")).toEqual([{ n: 1 }]);
    expect(one.process()).toMatchObject({ state: "ready" });
    // 40 less 4 reserved ones.
    expect(await one.metastore()?.connections()).toMatchObject({ limit: 36, maxConnections: 40 });
  });

  test("a failing prepare is one sentence with its last words, and the next start goes on", async () => {
    await prepareIs("console.error('no room for queues'); process.exit(1);");
    const one = service();
    await expect(start(one)).rejects.toMatchObject({ code: "prepare.failed", message: /no room for queues/ });
    expect(one.url()).toBeNull();
    await prepareIs("console.log('fine');");
    await start(one);
    expect(one.url()).toContain("postgres://owl:");
  });

  test("is started again when its postmaster was killed, and the metastore answers again", async () => {
    const one = service();
    await start(one);
    const before = one.process()?.pid ?? 0;
    process.kill(before, "SIGKILL");
    for (let tries = 0; tries < 1_500 && (one.process()?.pid === before || one.process()?.state !== "ready"); tries++) {
      await systemClock.sleep(20);
    }
    expect(one.process()?.pid).not.toBe(before);
    expect(await query(one.url(), "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    expect(await one.metastore()?.connections()).not.toBeNull();
  });

  test("runs again after a copy or a restore that failed, and after those that did not", async () => {
    const signal = new AbortController().signal;
    const say = () => undefined;
    const one = service();
    await start(one);
    const updates = one.updates();
    const copies = join(home, "postgres", "copies");
    await writeFile(copies, "in the way");
    await expect(updates.copy("r-1", say, signal)).rejects.toThrow();
    expect(await query(one.url(), "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await rm(copies);
    await expect(updates.restore(join(copies, "r-0"), code, say, signal)).rejects.toMatchObject({
      code: "copy.unreadable",
    });
    expect(await query(one.url(), "SELECT 1 AS one")).toEqual([{ one: 1 }]);

    const copy = await updates.copy("r-1", say, signal);
    await query(one.url(), "INSERT INTO owl.told VALUES ('after')");
    // What an owld killed in a copy leaves; it is never taken for one.
    await mkdir(join(copies, "r-2.attempt-1"));
    await updates.copy("r-3", say, signal);
    await updates.restore(copy, code, say, signal);
    expect(await query(one.url(), "SELECT * FROM owl.told")).toEqual([]);
    await updates.keepCopies([copy]);
    expect(await readdir(copies)).toEqual(["r-1"]);
  });

  test("outlives an owld that lets go", async () => {
    const first = service();
    await start(first);
    first.letGo();
    const second = service();
    await start(second);
    expect(second.process()).toEqual(first.process());
  });
});

describe("other databases", () => {
  test("an external one is checked and migrated, and never stopped", async () => {
    const server = service();
    await start(server);
    const external = service({ database: { url: server.url() ?? "" }, home: join(home, "..", "other") });
    await start(external);
    expect(external.process()).toBeNull();
    await external.stop();
    expect(await query(server.url(), "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    expect(await readdir(join(home, "..", "other")).catch(() => "absent")).toBe("absent");
  });

  test("an external one with a wrong password is refused at once, the password unsaid", async () => {
    const server = service();
    await start(server);
    const url = (server.url() ?? "").replace(/:[^:@]+@/, ":s3cret@");
    const failure = await start(service({ database: { url } })).catch((error: Error) => error);
    expect(failure).toMatchObject({ code: "database.unreachable", message: /password authentication failed/ });
    expect(String(failure)).not.toContain("s3cret");
  });

  test("a team's own services without a database touch nothing", async () => {
    const one = service({ usesDatabase: false, bundled: false, app: null });
    expect(await start(one)).toEqual([]);
    expect([one.url(), one.metastore(), one.process()]).toEqual([null, null, null]);
    expect(await readdir(home)).toEqual([]);
  });
});
