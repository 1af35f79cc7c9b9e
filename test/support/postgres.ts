// A throwaway PostgreSQL for tests: under /tmp, on a Unix socket, never as root, gone with the test process.
// A data directory is made once per build of PostgreSQL and copied; a database per test is copied from a template.

import { type ChildProcess, spawn } from "node:child_process";
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, escapeIdentifier } from "pg";
import { systemClock, systemRandom } from "../../config/system-time.ts";
import { type Account, chooseAccount, readAccounts } from "../../supervisor/postgres/account.ts";
import { findBinaries, hashBinaries } from "../../supervisor/postgres/binaries.ts";
import { copyPackageBinaries } from "../../supervisor/postgres/package-binaries.ts";
import { findPostmaster } from "../../supervisor/postgres/postmaster.ts";
import { PROGRAM_ENV, runProgram } from "../../supervisor/postgres/program.ts";

export interface TestPostgres {
  /** As superuser `postgres`, to the database `postgres`. No password (trust). */
  readonly adminUrl: string;
  readonly socketDir: string;
  /** URL of that database as superuser, or as another role. */
  urlOf(database: string, role?: string): string;
  /** Makes a template once by `fill(url)`; later calls of the same name wait for the first. */
  template(name: string, fill: (url: string) => Promise<void>): Promise<void>;
  /** A fresh database, empty or copied from a template; answers its URL. */
  database(template?: string): Promise<string>;
  /** Ends every session and the server, and removes its files. */
  stop(): Promise<void>;
}

/** Starts one (about 0.3 s). `settings` go on top of fast, crash-unsafe ones. Stop it in `afterAll`. */
export async function startTestPostgres(settings: Readonly<Record<string, string>> = {}): Promise<TestPostgres> {
  const account = chooseAccount({
    euid: process.geteuid?.() ?? 0,
    accounts: await readAccounts(),
    dataOwner: null,
  });
  const cache = `/tmp/owl-test-postgres-${process.geteuid?.()}`;
  await mkdir(cache, { recursive: true });
  await chmod(cache, 0o755);
  const found = await findBinaries({ configured: "auto", major: null, path: process.env.PATH ?? "" });
  const bin = found.source === "package" ? await copyPackageBinaries(found.dir, join(cache, "binaries")) : found.dir;
  const seed = await seedCluster(bin, cache, account);

  const dir = await mkdtemp("/tmp/owl-pg-");
  const data = join(dir, "data");
  await cp(seed, data, { recursive: true });
  await give(dir, account);
  const all = {
    fsync: "off",
    synchronous_commit: "off",
    full_page_writes: "off",
    listen_addresses: "",
    unix_socket_directories: dir,
    max_connections: "100",
    shared_buffers: "32MB",
    ...settings,
  };
  await writeFile(
    join(data, "postgresql.auto.conf"),
    Object.entries(all)
      .map(([name, value]) => `${name} = '${value}'\n`)
      .join(""),
  );
  const server = guard(join(bin, "postgres"), data, account);
  await ready(data, server);

  const urlOf = (database: string, role = "postgres") => `postgres://${role}@/${database}?host=${dir}`;
  const adminUrl = urlOf("postgres");
  const templates = new Map<string, Promise<void>>();
  let count = 0;

  async function create(name: string, template?: string): Promise<void> {
    const client = new Client({ connectionString: adminUrl });
    await client.connect();
    try {
      const from = template === undefined ? "" : ` TEMPLATE ${escapeIdentifier(template)}`;
      await client.query(`CREATE DATABASE ${escapeIdentifier(name)}${from}`);
    } finally {
      await client.end();
    }
  }

  return {
    adminUrl,
    socketDir: dir,
    urlOf,
    template(name, fill) {
      const making = templates.get(name) ?? create(name).then(() => fill(urlOf(name)));
      templates.set(name, making);
      return making;
    },
    async database(template) {
      const name = `test_${++count}`;
      await create(name, template);
      return urlOf(name);
    },
    async stop() {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      if (server.exitCode === null && server.signalCode === null) {
        server.stdin?.end();
        await ended;
      }
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The server under a shell that stops it when our end of its standard input closes: also when this process is killed. */
function guard(postgres: string, data: string, account: Account | null): ChildProcess {
  const script = 'exec 3<&0; "$1" -D "$2" </dev/null >"$2/../log" 2>&1 3<&- & read -r line <&3; kill -INT $!; wait $!';
  return spawn("/bin/sh", ["-c", script, "sh", postgres, data], {
    cwd: "/",
    env: { ...PROGRAM_ENV },
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
    ...(account ? { uid: account.uid, gid: account.gid } : {}),
  });
}

async function ready(data: string, server: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 1_500; tries++) {
    if ((await findPostmaster(data))?.status === "ready") return;
    if (server.exitCode !== null) break;
    await systemClock.sleep(20);
  }
  throw new Error(`The test PostgreSQL did not start; its log: ${join(data, "..", "log")}`);
}

async function seedCluster(bin: string, cache: string, account: Account | null): Promise<string> {
  const name = `seed-${(await hashBinaries(bin)).slice(0, 16)}`;
  const target = join(cache, name);
  if (await stat(target).catch(() => null)) return target;
  const fresh = await mkdtemp(join(cache, "new-"));
  await give(fresh, account);
  const data = join(fresh, "data");
  const args = ["-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"];
  const { ok, output } = await runProgram(join(bin, "initdb"), args, { account });
  if (!ok) throw new Error(`initdb failed: ${output}`);
  await rename(data, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
  });
  await rm(fresh, { recursive: true, force: true });
  return target;
}

/** cp keeps modes, not owners: everything under `dir` becomes the account's. */
async function give(dir: string, account: Account | null): Promise<void> {
  if (!account) return;
  await chown(dir, account.uid, account.gid);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await give(path, account);
    else await chown(path, account.uid, account.gid);
  }
}

/** A token for names in tests that share a server. */
export function testToken(): string {
  return systemRandom.token(6).replace(/[^a-z0-9]/gi, "x");
}
