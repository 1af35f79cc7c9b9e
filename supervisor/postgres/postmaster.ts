// The postmaster as a process: found by postmaster.pid and /proc, started detached, stopped fast and never by SIGKILL.
// Invariant: nothing is signalled whose program and working directory are not this data directory's server.

import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readdir, readFile, readlink, realpath, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { OwlError } from "../../config/errors.ts";
import type { Clock, WallMs } from "../../config/time.ts";
import { dropPrivileges } from "../process/user-switch.ts";
import type { Account } from "./account.ts";
import { PROGRAM_ENV } from "./program.ts";

export interface Postmaster {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat: with the pid it names one process of this boot. */
  readonly startTicks: string;
  /** What it was started with; null for one started by hand. */
  readonly fingerprint: string | null;
  readonly startedAt: WallMs;
  /** `replaying`: another server's log, and nobody may connect. */
  readonly status: "starting" | "replaying" | "ready" | "stopping";
}

interface StartPostmaster {
  readonly postgres: string;
  readonly data: string;
  readonly conf: string;
  readonly logFile: string;
  readonly account: Account | null;
  readonly fingerprint: string;
}

const STATUS = { starting: "starting", ready: "ready", standby: "replaying", stopping: "stopping" } as const;

/** The living server of this data directory, or null. A stale postmaster.pid (crash, reboot, recycled pid) is null. */
export async function findPostmaster(data: string): Promise<Postmaster | null> {
  const lines = (await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid < 2) return null;
  const startTicks = await startTicksOf(pid);
  if (startTicks === null || !(await servesData(pid, data))) return null;
  const status = STATUS[(lines[7] ?? "").trim() as keyof typeof STATUS] ?? "starting";
  const command = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
  const mark = command.find((arg) => arg.startsWith(FINGERPRINT));
  return {
    pid,
    startTicks,
    fingerprint: mark?.slice(FINGERPRINT.length) ?? null,
    startedAt: Number(lines[2]) * 1_000,
    status,
  };
}

// A custom setting on the command line: whoever adopts the server later reads it there, with no file to fall out of step.
const FINGERPRINT = "owl.fingerprint=";

/** Starts a server in a session of its own. Answers its pid and a promise of its exit. Throws `postgres.start`. */
export async function startPostmaster(
  start: StartPostmaster,
): Promise<{ pid: number; exited: Promise<number | null> }> {
  const log = openSync(start.logFile, "a", 0o640);
  try {
    const args = ["-D", start.data, `--config-file=${join(start.conf, "postgresql.conf")}`];
    const argv = dropPrivileges([start.postgres, ...args, "-c", `${FINGERPRINT}${start.fingerprint}`]);
    const child = spawn(argv[0], argv.slice(1), {
      cwd: "/",
      env: { ...PROGRAM_ENV },
      detached: true,
      stdio: ["ignore", log, log],
      ...(start.account ? { uid: start.account.uid, gid: start.account.gid } : {}),
    });
    const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    child.unref();
    return { pid: child.pid ?? 0, exited };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OwlError("postgres.start", `PostgreSQL could not be started: ${reason}.`, { cause: error });
  } finally {
    closeSync(log);
  }
}

/**
 * Stops a server: SIGINT ends its sessions and writes a checkpoint, SIGQUIT leaves recovery to the next start.
 * Resolves when it is gone; throws `postgres.stop` when it outlived both.
 */
export async function stopPostmaster(
  data: string,
  server: Pick<Postmaster, "pid" | "startTicks">,
  clock: Clock,
  bounds: { readonly fastMs: number; readonly quitMs: number } = { fastMs: 60_000, quitMs: 30_000 },
): Promise<"fast" | "quit" | "gone"> {
  if (!(await signalServer(data, server, "SIGINT"))) return "gone";
  // A stopped (SIGSTOP) server hears the rest only after it is woken.
  await signalServer(data, server, "SIGCONT");
  if (await waitGone(server, clock, bounds.fastMs)) return "fast";
  await signalServer(data, server, "SIGQUIT");
  if (await waitGone(server, clock, bounds.quitMs)) return "quit";
  throw new OwlError("postgres.stop", `PostgreSQL (pid ${server.pid}) did not end by SIGINT, nor by SIGQUIT.`, {
    next: "It is never killed by Owl: look at its log, postgres.log, and at the disk.",
  });
}

/**
 * Ends what a crashed server left: children that still hold its shared memory (SIGQUIT, then waiting at most
 * `boundMs`), then a stale postmaster.pid. Does nothing while a server lives. Throws `postgres.leftovers`.
 */
export async function clearCrashed(data: string, clock: Clock, boundMs = 20_000): Promise<void> {
  if (await findPostmaster(data)) return;
  const startedMs = clock.monotonicMs();
  for (;;) {
    const left = await processesOf(data);
    if (left.length === 0) break;
    if (clock.monotonicMs() - startedMs > boundMs) {
      throw new OwlError("postgres.leftovers", `Processes of a crashed PostgreSQL do not end: ${left.join(", ")}.`, {
        next: `Look at them (ps -fp ${left.join(",")}), end them, and start Owl again.`,
      });
    }
    for (const pid of left) {
      signal(pid, "SIGQUIT");
      signal(pid, "SIGCONT");
    }
    await clock.sleep(50);
  }
  await rm(join(data, "postmaster.pid"), { force: true });
}

/** The start time of `pid`, or null when there is none or it is a zombie. */
async function startTicksOf(pid: number): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
}

async function signalServer(
  data: string,
  server: Pick<Postmaster, "pid" | "startTicks">,
  name: NodeJS.Signals,
): Promise<boolean> {
  const same = (await startTicksOf(server.pid)) === server.startTicks && (await servesData(server.pid, data));
  return same && signal(server.pid, name);
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

async function waitGone(
  server: Pick<Postmaster, "pid" | "startTicks">,
  clock: Clock,
  boundMs: number,
): Promise<boolean> {
  const startedMs = clock.monotonicMs();
  while ((await startTicksOf(server.pid)) === server.startTicks) {
    if (clock.monotonicMs() - startedMs > boundMs) return false;
    await clock.sleep(20);
  }
  return true;
}

/** Every process whose program is `postgres` and whose working directory is the data directory. */
async function processesOf(data: string): Promise<readonly number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const ours: number[] = [];
  for (const pid of pids) {
    if ((await servesData(pid, data)) && (await startTicksOf(pid)) !== null) ours.push(pid);
  }
  return ours;
}

async function servesData(pid: number, data: string): Promise<boolean> {
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  if (cwd === null || cwd !== (await realpath(data).catch(() => null))) return false;
  const program = await readlink(`/proc/${pid}/exe`).catch(() => "");
  return basename(program).replace(/ \(deleted\)$/, "") === "postgres";
}
