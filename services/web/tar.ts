// A tar file as it goes along: nothing is held but the piece under way. Invariant: an entry has exactly the bytes
// its header says, also when the file behind it is shorter or longer by then: the rest is zeros.

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Pack, pack } from "tar-stream";
import { asError } from "../../config/errors.ts";

interface TarEntry {
  readonly name: string;
  readonly bytes: number;
  readonly modifiedAt: Date;
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

const ZEROS = new Uint8Array(64 * 1024);

/** The pieces of a tar file of `entries`; ends with the failure of the first that cannot be read. */
export function tarOf(entries: AsyncIterable<TarEntry>): Readable {
  const tar = pack();
  fill(tar, entries).catch((error: unknown) => tar.destroy(asError(error)));
  return Readable.from(tar, { objectMode: false });
}

async function fill(tar: Pack, entries: AsyncIterable<TarEntry>): Promise<void> {
  for await (const { name, bytes, modifiedAt, content } of entries)
    await pipeline(exactly(bytes, content), tar.entry({ name, size: bytes, mode: 0o600, mtime: modifiedAt }));
  tar.finalize();
}

async function* exactly(bytes: number, content: TarEntry["content"]): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const piece of content) {
    const part = piece.subarray(0, left);
    left -= part.length;
    yield part;
    if (left === 0) break;
  }
  for (; left > 0; left -= Math.min(left, ZEROS.length)) yield ZEROS.subarray(0, left);
}
