// Files of uploads into the backup directory, each once and again when it grew. Invariant: a stored file is whole; one
// that is still being written is brought over when it rests.

import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../config/time.ts";
import { type OwnPlace, uploadName } from "./directory.ts";

/** A large file that was written to just now is likely in the middle of it. */
const LARGE_BYTES = 16 * 2 ** 20;
const REST_MS = 2_000;
const BLOCK_BYTES = 2 ** 18;
const ID = /^[0-9a-f-]{36}$/;

interface UploadKeeper {
  /** Brings over what is new; resolves when all of it is there. */
  runOnce(signal: AbortSignal): Promise<void>;
}

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
    const before = stored.get(id);
    const content = slowly(createReadStream(join(directory, id), { highWaterMark: BLOCK_BYTES, end: bytes - 1 }));
    const { name } = await place.put("uploads", bytes === 0 ? [] : content, (sha256) => uploadName(id, bytes, sha256));
    stored.set(id, { name, bytes, atMs: Math.max(modifiedMs, clock.now()) });
    if (before !== undefined && before.name !== name) await place.remove("uploads", before.name);
  }

  async function* slowly(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const fromMs = clock.monotonicMs();
    let bytes = 0;
    for await (const chunk of chunks) {
      yield chunk;
      bytes += chunk.length;
      const dueMs = bytesPerS === 0 ? 0 : fromMs + (bytes / bytesPerS) * 1_000 - clock.monotonicMs();
      if (dueMs > 5) await clock.sleep(dueMs);
    }
  }

  return {
    async runOnce(signal) {
      for (const id of await readdir(directory).catch(() => [] as string[])) {
        if (signal.aborted) return;
        if (!ID.test(id)) continue;
        const found = await stat(join(directory, id)).catch(() => null);
        if (found === null) continue;
        const known = stored.get(id);
        if (known !== undefined && known.bytes === found.size && known.atMs >= found.mtimeMs) continue;
        if (found.size > LARGE_BYTES && clock.now() - found.mtimeMs < REST_MS) continue;
        await bringOver(id, found.size, found.mtimeMs).catch((error: NodeJS.ErrnoException) => {
          // Deleted in the middle: nothing to keep.
          if ((error.cause as NodeJS.ErrnoException | undefined)?.path?.startsWith(directory) !== true) throw error;
        });
      }
    },
  };
}
