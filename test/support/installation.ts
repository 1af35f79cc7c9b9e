// The bundled application as an operator has it: real owld, PostgreSQL, web and workers in a home of their own. owld is
// started again on `current` when it exits with 75, as systemd or npm start would.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import type { Rollout, Status } from "../../config/control-api.ts";
import { systemClock } from "../../config/system-time.ts";
import type { UpdateCourse } from "../../supervisor/core/update-course.ts";
import { markOf } from "../../supervisor/instance-launch.ts";
import type { MarkedProcess } from "../../supervisor/ports.ts";
import { freePort } from "../../supervisor/process/free-port.ts";
import { createProcessTable } from "../../supervisor/process/group-signal.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
/** Bound on anything an installation is waited for. */
export const BOUND_MS = 240_000;
const table = createProcessTable();

export interface Installation {
  readonly home: string;
  readonly port: number;
  start(): void;
  status(): Promise<Status>;
  until(holds: (status: Status) => boolean): Promise<Status>;
  ctl(...args: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
  /** SIGKILL, and its end awaited. */
  killOwld(): Promise<void>;
  rollouts(): Promise<readonly Rollout[]>;
  /** The update on record in the state file, read from outside. */
  course(): UpdateCourse | null;
  /** Pids of the database servers (not of their children) on this home's data directory. */
  postmasters(): readonly number[];
  /** Processes that carry this home's mark. */
  marked(): readonly MarkedProcess[];
  query(sql: string): Promise<readonly Record<string, unknown>[]>;
  log(): string;
  stop(): Promise<void>;
}

export interface InstallationWanted {
  /** More of owl.yaml. */
  readonly yaml?: string;
  /** A team's own PostgreSQL; default: the managed one. */
  readonly databaseUrl?: string;
}

/** The first answer that is not null, looked for until the tests' bound. */
export async function found<T>(look: () => Promise<T | null>, why: () => string): Promise<T> {
  for (let count = 0; count < BOUND_MS / 100; count++) {
    const seen = await look();
    if (seen !== null) return seen;
    await systemClock.sleep(50);
  }
  throw new Error(`It did not come about: ${why()}`);
}

/** Installs and starts one; answers when it is steady. Stop it whatever the test did. */
export async function install(wanted: InstallationWanted = {}): Promise<Installation> {
  const home = mkdtempSync(join(tmpdir(), "owl-update-"));
  chmodSync(home, 0o755);
  const port = await freePort();
  const config = join(home, "owl.yaml");
  const database = wanted.databaseUrl === undefined ? "" : `database: {url: "${wanted.databaseUrl}"}\n`;
  writeFileSync(
    config,
    `proxy: {listen: "127.0.0.1:${port}"}\nstop: {grace: 8s}\nturn: {finish: 3s, wrapUp: 2s}\nrollout: {confirm: 1s, healthTimeout: 60s}\nweb: {replicas: 1}\nworker: {replicas: 1}\n${database}${wanted.yaml ?? ""}`,
  );
  const env = { PATH: process.env.PATH ?? "", HOME: home, OWL_HOME: home, OWL_ADMIN_PASSWORD: "correct horse battery" };
  let child: ChildProcess | null = null;
  let stopping = false;
  const start = (): void => {
    const link = join(home, "current/supervisor/owld");
    const log = openSync(join(home, "owld.log"), "a");
    const started = spawn(existsSync(link) ? link : join(ROOT, "supervisor/owld"), ["--config", config], {
      env,
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    child = started;
    started.on("exit", (code) => {
      if (code === 75 && !stopping) start();
    });
  };
  const ctl: Installation["ctl"] = (...args) =>
    new Promise((resolve) => {
      execFile(join(ROOT, "ctl/owlctl"), args, { env, maxBuffer: 1 << 26 }, (error, out, err) =>
        resolve({ code: typeof error?.code === "number" ? error.code : error ? 128 : 0, out, err }),
      );
    });
  const status = async (): Promise<Status> => JSON.parse((await ctl("status", "--json")).out) as Status;
  const log = (): string => readFileSync(join(home, "owld.log"), "utf8");
  const one: Installation = {
    home,
    port,
    start,
    ctl,
    status,
    log,
    until: (holds) =>
      found(
        async () => {
          const seen = await status().catch(() => null);
          return seen !== null && holds(seen) ? seen : null;
        },
        () => log().slice(-2_000),
      ),
    async killOwld() {
      const dying = child;
      if (dying === null || dying.exitCode !== null || dying.signalCode !== null) return;
      const gone = new Promise((resolve) => dying.once("exit", resolve));
      dying.kill("SIGKILL");
      await gone;
    },
    rollouts: async () => JSON.parse((await ctl("rollout", "list", "--json")).out) as readonly Rollout[],
    course() {
      const file = new DatabaseSync(join(home, "state/owl.sqlite"), { readOnly: true });
      try {
        const row = file.prepare("SELECT doc FROM fact WHERE name = 'update'").get();
        return row === undefined ? null : (JSON.parse(String(row.doc)) as UpdateCourse);
      } finally {
        file.close();
      }
    },
    postmasters: () => postmastersOn(join(home, "postgres/data")),
    marked: () => table.marked(markOf(home)),
    query: (sql) => ask(wanted.databaseUrl ?? managedUrl(home), sql),
    async stop() {
      stopping = true;
      child?.kill("SIGTERM");
      await found(
        async () => (one.marked().length === 0 && one.postmasters().length === 0 ? true : null),
        () => "processes are left",
      );
      rmSync(home, { recursive: true, force: true });
    },
  };
  start();
  await one
    .until(({ state }) => state === "steady")
    .catch(async (error: unknown) => {
      await one.stop();
      throw error;
    });
  return one;
}

/** Every release that some instance of it runs from. */
export const releasesOf = ({ services }: Status): string[] => [
  ...new Set(services.flatMap(({ instances }) => instances.map(({ release }) => release))),
];

function postmastersOn(data: string): readonly number[] {
  const servers = readdirSync("/proc").flatMap((name) => {
    const pid = Number(name);
    if (!Number.isSafeInteger(pid)) return [];
    try {
      if (readlinkSync(`/proc/${pid}/cwd`) !== data || !/\/postgres/.test(readlinkSync(`/proc/${pid}/exe`))) return [];
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state === "Z" ? [] : [{ pid, parent: Number(parent) }];
    } catch {
      // Gone meanwhile.
      return [];
    }
  });
  return servers.filter(({ parent }) => !servers.some(({ pid }) => pid === parent)).map(({ pid }) => pid);
}

function managedUrl(home: string): string {
  const password = readFileSync(join(home, "postgres/owl-password"), "utf8").trim();
  const conf = readFileSync(join(home, "postgres/conf/postgresql.conf"), "utf8");
  const socket = /^unix_socket_directories = '(.*)'$/m.exec(conf)?.[1] ?? "";
  return `postgres://owl:${encodeURIComponent(password)}@/owl?host=${encodeURIComponent(socket)}`;
}

async function ask(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}
