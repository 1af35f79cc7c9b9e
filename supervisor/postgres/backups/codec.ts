// How a file lies in a backup directory: compressed by zstd, then, when a passphrase is set, sealed.
// A sealed file is `OWLSEAL1`, 32 random bytes, then chunks of 64 KiB each sealed by AES-256-GCM (16 bytes of tag behind
// each) under a key of the file's own: HKDF-SHA256 of the directory's key and those 32 bytes. The nonce is the chunk's
// number (11 bytes) and 1 for the last chunk, else 0, so that none can be cut off, added or moved.
// The directory's key: scrypt (N 32768, r 8, p 1) of the passphrase and the salt in the owner's mark.

import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, scryptSync } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { Readable, Transform } from "node:stream";
import { createZstdCompress, createZstdDecompress, zstdDecompressSync } from "node:zlib";
import { Refusal } from "../../core/text/refusal.ts";

const MAGIC = Buffer.from("OWLSEAL1");
const SALT_BYTES = 32;
const CHUNK_BYTES = 65_536;
const TAG_BYTES = 16;
const HEAD_BYTES = MAGIC.length + SALT_BYTES;
const SEALED_BYTES = CHUNK_BYTES + TAG_BYTES;

export type Key = Buffer | null;

export function stretch(passphrase: string, salt: string): Buffer {
  return scryptSync(passphrase, Buffer.from(salt, "base64"), 32, { N: 32_768, r: 8, p: 1, maxmem: 64 * 2 ** 20 });
}

export const freshSalt = (): string => randomBytes(16).toString("base64");

/** Tells a right passphrase from a wrong one without opening a backup. */
export function keyCheck(key: Buffer): string {
  return createHash("sha256").update("owl backup key check").update(key).digest("base64");
}

/** `plain` as it is to be stored. Nothing is read before somebody reads: an error would find nobody to take it. */
export async function* pack(plain: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, key: Key): AsyncGenerator<Buffer> {
  const zipped = Readable.from(plain, { objectMode: false }).compose(createZstdCompress());
  yield* (key === null ? zipped : zipped.compose(sealing(key))) as AsyncIterable<Buffer>;
}

/** What was stored in that file. Throws `backup.damaged` for other bytes than `sha256` names, at its end at the latest. */
export async function* unpack(file: string, sha256: string, key: Key): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  const hashing = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const stored = createReadStream(file, { highWaterMark: 2 ** 18 }).compose(hashing);
  const opened = key === null ? stored : stored.compose(opening(key));
  try {
    yield* opened.compose(createZstdDecompress()) as AsyncIterable<Buffer>;
  } catch (error) {
    throw asUnpacked(file, error);
  }
  if (hash.digest("hex") !== sha256) throw damaged(file);
}

/** The same at once, for a piece of the log: there are thousands, and a stream for each takes longer than its bytes. */
export async function unpackWhole(file: string, sha256: string, key: Key): Promise<Buffer> {
  try {
    const stored = await readFile(file);
    if (createHash("sha256").update(stored).digest("hex") !== sha256) throw damaged(file);
    return zstdDecompressSync(key === null ? stored : openWhole(stored, key));
  } catch (error) {
    throw asUnpacked(file, error);
  }
}

function asUnpacked(file: string, caught: unknown): unknown {
  const error = caught as NodeJS.ErrnoException;
  if (error.code === "ENOENT")
    return new Refusal("backup.missing", ({ refused }) => refused.backup.missing(file), { cause: error });
  if (error.code === "EACCES" || error.code === "EPERM")
    return new Refusal("backup.unreadable", ({ refused }) => refused.backup.unreadable(file), { cause: error });
  return error.code === "EIO" || error instanceof Refusal ? error : damaged(file, error);
}

function damaged(file: string, cause?: unknown): Refusal {
  return new Refusal(
    "backup.damaged",
    ({ refused }) => refused.backup.damaged(file),
    cause === undefined ? {} : { cause },
  );
}

function fileKey(key: Buffer, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync("sha256", key, salt, "owl backup file", 32));
}

function nonce(number: number, isLast: boolean): Buffer {
  const made = Buffer.alloc(12);
  made.writeUIntBE(number, 5, 6);
  made[11] = isLast ? 1 : 0;
  return made;
}

function sealing(key: Buffer): Transform {
  const salt = randomBytes(SALT_BYTES);
  const own = fileKey(key, salt);
  let number = 0;
  let rest: Buffer = Buffer.alloc(0);
  const seal = (chunk: Buffer, isLast: boolean): Buffer => {
    const cipher = createCipheriv("aes-256-gcm", own, nonce(number++, isLast));
    return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
  };
  return new Transform({
    construct(done) {
      this.push(Buffer.concat([MAGIC, salt]));
      done();
    },
    transform(chunk: Buffer, _, done) {
      rest = Buffer.concat([rest, chunk]);
      // The last chunk is sealed as such, so one is always held back.
      while (rest.length > CHUNK_BYTES) {
        this.push(seal(rest.subarray(0, CHUNK_BYTES), false));
        rest = rest.subarray(CHUNK_BYTES);
      }
      done();
    },
    flush(done) {
      this.push(seal(rest, true));
      done();
    },
  });
}

function openHead(head: Buffer, key: Buffer): Buffer {
  if (!head.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error("it is not sealed");
  return fileKey(key, head.subarray(MAGIC.length));
}

function openChunk(chunk: Buffer, own: Buffer | null, number: number, isLast: boolean): Buffer {
  if (own === null || chunk.length < TAG_BYTES) throw new Error("it is cut");
  const decipher = createDecipheriv("aes-256-gcm", own, nonce(number, isLast));
  decipher.setAuthTag(chunk.subarray(chunk.length - TAG_BYTES));
  return Buffer.concat([decipher.update(chunk.subarray(0, chunk.length - TAG_BYTES)), decipher.final()]);
}

function openWhole(stored: Buffer, key: Buffer): Buffer {
  const own = openHead(stored.subarray(0, HEAD_BYTES), key);
  const chunks: Buffer[] = [];
  for (let at = HEAD_BYTES, isLast = false; !isLast; at += SEALED_BYTES) {
    isLast = at + SEALED_BYTES >= stored.length;
    chunks.push(openChunk(stored.subarray(at, at + SEALED_BYTES), own, chunks.length, isLast));
  }
  return Buffer.concat(chunks);
}

function opening(key: Buffer): Transform {
  let own: Buffer | null = null;
  let number = 0;
  let rest: Buffer = Buffer.alloc(0);
  const open = (chunk: Buffer, isLast: boolean): Buffer => openChunk(chunk, own, number++, isLast);
  const begin = (): void => {
    if (own !== null || rest.length < HEAD_BYTES) return;
    own = openHead(rest.subarray(0, HEAD_BYTES), key);
    rest = rest.subarray(HEAD_BYTES);
  };
  const guarded = (work: () => void, done: (error?: Error) => void): void => {
    try {
      work();
      done();
    } catch (error) {
      done(error as Error);
    }
  };
  return new Transform({
    transform(chunk: Buffer, _, done) {
      guarded(() => {
        rest = Buffer.concat([rest, chunk]);
        begin();
        while (own !== null && rest.length > SEALED_BYTES) {
          this.push(open(rest.subarray(0, SEALED_BYTES), false));
          rest = rest.subarray(SEALED_BYTES);
        }
      }, done);
    },
    flush(done) {
      guarded(() => this.push(open(rest, true)), done);
    },
  });
}
