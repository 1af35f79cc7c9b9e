// FIFOs whose write end an instance inherits: their end of file is its exit, also for a later owld.
// Invariant: opening one never blocks, and owld itself keeps no write end. Node has no mkfifo(2), so coreutils' is
// run, ahead of need: a crash waits for no helper before its successor is spawned.

import { constants, mkdirSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { OwlError } from "../../config/errors.ts";

const SPARE_PREFIX = ".spare-fifo-";
const SPARES = 8;

export interface FifoSource {
  /** Makes spares in `directory` ahead of need; also throws away those of an earlier owld. */
  prepare(directory: string): Promise<void>;
  /** A new, unused FIFO at `path`; one left there is replaced. */
  create(path: string): Promise<void>;
}

/** FIFOs on the disk of `path`; each directory has spares of its own. `pid` keeps the names of two owlds apart. */
export function createFifoSource(pid: number = process.pid): FifoSource {
  const spares = new Map<string, string[]>();
  let made = 0;
  let making: Promise<void> = Promise.resolve();

  const refill = (directory: string): Promise<void> => {
    const work = making.then(async () => {
      mkdirSync(directory, { recursive: true, mode: 0o750 });
      const kept = spares.get(directory) ?? [];
      if (kept.length >= SPARES / 2) return;
      const fresh = Array.from({ length: SPARES }, () => join(directory, `${SPARE_PREFIX}${pid}-${made++}`));
      await makeFifos(fresh);
      spares.set(directory, [...(spares.get(directory) ?? []), ...fresh]);
    });
    making = work.catch(() => undefined);
    return work;
  };

  return {
    async prepare(directory) {
      mkdirSync(directory, { recursive: true, mode: 0o750 });
      const mine = new Set(spares.get(directory) ?? []);
      for (const name of readdirSync(directory)) {
        const path = join(directory, name);
        if (name.startsWith(SPARE_PREFIX) && !mine.has(path)) rmSync(path, { force: true });
      }
      await refill(directory);
    },
    async create(path) {
      const directory = dirname(path);
      let spare = spares.get(directory)?.pop();
      if (spare === undefined) {
        await refill(directory);
        spare = spares.get(directory)?.pop();
      }
      if (spare === undefined) throw new OwlError("spawn.failed", `No FIFO could be made in ${directory}.`);
      try {
        renameSync(spare, path);
      } catch {
        // Somebody emptied the directory: make this one by hand, and new spares with the next refill.
        spares.delete(directory);
        rmSync(path, { force: true });
        mkdirSync(directory, { recursive: true, mode: 0o750 });
        await makeFifos([path]);
      }
      // Not awaited on purpose: its failure shows when the next one is needed.
      refill(directory).catch(() => undefined);
    },
  };
}

async function makeFifos(paths: readonly string[]): Promise<void> {
  const { failed, stderr, shortMessage } = await execa("mkfifo", ["-m", "600", ...paths], { reject: false });
  if (!failed) return;
  throw new OwlError("spawn.failed", `${firstLine(stderr || (shortMessage ?? "mkfifo failed"))}.`, {
    next: "Check that the run directory is writable and the disk has room, and that coreutils is installed.",
  });
}

/**
 * The end a child inherits (close it in owld after the spawn). Read-write, so that it opens without a reader and
 * a child writing to it by mistake is not killed by SIGPIPE.
 */
export function openWriteEnd(path: string): number {
  return openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
}

/**
 * Calls `ended` once when no process holds the write end any more, at once when nobody does. A hint: a program may
 * have closed it by itself, so look whether it lives. Returns the end of watching. A missing FIFO is no hint ever.
 */
export function watchEnd(path: string, ended: () => void): () => void {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return () => undefined;
  }
  const socket = new Socket({ fd, readable: true, writable: false });
  let over = false;
  const finish = (): void => {
    if (over) return;
    over = true;
    socket.destroy();
    ended();
  };
  socket.on("end", finish);
  socket.on("error", finish);
  socket.on("close", finish);
  socket.resume();
  return () => {
    over = true;
    socket.destroy();
  };
}

function firstLine(text: string): string {
  return text.replace(/\n.*/s, "");
}
