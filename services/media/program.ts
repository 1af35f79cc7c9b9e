// Other people's programs (ffmpeg, recognisers) as child processes. Invariants: argv only, no shell; of our environment
// they get the few names every process gets; the child stays in our process group, so that whoever kills the worker's group
// kills it too; when `run` settles, the child is gone.

import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { inheritedEnv } from "../../config/instance-env.ts";
import type { Clock } from "../../config/time.ts";
import { failure } from "../core/wire/errors.ts";
import { lowerPriority } from "../lower-priority.ts";

interface ProgramResult {
  readonly code: number | null;
  readonly stdout: string;
  /** The last 4 KiB. */
  readonly stderr: string;
}

interface ProgramRun {
  readonly argv: readonly [string, ...string[]];
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Given to it as its standard input; absent: it has none. */
  readonly input?: Uint8Array;
  /** More resident memory than this ends it. */
  readonly memoryBytes?: number;
}

const STDOUT_LIMIT = 8 * 2 ** 20;
const STDERR_KEPT = 4_096;

/** The absolute path of `name` (or `name` itself when it holds a slash and may be run); null when there is none. */
export function findProgram(name: string, path = process.env.PATH ?? ""): string | null {
  const places = name.includes("/") || isAbsolute(name) ? [name] : path.split(delimiter).map((dir) => join(dir, name));
  for (const place of places) {
    try {
      accessSync(place, constants.X_OK);
      return place;
    } catch {
      // The next place.
    }
  }
  return null;
}

/**
 * Runs to the end and gives exit code and output. Throws the signal's reason when aborted, `program.notFound` when it
 * cannot be started, `program.timeout`, `program.memory`, and `program.output` for more than 8 MiB of it; the child is
 * killed first.
 */
export async function runProgram(run: ProgramRun): Promise<ProgramResult> {
  run.signal.throwIfAborted();
  const [command, ...args] = run.argv;
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], cwd: "/", env: inheritedEnv(process.env) });
  // One that does not read it to the end has its reasons, and says them.
  child.stdin.on("error", () => undefined);
  child.stdin.end(run.input);
  const out: Buffer[] = [];
  let outBytes = 0;
  let stderr = "";
  let cause: unknown = null;
  const end = (reason: unknown) => {
    cause ??= reason;
    killTree(child);
  };
  const onAbort = () => end(run.signal.reason);
  run.signal.addEventListener("abort", onAbort, { once: true });
  const cancelTimeout = run.clock.after(run.timeoutMs, () =>
    end(failure("program.timeout", { name: command, seconds: Math.round(run.timeoutMs / 1_000) })),
  );
  const watching = new AbortController();
  if (run.memoryBytes !== undefined) {
    void watchMemory(child, run.memoryBytes, run.clock, watching.signal).then(
      (isOver) => isOver && end(failure("program.memory", { name: command })),
    );
  }
  child.stdout.on("data", (chunk: Buffer) => {
    outBytes += chunk.length;
    if (outBytes > STDOUT_LIMIT) end(failure("program.output", { name: command }));
    else out.push(chunk);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString("utf8")).slice(-STDERR_KEPT);
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
      child.once("spawn", () => child.pid !== undefined && lowerPriority(child.pid));
    });
    if (cause !== null) throw cause;
    return { code, stdout: Buffer.concat(out).toString("utf8"), stderr };
  } catch (error) {
    if ((error as NodeJS.ErrnoException)?.syscall?.startsWith("spawn")) {
      throw failure("program.notFound", { name: command }, { cause: error });
    }
    throw error;
  } finally {
    cancelTimeout();
    watching.abort();
    run.signal.removeEventListener("abort", onAbort);
  }
}

const LOOK_MS = 100;

/** Resolves when it holds more than that (true), or when nobody watches any more. */
async function watchMemory(child: ChildProcess, most: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  try {
    for await (const _ of clock.every(LOOK_MS, signal)) if (residentBytes(child.pid) > most) return true;
  } catch {
    // It has ended.
  }
  return false;
}

function residentBytes(pid: number | undefined): number {
  try {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(kib ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** The child and what it started (a recogniser behind a shell script), deepest last. */
function killTree(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const pids = [child.pid];
  for (let at = 0; at < pids.length && at < 1_000; at++) pids.push(...childrenOf(pids[at] as number));
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Gone by itself.
    }
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
