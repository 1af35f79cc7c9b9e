import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PostgresConfig } from "../../../../config/config.ts";
import { systemClock, systemRandom } from "../../../../config/system-time.ts";
import { packageNative } from "../../../../supervisor/postgres/binaries.ts";
import {
  createManagedPostgres,
  type ManagedDeps,
  type ManagedPostgres,
} from "../../../../supervisor/postgres/managed.ts";
import { findPostmaster } from "../../../../supervisor/postgres/postmaster.ts";

const root = process.geteuid?.() === 0;
let home: string;
let base: string;
let opened: ManagedPostgres[];

beforeEach(async () => {
  home = await mkdtemp("/tmp/owl-managed-");
  await chmod(home, 0o755);
  base = join(home, "postgres");
  opened = [];
});

afterEach(async () => {
  for (const one of opened) await one.stop();
  for (const left of await findServersUnder(home)) process.kill(left, "SIGINT");
  await rm(home, { recursive: true, force: true });
});

function managed(
  options: { config?: Partial<PostgresConfig>; facts?: ManagedDeps["facts"]; at?: string; path?: string } = {},
) {
  const settings = { shared_buffers: "16MB", ...options.config?.settings };
  const one = createManagedPostgres({
    clock: systemClock,
    random: systemRandom,
    config: { maxConnections: 50, binaries: "auto", ...options.config, settings },
    base: options.at ?? base,
    logFile: join(home, "postgres.log"),
    path: options.path ?? process.env.PATH ?? "",
    ...(options.facts ? { facts: options.facts } : {}),
  });
  opened.push(one);
  return one;
}

async function start(one: ManagedPostgres) {
  const said: string[] = [];
  const server = await one.start((message) => said.push(message), new AbortController().signal);
  return { ...server, said };
}

async function query<Row>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows as Row[];
  } finally {
    await client.end();
  }
}

async function until<T>(what: string, look: () => Promise<T | null | undefined | false>): Promise<T> {
  for (let tries = 0; tries < 1_500; tries++) {
    const found = await look();
    if (found) return found;
    await systemClock.sleep(20);
  }
  throw new Error(`did not happen: ${what}`);
}

async function findServersUnder(dir: string): Promise<number[]> {
  const data = [join(dir, "postgres", "data")];
  const found = await Promise.all(data.map((one) => findPostmaster(one)));
  return found.flatMap((one) => (one ? [one.pid] : []));
}

async function uidOf(pid: number): Promise<number> {
  return Number(/^Uid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]);
}

