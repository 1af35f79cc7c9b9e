// Starts instances and watches their exits, its own children and adopted ones alike.
// Invariant: a child shares nothing with owld but files it has open (its log, the FIFO's write end, what it is handed), so
// owld may die.
// node:child_process, not execa: the pid and its start time are needed in the very tick of the spawn, before the
// child can be reaped, and no stream, cleanup hook or timer of ours may hang on it.

import { type ChildProcess, spawn as spawnChild } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { asError, invariant, OwlError } from "../../config/errors.ts";
import { findProgram, isDirectory } from "../../config/find-program.ts";
import type { Clock } from "../../config/time.ts";
import type { ExitReport, ProcessTable, RunningProcess, Spawner, SpawnRequest } from "../ports.ts";
import { createFifoSource, type FifoSource, openWriteEnd } from "./exit-fifo.ts";
import { createExitWatch } from "./exit-watch.ts";
import { namelessFile } from "./nameless-file.ts";
import { createProcReader, identityOf, type ProcReader } from "./proc-identity.ts";
import { writeSecretFiles } from "./secret-files.ts";
import { holdsAmbient, switchUser, type UserSwitch } from "./user-switch.ts";

interface SpawnerParts {
  readonly clock: Clock;
  readonly table: ProcessTable;
  readonly reader?: ProcReader;
  readonly fifos?: FifoSource;
}

/** A Spawner of this machine. `stop()` ends its watching; the processes live on. */
export function createSpawner(parts: SpawnerParts): Spawner & { stop(): void } {
  const reader = parts.reader ?? createProcReader();
  const fifos = parts.fifos ?? createFifoSource();
  const watch = createExitWatch(parts.clock, parts.table);

  return {
    async spawn(request) {
      // Looked for before setpriv hides a missing command behind an exit code of its own.
      const file = findCommand(request, request.argv[0]);
      const plain = request.user === null && !holdsAmbient();
      const argv: typeof request.argv = plain ? request.argv : [file, ...request.argv.slice(1)];
      const to = await switchUser(argv, request.user);
      const command = plain ? file : to.argv[0];
      await fifos.create(request.exitFifo);
      if (request.secrets !== undefined) await writeSecretFiles(request.secrets, request.user);
      return startProcess(request, command, to, reader);
    },
    adopt(identity, exitFifo) {
      if (!parts.table.isAlive(identity)) return null;
      // Its successor, should it crash, finds a FIFO ready. Not awaited: a failure shows at that spawn.
      fifos.prepare(dirname(exitFifo)).catch(() => undefined);
      return watch.watch(identity, exitFifo);
    },
    stop: () => watch.stop(),
  };
}

async function startProcess(
  request: SpawnRequest,
  command: string,
  to: UserSwitch,
  reader: ProcReader,
): Promise<RunningProcess> {
  const opened: number[] = [];
  let child: ChildProcess;
  try {
    mkdirSync(dirname(request.logFile), { recursive: true, mode: 0o750 });
    const log = openSync(request.logFile, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o640);
    opened.push(log);
    const end = openWriteEnd(request.exitFifo);
    opened.push(end);
    const handed = request.handed === undefined ? [] : [namelessFile(request.handed, dirname(request.exitFifo))];
    opened.push(...handed);
    child = withUmask(request.umask ?? umaskOf(request), () =>
      spawnChild(command, to.argv.slice(1), {
        argv0: to.argv[0],
        cwd: request.cwd,
        env: { ...request.env },
        detached: true,
        uid: to.uid,
        gid: to.gid,
        stdio: ["ignore", log, log, end, ...handed, ...(request.descriptors ?? [])],
      }),
    );
  } catch (error) {
    throw spawnFailure(request, error);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
  if (child.pid === undefined) {
    const failure = await new Promise<unknown>((resolve) => child.once("error", resolve));
    throw spawnFailure(request, failure);
  }
  return watchChild(child, child.pid, reader);
}

/**
 * Under the unit a service of another user is reached through its group (owl is a member of owl-app): its socket has
 * to be writable for that group. Root needs no such thing.
 */
function umaskOf(request: SpawnRequest): number | null {
  return request.user !== null && process.geteuid?.() !== 0 ? 0o007 : null;
}

/** The umask is the whole process's, but spawn is synchronous: no other code of owld runs while it is the child's. */
function withUmask<T>(umask: number | null, run: () => T): T {
  if (umask === null) return run();
  const own = process.umask(umask);
  try {
    return run();
  } finally {
    process.umask(own);
  }
}

/** Must be called in the tick of the spawn: not reaped yet, the child's number is surely its own. */
function watchChild(child: ChildProcess, pid: number, reader: ProcReader): RunningProcess {
  const exited = Promise.withResolvers<ExitReport>();
  child.on("exit", (code, signal) => exited.resolve({ known: true, code, signal }));
  const stat = reader.stat(pid);
  invariant(stat !== null, "a child that was not reaped yet has a /proc entry");
  return {
    identity: identityOf(reader, stat),
    exited: exited.promise,
    release() {
      child.removeAllListeners("exit");
      child.unref();
    },
  };
}

/** The file to run: `name` as it is with a slash in it, else found in the child's own PATH. Throws `spawn.failed`. */
function findCommand(request: SpawnRequest, name: string): string {
  if (!isDirectory(request.cwd)) {
    throw new OwlError("spawn.failed", `Its directory ${request.cwd} does not exist.`, {
      next: `Create it or change \`cwd:\` of ${request.service} in owl.yaml.`,
      data: { instance: request.instance, cwd: request.cwd },
    });
  }
  const found = findProgram(name, request.cwd, request.env.PATH);
  if ("file" in found) return found.file;
  const why = "missing" in found ? "was not found" : `is not an executable file (${found.unfit})`;
  const next = "missing" in found && !name.includes("/") ? "Install it, or give its whole path" : "Check the path";
  throw new OwlError("spawn.failed", `The command ${JSON.stringify(name)} ${why}.`, {
    next: `${next} in \`command:\` of ${request.service} in owl.yaml.`,
    data: { instance: request.instance, command: name },
  });
}

const HINTS: Readonly<Record<string, string>> = {
  EAGAIN: "Too many processes: raise TasksMax of the unit or `ulimit -u`.",
  ENOMEM: "Memory is short: stop something or lower the replicas; it is tried again.",
  EMFILE: "Too many open files: raise LimitNOFILE of the unit or `ulimit -n`.",
  ENFILE: "Too many open files on this machine: raise fs.file-max.",
  ENOSPC: "The disk is full: free some space; it is tried again.",
  ENOENT: "The interpreter that the first line of the file names (`#!…`) does not exist.",
  E2BIG: "The environment and the arguments together are too long.",
  EPERM: "owld may not do that as this user: run it as root, or remove `user:`.",
};

function spawnFailure(request: SpawnRequest, caught: unknown): OwlError {
  if (caught instanceof OwlError) return caught;
  const error = asError(caught) as NodeJS.ErrnoException;
  // The message of a spawn error repeats the whole argv: only the code is told.
  const reason = error.code ?? error.name;
  return new OwlError("spawn.failed", `Its program could not be started: ${reason}.`, {
    next: HINTS[reason] ?? `Look at \`command:\` of ${request.service} in owl.yaml.`,
    data: { instance: request.instance, reason },
    cause: error,
  });
}
