// A whole Owl for release tests: real owld, PostgreSQL, web and workers in a home of its own. owld is started again on
// `current` when it exits with 75, as systemd or npm start would. `stop` waits until nothing of it is left.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Rollout, Status } from "../../config/control-api.ts";
import { systemClock } from "../../config/system-time.ts";
import { markOf } from "../../supervisor/instances/launch.ts";
import { DATABASE, OWNER_ROLE, socketUrl } from "../../supervisor/postgres/roles.ts";
import { createProcessTable } from "../../supervisor/process/group-signal.ts";
import { COMPILED, shareCode } from "./code-cache.ts";
import { PASSWORD } from "./services.ts";
import { steadyPort } from "./steady-port.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const BOUND_MS = 240_000;
const table = createProcessTable();

export interface Installation {
  readonly home: string;
  readonly port: number;
  start(): void;
  status(): Promise<Status>;
  until(holds: (status: Status) => boolean): Promise<Status>;
  ctl(...args: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
  killOwld(): Promise<void>;
  rollouts(): Promise<readonly Rollout[]>;
  stop(): Promise<void>;
}

/** The first answer that is not null, looked for within a wide bound. */
export async function found<T>(look: () => Promise<T | null>, why: () => string): Promise<T> {
  for (let count = 0; count < BOUND_MS / 100; count++) {
    const seen = await look();
    if (seen !== null) return seen;
    await systemClock.sleep(50);
  }
  throw new Error(`It did not come about: ${why()}`);
}

export interface InstallationWanted {
  /** Lines of owl.yaml below `proxy.listen`, given the home. */
  readonly yaml?: (home: string) => string;
  /** Before the first start: a mount, for one. */
  readonly prepare?: (home: string) => void;
  /** After everything has stopped, before the home is removed. */
  readonly release?: (home: string) => void;
  /** PATH of owld and all it starts; absent: our own. */
  readonly path?: string;
}

/** What its owl.yaml says unless the test wants something else. */
export const INSTALLATION_YAML =
  "stop: {grace: 8s}\nturn: {finish: 3s, wrapUp: 2s}\nrollout: {confirm: 1s, healthTimeout: 60s}\nweb: {replicas: 1}\nworker: {replicas: 1}\n";

/** Starts one and waits until it is steady. The caller stops it, also after a failure. */
export async function startInstallation(wanted: InstallationWanted = {}): Promise<Installation> {
  const home = mkdtempSync(join(tmpdir(), "owl-update-"));
  chmodSync(home, 0o755);
  wanted.prepare?.(home);
  shareCode(home);
  const port = await steadyPort();
  const config = join(home, "owl.yaml");
  writeFileSync(config, `proxy: {listen: "127.0.0.1:${port}"}\n${wanted.yaml?.(home) ?? INSTALLATION_YAML}`);
  const env = {
    PATH: wanted.path ?? process.env.PATH ?? "",
    HOME: home,
    OWL_HOME: home,
    OWL_ADMIN_PASSWORD: PASSWORD,
    OWL_LANG: "en",
    ...COMPILED,
  };
  let child: ChildProcess | null = null;
  let stopping = false;
  const start = (): void => {
    const link = join(home, "current/supervisor/owld");
    const log = openSync(join(home, "owld.log"), "a");
    const program = existsSync(link) ? link : join(ROOT, "supervisor/owld");
    const started = spawn(program, ["--config", config], { env, stdio: ["ignore", log, log] });
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
  const one: Installation = {
    home,
    port,
    start,
    ctl,
    status,
    until: (holds) =>
      found(
        async () => {
          const seen = await status().catch(() => null);
          return seen !== null && holds(seen) ? seen : null;
        },
        () => readFileSync(join(home, "owld.log"), "utf8").slice(-2_000),
      ),
    async killOwld() {
      const dying = child;
      // It may just have left by itself, to start again on another release.
      if (dying === null || dying.exitCode !== null || dying.signalCode !== null) return;
      const gone = new Promise((resolve) => dying.once("exit", resolve));
      dying.kill("SIGKILL");
      await gone;
    },
    rollouts: async () => JSON.parse((await ctl("rollout", "list", "--json")).out) as readonly Rollout[],
    async stop() {
      stopping = true;
      const leaving = child;
      leaving?.kill("SIGTERM");
      const mark = markOf(home);
      // owld last, which carries no mark: it still stops PostgreSQL when its instances are gone.
      const isOver = (): boolean => leaving === null || leaving.exitCode !== null || leaving.signalCode !== null;
      await found(
        async () => (isOver() && table.marked(mark).length === 0 ? true : null),
        () => "processes are left",
      );
      wanted.release?.(home);
      rmSync(home, { recursive: true, force: true });
    },
  };
  try {
    start();
    await one.until(({ state }) => state === "steady");
  } catch (error) {
    await one.stop();
    throw error;
  }
  return one;
}

/** The URL of its managed metastore. */
export function metastoreUrl(home: string): string {
  const base = join(home, "postgres");
  const record = join(base, "place.json");
  const { socketDir } = existsSync(record)
    ? (JSON.parse(readFileSync(record, "utf8")) as { socketDir: string })
    : { socketDir: join(base, "run") };
  const password = readFileSync(join(base, "owl-password"), "utf8").trim();
  return socketUrl({ user: OWNER_ROLE, password, database: DATABASE, socketDir, port: 5432 });
}

/** The releases its instances run from, each once. */
export const releasesOf = ({ services }: Status): string[] => [
  ...new Set(services.flatMap(({ instances }) => instances.map(({ release }) => release))),
];

/** The pids of its instances. */
export const pidsOf = ({ services }: Status): (number | null)[] =>
  services.flatMap(({ instances }) => instances.map(({ pid }) => pid));

/** A page through the proxy, again and again until stopped; what was no 200 is kept. */
export function visitor(port: number): { stop(): Promise<readonly (number | string)[]> } {
  const bad: (number | string)[] = [];
  let isOn = true;
  const visit = (): Promise<void> =>
    new Promise((resolve) => {
      const asked = request({ host: "127.0.0.1", port, path: "/", agent: false }, (response) => {
        if (response.statusCode !== 200) bad.push(response.statusCode ?? 0);
        response.resume();
        response.on("close", resolve);
      });
      asked.on("error", (error) => {
        bad.push(error.message);
        resolve();
      });
      asked.end();
    });
  const visits = (async () => {
    while (isOn) await visit();
  })();
  return {
    async stop() {
      isOn = false;
      await visits;
      return bad;
    },
  };
}