describe("a first start", () => {
  test("runs never as root, on a socket only, with generated passwords that only owld can read", async () => {
    const server = await start(managed());
    expect(server.outcome).toBe("started");
    expect(await uidOf(server.postmaster.pid)).not.toBe(0);
    for (const file of ["owl-password", "admin-password"]) {
      expect((await stat(join(base, file))).mode & 0o777).toBe(0o600);
    }
    const [row] = await query<Record<string, unknown>>(
      server.url,
      `SELECT current_user AS who, rolsuper AS super, current_setting('listen_addresses') AS tcp,
         current_setting('max_connections') AS max, pg_encoding_to_char(encoding) AS encoding,
         current_setting('data_checksums') AS checksums
       FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()`,
    );
    expect(row).toEqual({ who: "owl", super: false, tcp: "", max: "50", encoding: "UTF8", checksums: "on" });
    const wrong = server.url.replace(/:[^:@]+@/, ":wrong@");
    await expect(query(wrong, "SELECT 1")).rejects.toThrow(/password/);
    const command = await readFile(`/proc/${server.postmaster.pid}/cmdline`, "utf8");
    expect(command).not.toContain((await readFile(join(base, "owl-password"), "utf8")).trim());
  });

  test("uses the npm package's programs where the system has none, its missing library links restored", async () => {
    const native = join(home, "native");
    await cp(packageNative() ?? "", native, { recursive: true, verbatimSymlinks: true });
    for (const name of await readdir(join(native, "lib"))) {
      if (/^lib(pq|icu\w+)\.so(\.\d+)?$/.test(name)) await rm(join(native, "lib", name));
    }
    await writeFile(join(home, "package.json"), JSON.stringify({ version: "18.4.0" }));
    const server = await start(managed({ path: "", facts: { systemRoots: [], packageNative: native } }));
    expect(server.binaries).toMatchObject({ source: "package", major: 18 });
    expect(server.binaries.dir.startsWith(server.place.dir)).toBe(true);
    expect(await query(server.url, "SELECT lower('ÄÖ가') AS low")).toEqual([{ low: "äö가" }]);
  });

  test("goes where the account can enter when it cannot enter the home, and says so", async () => {
    const shut = join(home, "shut");
    const elsewhere = join(home, "elsewhere");
    await mkdir(join(shut, ".owl"), { recursive: true });
    await mkdir(elsewhere);
    await chmod(shut, 0o700);
    const at = join(shut, ".owl", "postgres");
    const facts = { elsewhere: [elsewhere] };
    const server = await start(managed({ at, facts }));
    // As an ordinary user PostgreSQL runs as that user, who can enter.
    expect(server.place.dir.startsWith(root ? elsewhere : at)).toBe(true);
    expect(server.said.some((line) => line.startsWith("The database is in"))).toBe(root);
    await opened[0]?.stop();
    const again = await start(managed({ at, facts: { elsewhere: [] } }));
    expect(again.place).toEqual(server.place);
    expect(again.said.some((line) => line.startsWith("Creating"))).toBe(false);
  });

  test("puts the socket at a short path when the home's would be longer than 107 bytes", async () => {
    const at = join(home, "a".repeat(50), "b".repeat(60), "postgres");
    await mkdir(dirname(at), { recursive: true });
    const server = await start(managed({ at, facts: { shortRoots: [home] } }));
    expect(Buffer.byteLength(join(server.place.socketDir, ".s.PGSQL.5432"))).toBeLessThanOrEqual(107);
    expect(await query(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });
});

describe("a later start", () => {
  test("adopts the server that outlived the owld before", async () => {
    const first = managed();
    const before = await start(first);
    first.letGo();
    const after = await start(managed());
    expect(after.outcome).toBe("adopted");
    expect(after.postmaster).toEqual(before.postmaster);
  });

  test("restarts for a changed setting, with the data kept", async () => {
    const first = managed();
    const before = await start(first);
    await query(before.url, "CREATE TABLE kept AS SELECT 7 AS n");
    first.letGo();
    const after = await start(managed({ config: { maxConnections: 60 } }));
    expect(after.outcome).toBe("restarted");
    expect(await query(after.url, "SELECT n, current_setting('max_connections') AS max FROM kept")).toEqual([
      { n: 7, max: "60" },
    ]);
  });

  test("does not touch a running server for settings that PostgreSQL would refuse", async () => {
    const first = managed();
    const before = await start(first);
    first.letGo();
    const bad = managed({ config: { settings: { work_mem: "plenty" } } });
    await expect(start(bad)).rejects.toMatchObject({
      code: "postgres.setting",
      message: expect.stringContaining("work_mem"),
    });
    bad.letGo();
    expect((await start(managed())).postmaster).toEqual(before.postmaster);
  });

  test("does not restart for programs at another path or with another date, but for others", async () => {
    const native = packageNative() ?? "";
    const [a, b] = [join(home, "a"), join(home, "b")];
    for (const copy of [a, b]) await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    const first = managed({ config: { binaries: join(a, "bin") } });
    const before = await start(first);
    first.letGo();

    const moved = managed({ config: { binaries: join(b, "bin") } });
    expect((await start(moved)).postmaster).toEqual(before.postmaster);
    moved.letGo();

    await utimes(join(b, "bin", "postgres"), new Date(0), new Date(0));
    const touched = managed({ config: { binaries: join(b, "bin") } });
    expect((await start(touched)).postmaster).toEqual(before.postmaster);
    touched.letGo();

    // A byte after the program's end is another build to us and nothing to the kernel.
    await writeFile(join(b, "bin", "postgres"), "x", { flag: "a" });
    const changed = await start(managed({ config: { binaries: join(b, "bin") } }));
    expect(changed.outcome).toBe("restarted");
  });

  test("refuses programs of another major version and names what the data needs", async () => {
    const one = managed();
    await start(one);
    await one.stop();
    await writeFile(join(base, "data", "PG_VERSION"), "12\n");
    await expect(start(managed())).rejects.toMatchObject({ code: "postgres.noBinaries", message: /version 12/ });
  });

  test("is refused while another owld works on the same data", async () => {
    await start(managed());
    await expect(start(managed())).rejects.toMatchObject({ code: "postgres.locked" });
  });
});

describe("after a crash", () => {
  test("a postmaster killed with its children alive is recovered, committed data kept", async () => {
    const one = managed();
    const before = await start(one);
    await query(before.url, "CREATE TABLE kept AS SELECT 7 AS n");
    const busy = new Client({ connectionString: before.url });
    busy.on("error", () => undefined);
    await busy.connect();
    const [backend] = (await busy.query("SELECT pg_backend_pid() AS pid")).rows as { pid: number }[];
    // A stopped backend cannot notice that its postmaster is gone: it keeps the shared memory.
    process.kill(backend?.pid ?? 0, "SIGSTOP");
    process.kill(before.postmaster.pid, "SIGKILL");
    await until("postmaster gone", async () => (await one.living()) === null);
    expect(await readFile(join(base, "data", "postmaster.pid"), "utf8")).toContain(String(before.postmaster.pid));
    const after = await start(one);
    expect(after.outcome).toBe("started");
    expect(await query(after.url, "SELECT n FROM kept")).toEqual([{ n: 7 }]);
    await busy.end().catch(() => undefined);
  });

  test("a stale postmaster.pid that names a stranger's pid is no obstacle, and the stranger is left alone", async () => {
    const one = managed();
    const server = await start(one);
    await one.stop();
    const owner = await stat(join(base, "data"));
    const as = root ? { uid: owner.uid, gid: owner.gid } : {};
    const stranger = spawn("/bin/sleep", ["600"], { cwd: "/", stdio: "ignore", ...as });
    try {
      const file = join(base, "data", "postmaster.pid");
      const lines = [stranger.pid, server.place.data, 1_700_000_000, 5432, server.place.socketDir, "", "", "ready   "];
      await writeFile(file, `${lines.join("\n")}\n`, { mode: 0o600 });
      await chown(file, owner.uid, owner.gid);
      expect((await start(managed())).outcome).toBe("started");
      expect(stranger.exitCode).toBeNull();
    } finally {
      stranger.kill("SIGKILL");
      await once(stranger, "exit");
    }
  });

  test("an owld killed during initdb leaves nothing the next start trips over", async () => {
    const owld = program();
    await until("initdb has begun", async () => (await entries(base)).some((name) => name.startsWith("data.new-")));
    await kill(owld);
    const server = await start(managed());
    expect(await query(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    expect((await entries(base)).filter((name) => name.startsWith("data.new-"))).toEqual([]);
  });

  test("an owld killed during the first start leaves one server, which the next one takes", async () => {
    const owld = program();
    await until("a postmaster", async () => (await entries(join(base, "data"))).includes("postmaster.pid"));
    await kill(owld);
    const server = await start(managed());
    expect(await query(server.url, "SELECT current_user AS who")).toEqual([{ who: "owl" }]);
    expect((await findPostmaster(server.place.data))?.pid).toBe(server.postmaster.pid);
  });
});

describe("stopping", () => {
  test("ends sessions and the server, tolerates being asked twice and before a start", async () => {
    const one = managed();
    await one.stop();
    const server = await start(one);
    const session = new Client({ connectionString: server.url });
    session.on("error", () => undefined);
    await session.connect();
    await one.stop();
    await one.stop();
    expect(await findPostmaster(server.place.data)).toBeNull();
    expect(await readFile(join(home, "postgres.log"), "utf8")).toContain("database system is shut down");
    await session.end().catch(() => undefined);
  });
});

function program(): ChildProcess {
  const file = new URL("../../../support/programs/start-postgres.ts", import.meta.url).pathname;
  return spawn(process.execPath, [file, base], { stdio: ["ignore", "ignore", "inherit"] });
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

async function entries(dir: string): Promise<string[]> {
  return readdir(dir).catch(() => []);
}
