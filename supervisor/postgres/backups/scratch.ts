// The scratch home of a drill, `OWL_HOME/drill-*`: taken, started apart, thrown away.
// Invariants: one drill at a time in a home; an owld started in a scratch home ends with the drill, killed or not; what
// a killed drill left besides (files, a database server) goes with the next look.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { OwlError } from "../../../config/errors.ts";
import { type HomePaths, homePaths } from "../../../config/home.ts";
import { inheritedEnv } from "../../../config/instance-env.ts";
import { CODE_ROOT } from "../../../config/load.ts";
import type { Clock } from "../../../config/time.ts";
import { Refusal } from "../../core/text/refusal.ts";
import { markOf } from "../../instances/launch.ts";
import { createProcessTable } from "../../process/group-signal.ts";
import { lockData } from "../data-lock.ts";
import { recordedDirectory } from "../place.ts";
import { findPostmaster, stopPostmaster } from "../postmaster.ts";
import { lastLines } from "../program.ts";

const STOP_MS = 60_000;
const LOOK_MS = 100;
const CONFIG = "drill.yaml";
// SIGTERM to owld, which this shell becomes, once our end of the pipe is closed, however that came about.
const ENDS_WITH_US = `exec 3<&0 </dev/null
(cat <&3 >/dev/null; read -r _ _ _ parent _ </proc/self/stat; [ "$parent" = $$ ] && kill -TERM $$) 2>/dev/null &
exec "$0" "$@" 3<&-`;

export interface Scratch {
  readonly home: string;
  /** Starts owld in it, without a worker, for as long as `look` takes. Throws `backup.notUp`. */
  whileUp<T>(port: number, look: () => Promise<T>): Promise<T>;
  throwAway(): Promise<void>;
}

/** Throws `backup.drillRuns`. */
export async function takeScratch(paths: HomePaths, clock: Clock): Promise<Scratch> {
  await mkdir(paths.home, { recursive: true, mode: 0o711 });
  const unlock = await lock(paths);
  await throwAwayLeft(paths, clock);
  const home = await mkdtemp(join(paths.home, "drill-"));
  return {
    home,
    whileUp: (port, look) => whileUp(home, port, clock, look),
    async throwAway() {
      await throwAway(home, clock).finally(unlock);
    },
  };
}

/** What a killed drill left goes; one that runs is left alone. */
export async function clearScratch(paths: HomePaths, clock: Clock): Promise<void> {
  if ((await scratchHomes(paths)).length === 0) return;
  const unlock = await lock(paths).catch(() => null);
  if (unlock !== null) await throwAwayLeft(paths, clock).finally(unlock);
}

async function lock(paths: HomePaths): Promise<() => void> {
  const drills = join(paths.home, "drills");
  await mkdir(drills, { recursive: true, mode: 0o750 });
  return await lockData(join(drills, "running.sqlite")).catch((error: unknown) => {
    if ((error as OwlError).code !== "postgres.locked") throw error;
    throw new Refusal("backup.drillRuns", ({ refused }) => refused.backup.drillRuns());
  });
}

async function scratchHomes({ home }: HomePaths): Promise<readonly string[]> {
  return (await readdir(home).catch(() => [])).filter((name) => name.startsWith("drill-"));
}

async function throwAwayLeft(paths: HomePaths, clock: Clock): Promise<void> {
  for (const left of await scratchHomes(paths)) await throwAway(join(paths.home, left), clock);
}

async function whileUp<T>(home: string, port: number, clock: Clock, look: () => Promise<T>): Promise<T> {
  const config = join(home, CONFIG);
  await writeFile(config, `proxy: {listen: "127.0.0.1:${port}"}\nweb: {replicas: 1}\nworker: {replicas: 0}\n`);
  const owld = join(CODE_ROOT, "supervisor/owld");
  const child = spawn("/bin/sh", ["-c", ENDS_WITH_US, owld, "--config", config], {
    cwd: home,
    env: { ...inheritedEnv(process.env), OWL_HOME: home },
    stdio: ["pipe", "ignore", "pipe"],
  });
  child.stdin.on("error", () => undefined);
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-4_000);
  });
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => undefined);
  child.once("error", over.reject);
  void gone.then(() =>
    over.reject(new Refusal("backup.notUp", ({ refused }) => refused.backup.notUp(lastLines(said)))),
  );
  try {
    return await Promise.race([look(), over.promise]);
  } finally {
    child.kill("SIGTERM");
    const cancel = clock.after(STOP_MS, () => child.kill("SIGKILL"), { unref: true });
    await gone;
    cancel();
  }
}

/** Whatever runs in it, then its files, and those of its database that lie elsewhere. */
async function throwAway(home: string, clock: Clock): Promise<void> {
  await endOwld(home, clock);
  const { postgres } = homePaths(home);
  const place = await recordedDirectory(postgres).catch(() => postgres);
  const server = await findPostmaster(join(place, "data"));
  if (server !== null) await stopPostmaster(join(place, "data"), server, clock);
  if (dirname(place) !== home && existsSync(join(postgres, "place.json"))) {
    const { socketDir } = JSON.parse(await readFile(join(postgres, "place.json"), "utf8")) as {
      readonly socketDir: string;
    };
    for (const path of [place, socketDir])
      if (!path.startsWith(`${home}/`)) await rm(path, { recursive: true, force: true });
  }
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
}

/** An owld whose drill and whose shell were killed at once, and what it had started. */
async function endOwld(home: string, clock: Clock): Promise<void> {
  const table = createProcessTable();
  const pid = Number((await readFile(join(homePaths(home).state, "owld.pid"), "utf8").catch(() => "")).trim());
  const owld = pid > 1 ? table.identify(pid) : null;
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  if (owld !== null && command.split("\0").includes(join(home, CONFIG))) {
    table.signalLeader(owld, "SIGTERM");
    const fromMs = clock.monotonicMs();
    while (table.isAlive(owld)) {
      if (clock.monotonicMs() - fromMs > STOP_MS) table.signalLeader(owld, "SIGKILL");
      await clock.sleep(LOOK_MS);
    }
  }
  for (const { identity, leader } of table.marked(markOf(home))) if (leader) table.killGroup(identity);
}
