// Reads a release archive (tar, gzip or zstd or plain) entry by entry into a directory that is ours alone.
// Invariant: nothing is written but plain files below that directory whose names the manifest lists.

import { createWriteStream } from "node:fs";
import { type FileHandle, mkdir, open, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { extract, type Header } from "tar-stream";
import { asError, OwlError } from "../../config/errors.ts";
import { badLink, badPath, MANIFEST_FILE, type Manifest, parseManifest } from "../core/manifest.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";

/** Most files are small: those are written in one go. */
const WHOLE_BYTES = 1024 * 1024;

/** An entry of the archive as tar-stream gives it: its bytes, and `resume` to pass over them. */
type Entry = AsyncIterable<unknown> & { resume(): unknown };

/** A manifest beyond this is no manifest. */
const MANIFEST_LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * Unpacks `archive` below `target` (new, empty) unless `isHere(manifest)` says that very release is here already.
 * `admit` looks at the file first, before a byte of it is taken for anything. Answers the manifest. Throws
 * `release.archive` or `release.manifest`.
 */
export async function unpackArchive(
  archive: string,
  target: string,
  admit: (file: FileHandle) => Promise<void>,
  isHere: (manifest: Manifest) => Promise<boolean>,
  signal: AbortSignal,
): Promise<Manifest> {
  const enough = new AbortController();
  const source = await openArchive(archive, admit);
  const tar = extract();
  let manifest: Manifest | null = null;
  const read = (async () => {
    for await (const entry of tar) {
      const { header } = entry;
      if (header.type === "directory") {
        entry.resume();
        continue;
      }
      if (manifest === null) {
        if (header.name !== MANIFEST_FILE) throw refuse((t) => t.firstEntry(header.name, MANIFEST_FILE));
        const text = await readText(entry, header);
        manifest = parseManifest(text);
        if (await isHere(manifest)) {
          enough.abort();
          return;
        }
        await writeWhole(join(target, MANIFEST_FILE), text);
        continue;
      }
      await takeEntry(header, entry, manifest, target);
    }
  })();
  const both = AbortSignal.any([signal, enough.signal]);
  const flow = source.decoder
    ? pipeline(source.bytes, source.decoder, tar, { signal: both })
    : pipeline(source.bytes, tar, { signal: both });
  const [flowed, taken] = await Promise.allSettled([flow, read]);
  const cut = flowed.status === "rejected" && !enough.signal.aborted ? flowed : null;
  const refused = taken.status === "rejected" && !enough.signal.aborted ? taken : null;
  // A stream that ends too early destroys the other one, whose own words then tell nothing.
  const failed = refused !== null && (cut === null || tellsWhy(refused.reason)) ? refused : cut;
  if (failed) {
    signal.throwIfAborted();
    throw translated(failed.reason);
  }
  if (manifest === null) throw refuse((t) => t.empty);
  return manifest;
}

async function takeEntry(header: Header, entry: Entry, manifest: Manifest, target: string): Promise<void> {
  const { name } = header;
  const why = badPath(name);
  if (why) throw refuse((t) => t.holds(name, t.badPath[why]));
  if (header.type === "symlink") {
    const out = badLink(name, header.linkname ?? "");
    if (out) throw refuse((t) => t.links(name, header.linkname, t.badPath[out]));
    if (manifest.links[name] !== header.linkname) throw refuse((t) => t.unlistedLink(name));
    entry.resume();
    return;
  }
  const listed = manifest.files[name];
  if (header.type !== "file" || !listed) throw refuse((t) => t.holds(name, t.unlisted));
  if (header.size !== listed.size) throw refuse((t) => t.size(name, header.size, listed.size));
  const path = join(target, name);
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  // wx: an entry that comes twice is refused rather than written over.
  if (listed.size <= WHOLE_BYTES) {
    await writeFile(path, await readWhole(entry), { flag: "wx", mode: listed.mode });
    return;
  }
  await pipeline(Readable.from(entry), createWriteStream(path, { flags: "wx", mode: listed.mode }));
}

interface OpenedArchive {
  readonly bytes: Readable;
  readonly decoder: ReturnType<typeof createGunzip> | null;
}

async function openArchive(archive: string, admit: (file: FileHandle) => Promise<void>): Promise<OpenedArchive> {
  const file = await open(archive, "r").catch((cause: unknown) => {
    const why = asError(cause).message;
    throw new Refusal("release.archive", (text) => text.refused.release.archiveUnreadable(archive, why), { cause });
  });
  await admit(file).catch(async (error: unknown) => {
    await file.close();
    throw error;
  });
  const head = Buffer.alloc(4);
  await file.read(head, 0, 4, 0);
  const bytes = file.createReadStream({ start: 0 });
  if (head[0] === 0x1f && head[1] === 0x8b) return { bytes, decoder: createGunzip() };
  if (head.readUInt32LE(0) === 0xfd2fb528)
    return { bytes, decoder: createZstdDecompress() as unknown as ReturnType<typeof createGunzip> };
  return { bytes, decoder: null };
}

async function readText(entry: Entry, header: Header): Promise<string> {
  if ((header.size ?? 0) > MANIFEST_LIMIT_BYTES) throw refuse((t) => t.largeManifest);
  return (await readWhole(entry)).toString("utf8");
}

async function readWhole(entry: Entry): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of entry) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

async function writeWhole(path: string, text: string): Promise<void> {
  await pipeline(Readable.from([text]), createWriteStream(path, { flags: "wx", mode: 0o644 }));
}

function refuse(what: (text: Text["refused"]["release"]) => string): Refusal {
  return new Refusal("release.archive", ({ refused: { release } }) => release.archive(what(release)));
}

function tellsWhy(reason: unknown): boolean {
  return reason instanceof OwlError || (reason as NodeJS.ErrnoException | undefined)?.syscall !== undefined;
}

function translated(reason: unknown): unknown {
  if (reason instanceof OwlError) return reason;
  const error = asError(reason);
  const code = (error as NodeJS.ErrnoException).code ?? "";
  if (code === "ENOSPC")
    return new Refusal("release.diskFull", (text) => text.refused.release.diskFullUnpacking(), { cause: reason });
  if (
    code.startsWith("Z_") ||
    code.startsWith("ZSTD") ||
    /unexpected end|invalid tar|premature|ERR_STREAM/i.test(`${code} ${error.message}`)
  )
    return refuse((t) => t.damaged(error.message));
  return reason;
}
