// Is a directory exactly the release its manifest describes? Every file hashed, nothing missing, nothing added.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { MANIFEST_FILE, type Manifest, parseManifest } from "../core/manifest.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";

const TOGETHER = 16;
const WHOLE_BYTES = 1 << 20;

/** The manifest of the release directory `dir`. Throws `release.manifest` or `release.missing`. */
export async function readManifest(dir: string): Promise<Manifest> {
  const text = await readFile(join(dir, MANIFEST_FILE), "utf8").catch((cause: unknown) => {
    throw new Refusal("release.missing", (text) => text.refused.release.missing(dir, MANIFEST_FILE), { cause });
  });
  return parseManifest(text);
}

/** Hashes every file below `dir` against `manifest`. Throws `release.changed` naming the first that differs. */
export async function verifyRelease(dir: string, manifest: Manifest, signal: AbortSignal): Promise<void> {
  const missing = new Set([...Object.keys(manifest.files), ...Object.keys(manifest.links)]);
  const check = async (path: string): Promise<void> => {
    signal.throwIfAborted();
    const stat = await lstat(join(dir, path));
    if (stat.isSymbolicLink()) {
      if (manifest.links[path] !== (await readlink(join(dir, path)))) throw changed(path, "link");
    } else {
      const listed = manifest.files[path];
      if (!listed || !stat.isFile()) throw changed(path, "notListed");
      if (stat.size !== listed.size || (await hashFile(join(dir, path), stat.size)) !== listed.sha256)
        throw changed(path, "differs");
    }
    missing.delete(path);
  };
  // Some at a time: most files are small, and a disk answers several as fast as one.
  let batch: string[] = [];
  for await (const path of walk(dir, "")) {
    if (path === MANIFEST_FILE) continue;
    batch.push(path);
    if (batch.length < TOGETHER) continue;
    await Promise.all(batch.map(check));
    batch = [];
  }
  await Promise.all(batch.map(check));
  const [first] = missing;
  if (first !== undefined) throw changed(first, "missing");
}

/** SHA-256 of a file's content, hexadecimal. `bytes`: its size where known; a small one is read in one go. */
export async function hashFile(path: string, bytes = Number.POSITIVE_INFINITY): Promise<string> {
  const hash = createHash("sha256");
  if (bytes <= WHOLE_BYTES) return hash.update(await readFile(path)).digest("hex");
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}

/** Relative paths of everything below `dir` that is not a directory, in no order. */
export async function* walk(dir: string, prefix: string): AsyncGenerator<string> {
  for (const entry of await readdir(join(dir, prefix), { withFileTypes: true })) {
    const path = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) yield* walk(dir, path);
    else yield path;
  }
}

function changed(path: string, how: Parameters<Text["refused"]["release"]["changed"]>[1]): Refusal {
  return new Refusal("release.changed", (text) => text.refused.release.changed(path, how));
}
