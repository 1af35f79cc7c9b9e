// Archives that a release is made of: whole ones are taken, those cut anywhere are refused.

import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { pack } from "tar-stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fillTree } from "../../../../supervisor/release/own/sources.ts";
import { createTree } from "../../../../supervisor/release/own/tree.ts";

let folder: string;
let archive: Buffer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "owl-sources-"));
  const tar = pack();
  tar.entry({ name: "a.js" }, "a".repeat(2_000));
  tar.entry({ name: "b.js" }, "b".repeat(2_000));
  tar.finalize();
  archive = await buffer(tar);
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

async function filled(bytes: Buffer): Promise<readonly string[]> {
  const path = join(folder, "archive");
  const target = join(folder, "code");
  await writeFile(path, bytes);
  await mkdir(target);
  const tree = createTree(target, 1_000_000);
  await fillTree(tree, { kind: "archive", path }, null, new AbortController().signal);
  return await readdir(target);
}

test.each([
  ["plain", (whole: Buffer) => whole],
  ["gzip", gzipSync],
  ["zstd", zstdCompressSync],
])("a whole one is taken: %s", async (_, packed) => {
  expect(await filled(packed(archive))).toEqual(["a.js", "b.js"]);
});

/** A header and the 2,000 bytes after it take 5 blocks. */
const ENTRY_BYTES = 5 * 512;

test.each([
  ["in a header", (whole: Buffer) => whole.subarray(0, 100)],
  ["in a file", (whole: Buffer) => whole.subarray(0, 1_000)],
  ["between two files", (whole: Buffer) => whole.subarray(0, ENTRY_BYTES)],
  ["before its end", (whole: Buffer) => whole.subarray(0, 2 * ENTRY_BYTES)],
  ["in a file, gzip", (whole: Buffer) => gzipSync(whole).subarray(0, -12)],
  ["between two files, gzip", (whole: Buffer) => gzipSync(whole.subarray(0, ENTRY_BYTES))],
  ["in a file, zstd", (whole: Buffer) => zstdCompressSync(whole).subarray(0, -12)],
])("one that is cut %s is refused as damaged", async (_, cut) => {
  await expect(filled(cut(archive))).rejects.toMatchObject({ code: "deploy.damaged" });
});
