// FIFOs whose write end an instance inherits: their end of file is its exit, also for a later owld.
// Invariant: opening one never blocks, and owld itself keeps no write end. Node has no mkfifo(2), so coreutils' is
// run, ahead of need: a crash waits for no helper before its successor is spawned.

import { constants, mkdirSync, mkdtempSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { OwlError } from "../../config/errors.ts";

const SPARE_PREFIX = ".spare-fifos-";
const SPARES = 8;

export interface FifoSource {
  /** Makes spares for `directory` ahead of need. */
  prepare(directory: string): Promise<void>;
  /** A new, unused FIFO at `path`; one left there is replaced. */
  create(path: string): Promise<void>;
}

/** Spares lie in a folder of their own in each directory; those an earlier owld left are thrown away. */
export function createFifoSource(): FifoSource {
  const spares = new Map<string, { readonly folder: string; readonly paths: string[] }>();
  let made = 0;
  let making: Promise<void> = Promise.resolve();

  const spareOf = (directory: string): string | undefined => spares.get(directory)?.paths.pop();

  const refill = (directory: string): Promise<void> => {
    const work = making.then(async () => {
      const kept = spares.get(directory) ?? { folder: makeFolder(directory), paths: [] };
      spares.set(directory, kept);
      if (kept.paths.length >= SPARES / 2) return;
      const fresh = Array.from({ length: SPARES }, () => join(kept.folder, String(made++)));
      await makeFifos(fresh);
      kept.paths.push(...fresh);
    });
    // The next one must not fail for this one's reason.
    making = work.catch(() => void spares.delete(directory));
    return work;
  };

  return {
    prepare: refill,
    async create(path) {
      const directory = dirname(path);
      let spare = spareOf(directory);
      if (spare === undefined) {
        await refill(directory);
        spare = spareOf(directory);
      }
      try {
        if (spare === undefined) throw new Error("another took the last spare");
        renameSync(spare, path);
      } catch {
        // Somebody emptied the directory, or many are started at once: make this one by hand.
        mkdirSync(directory, { recursive: true, mode: 0o750 });
        rmSync(path, { force: true });
        await makeFifos([path]);
      }
      // Not awaited on purpose: its failure shows when the next one is needed.
      refill(directory).catch(() => undefined);
    },
  };
}

function makeFolder(directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o750 });
  for (const name of readdirSync(directory)) {
    if (name.startsWith(SPARE_PREFIX)) rmSync(join(directory, name), { recursive: true, force: true });
  }
  return mkdtempSync(join(directory, SPARE_PREFIX));
}

export async function makeFifos(paths: readonly string[]): Promise<void> {
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
