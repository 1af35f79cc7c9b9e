import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { loadConfig } from "../../../../config/load.ts";
import { systemClock } from "../../../../config/system-time.ts";
import { markOf } from "../../../../supervisor/instances/launch.ts";
import { parseSystemdTime } from "../../../../supervisor/preflight/machine-facts.ts";
import { createPreflight } from "../../../../supervisor/preflight/preflight.ts";
import { startTestPostgres, type TestPostgres } from "../../../support/postgres.ts";

let server: TestPostgres;
let url: string;
let dir: string;
let port: number;
let holder: Server;

beforeAll(async () => {
  server = await startTestPostgres();
  url = await server.database();
});
afterAll(() => server.stop());

beforeEach(async () => {
  dir = await mkdtemp("/tmp/owl-preflight-");
  await mkdir(join(dir, "home", "logs"), { recursive: true });
  await mkdir(join(dir, "migrations"));
  await writeFile(join(dir, "migrations", "0001_a.sql"), "-- compatible\nCREATE TABLE owl.a (n int)");
  await writeFile(join(dir, "package.json"), JSON.stringify({ scripts: { start: "node server.js" } }));
  holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  const address = holder.address();
  port = typeof address === "object" && address ? address.port : 0;
});
afterEach(async () => {
  await new Promise((resolve) => holder.close(resolve));
  await rm(dir, { recursive: true, force: true });
});

async function run(yaml: string, ownPids: number[] = []) {
  const file = join(dir, "owl.yaml");
  await writeFile(file, yaml);
  const env = { ...process.env, OWL_HOME: join(dir, "home") };
  const config = loadConfig({ file, env, cwd: dir });
  const preflight = createPreflight({
    clock: systemClock,
    config: () => config,
    databaseUrl: () => config.database?.url ?? null,
    ownPids: () => new Set(ownPids),
    largestInstanceBytes: () => null,
    environment: env,
    cwd: dir,
    codeRoot: dir,
  });
  const before = await snapshot();
  const lines = await preflight.run();
  expect(await snapshot()).toEqual(before);
  return (check: string) => lines.filter((line) => line.check === check);
}

/** Every file's path, mode, size, time and content; every object and counter of the database. */
async function snapshot(): Promise<unknown> {
  const files: unknown[] = [];
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const { mode, mtimeMs, ctimeMs, size } = await stat(path);
    const hash = entry.isFile()
      ? createHash("sha256")
          .update(await readFile(path))
          .digest("hex")
      : "";
    files.push([path, mode, mtimeMs, ctimeMs, size, hash]);
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const objects = await client.query("SELECT oid, relname, relfilenode FROM pg_class ORDER BY oid");
    const schemas = await client.query("SELECT oid, nspname FROM pg_namespace ORDER BY oid");
    // A transaction that wrote anything would have taken a number.
    const next = await client.query("SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next");
    return [files.sort(), objects.rows, schemas.rows, next.rows];
  } finally {
    await client.end();
  }
}

describe("preflight reads and never writes", () => {
  test("the bundled application with a database of its own", async () => {
    const lines = await run(`proxy: {listen: "127.0.0.1:${port}"}\ndatabase: {url: "${url}"}\n`, [process.pid]);
    expect(lines("database")[0]).toMatchObject({
      verdict: "OK",
      found: expect.stringContaining("max_connections 100"),
    });
    expect(lines("migrations")[0]?.found).toContain("0001_a.sql");
    expect(lines("port")[0]).toMatchObject({ verdict: "OK", found: expect.stringContaining("ours") });
    expect(lines("turn-budget")[0]?.verdict).toBe("OK");
    expect(lines("connections")[0]?.verdict).not.toBe("FAIL");
    expect(lines("systemd-unit")).toEqual([]);
  });

  test("a team's own services: the wrapper named with its fix, the port's holder, no question about a database", async () => {
    const lines = await run(`proxy: {listen: "127.0.0.1:${port}"}
services:
  web: {command: [npm, start], cwd: ${dir}, routes: [{path: "/"}], health: {http: /}}
`);
    expect(lines("commands")[0]).toMatchObject({ verdict: "WARN", why: expect.stringContaining("node server.js") });
    expect(lines("port")[0]).toMatchObject({ verdict: "FAIL", found: expect.stringContaining(`pid ${process.pid}`) });
    expect(lines("database")).toEqual([]);
    expect(lines("directory").find((line) => line.found.includes("/home/run"))?.verdict).toBe("FAIL");
  });

  test("a port held by a proxy that was started a moment ago, told by the home's mark alone", async () => {
    const listen =
      "require('net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })";
    const proxy = spawn(process.execPath, ["-e", listen], {
      env: { OWL_MARK: markOf(join(dir, "home")) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const [told] = (await once(proxy.stdout, "data")) as [Buffer];
      const lines = await run(`proxy: {listen: "127.0.0.1:${Number(told)}"}\n`);
      expect(lines("port")[0]).toMatchObject({ verdict: "OK", found: expect.stringContaining("ours") });
    } finally {
      proxy.kill("SIGKILL");
      await once(proxy, "exit");
    }
  });

  test("a silent database, an unanswering model, keys of an env file given twice", async () => {
    await writeFile(join(dir, "web.env"), "A=1\nA=2\nB=x # y\n");
    const lines = await run(`proxy: {listen: "127.0.0.1:${port}"}
database: {url: "postgres://nobody@/none?host=/nonexistent"}
services:
  web: {command: [node, server.js], cwd: ${dir}, envFile: ${join(dir, "web.env")}, routes: [{path: "/"}], health: {http: /}}
`);
    expect(lines("database")[0]).toMatchObject({ verdict: "FAIL", found: expect.stringContaining("ENOENT") });
    expect(lines("configuration").map((line) => line.verdict)).toEqual(["WARN", "WARN"]);
  });
});

test("systemd's times are read as it prints them", () => {
  expect(parseSystemdTime("7min")).toBe(420_000);
  expect(parseSystemdTime("1h 30min 5s")).toBe(5_405_000);
  expect(parseSystemdTime("infinity")).toBe(Number.POSITIVE_INFINITY);
  expect(parseSystemdTime("soon")).toBeNull();
});
