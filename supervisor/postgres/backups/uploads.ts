// Files of uploads into the backup directory, each once and again when it grew. Invariants: a stored file is whole; one
// that is still being written is brought over when it rests; one that cannot be read keeps nothing else from being kept.

import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../config/time.ts";
import { type OwnPlace, uploadName } from "./directory.ts";

/** A large file that was written to just now is likely in the middle of it. */
const LARGE_BYTES = 16 * 2 ** 20;
const REST_MS = 2_000;
const BLOCK_BYTES = 2 ** 18;
/** Each waits for its disk most of the time, and the log waits for them. */
const AT_ONCE = 4;
const ID = /^[0-9a-f-]{36}$/;

interface UploadKeeper {
  /** Brings over what is new; resolves when all of it is there, with the ids of those that could not be read. Rejects when aborted. */
  runOnce(signal: AbortSignal): Promise<readonly string[]>;
}

/** The upload's own file fails, not the backup directory. */
class Unreadable extends Error {}

export async function openUploadKeeper(parts: {
  readonly clock: Clock;
  readonly place: OwnPlace;
  /** OWL_HOME/uploads */
  readonly directory: string;
  /** 0: no bound. */
  readonly bytesPerS: number;
}): Promise<UploadKeeper> {
  const { clock, place, directory, bytesPerS } = parts;
  const stored = new Map<string, { readonly name: string; readonly bytes: number; readonly atMs: number }>();
  for (const one of await place.uploads()) {
    const other = stored.get(one.id);
    if (other === undefined || other.atMs < one.atMs) stored.set(one.id, one);
  }

  async function bringOver(id: string, bytes: number, modifiedMs: number): Promise<void> {
    const file = await open(join(directory, id)).catch((error: NodeJS.ErrnoException) => {
      // Deleted in the middle: nothing to keep.
      if (error.code === "ENOENT") return null;
      throw new Unreadable(error.message, { cause: error });
    });
    if (file === null) return;
    try {
      const before = stored.get(id);
      const { name } = await place.put("uploads", slowly(file, bytes), (sha256) => uploadName(id, bytes, sha256));
      stored.set(id, { name, bytes, atMs: Math.max(modifiedMs, clock.now()) });
      if (before !== undefined && before.name !== name) await place.remove("uploads", before.name);
    } finally {
      await file.close();
    }
  }

  async function* slowly(file: FileHandle, bytes: number): AsyncGenerator<Buffer> {
    const fromMs = clock.monotonicMs();
    for (let at = 0; at < bytes; ) {
      const block = Buffer.alloc(Math.min(BLOCK_BYTES, bytes - at));
      const { bytesRead } = await file.read(block, 0, block.length, at).catch((error: Error) => {
        throw new Unreadable(error.message, { cause: error });
      });
      if (bytesRead === 0) throw new Unreadable(`it ends at ${at} of ${bytes}`);
      yield block.subarray(0, bytesRead);
      at += bytesRead;
      const dueMs = bytesPerS === 0 ? 0 : fromMs + (at / bytesPerS) * 1_000 - clock.monotonicMs();
      if (dueMs > 5) await clock.sleep(dueMs);
    }
  }

  return {
    async runOnce(signal) {
      const unreadable: string[] = [];
      const ids = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") unreadable.push(directory);
        return [];
      });
      const fresh: { readonly id: string; readonly bytes: number; readonly modifiedMs: number }[] = [];
      for (const id of ids) {
        if (!ID.test(id)) continue;
        const found = await stat(join(directory, id)).catch(() => null);
        if (found === null) continue;
        const known = stored.get(id);
        if (known !== undefined && known.bytes === found.size && known.atMs >= found.mtimeMs) continue;
        if (found.size > LARGE_BYTES && clock.now() - found.mtimeMs < REST_MS) continue;
        fresh.push({ id, bytes: found.size, modifiedMs: found.mtimeMs });
      }
      const lane = async (): Promise<void> => {
        for (let one = fresh.shift(); one !== undefined && !signal.aborted; one = fresh.shift()) {
          const { id, bytes, modifiedMs } = one;
          await bringOver(id, bytes, modifiedMs).catch((error: unknown) => {
            if (!(error instanceof Unreadable)) throw error;
            unreadable.push(id);
          });
        }
      };
      const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane));
      for (const one of lanes) if (one.status === "rejected") throw one.reason;
      // Whoever waits for all of it must not take a part for it.
      signal.throwIfAborted();
      return unreadable;
    },
  };
}
