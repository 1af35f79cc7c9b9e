// Which files a plan finds: each once, within the bound, and only while somebody waits for it.

import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFiles } from "../../../../services/media/archive.ts";

let root: string;
const never = new AbortController().signal;

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "owl-archive-")));
  await mkdir(join(root, "a/b"), { recursive: true });
  await mkdir(join(root, "a/.kept"));
  for (const name of ["a/1.wav", "a/b/2.wav", "a/.kept/3.wav"]) await writeFile(join(root, name), "x");
  await symlink(join(root, "a"), join(root, "link"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const found = async (paths: readonly string[], signal = never) =>
  (await findFiles(paths, [root], signal)).map((file) => file.path.slice(root.length + 1)).sort();

test("a folder named twenty thousand times, by other spellings and by a link, is walked once", async () => {
  const names = Array.from({ length: 20_000 }, () => join(root, "a"));
  expect(await found([...names, `${root}/./a//`, `${root}/link`])).toEqual(["a/1.wav", "a/b/2.wav"]);
});

test("folders inside named folders add nothing, but a hidden one does", async () => {
  expect(await found([root, join(root, "a"), join(root, "a/b"), join(root, "a/b/2.wav")])).toEqual([
    "a/1.wav",
    "a/b/2.wav",
    "link",
  ]);
  expect(await found([join(root, "a"), join(root, "a/.kept")])).toEqual(["a/.kept/3.wav", "a/1.wav", "a/b/2.wav"]);
});

test("nothing is looked at any more once the client has left", async () => {
  const left = AbortSignal.abort(new Error("left"));
  await expect(found([root], left)).rejects.toThrow("left");
});
