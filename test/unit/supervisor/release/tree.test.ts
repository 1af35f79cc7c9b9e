// What may be in a release of a team's own code, and what is refused with its name.

import { mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fillTree } from "../../../../supervisor/release/own/sources.ts";
import { createTree, readTree, setWritable } from "../../../../supervisor/release/own/tree.ts";

const never = new AbortController().signal;
const bytes = async function* (text: string) {
  yield Buffer.from(text);
};

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), "owl-tree-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test.each(["/etc/passwd", "../out", "a/../../out", "a//b", "a\\b", "."])("the name %s is refused", async (path) => {
  await expect(createTree(directory(), 100).file(path, 1, false, bytes("x"))).rejects.toMatchObject({
    code: "deploy.holds",
  });
});

test.each([
  ["x", "/etc/passwd"],
  ["x", "../out"],
  ["a/x", "../../out"],
  // Up from wherever `y` leads to.
  ["x", "y/.."],
  ["x", "y/../../.."],
])("a link %s to %s is refused", (path, target) => {
  expect(() => createTree(directory(), 100).link(path, target)).toThrow(/out of the release/);
});

test("links that stay inside are kept, made after everything else; nothing lies behind one", async () => {
  const target = directory();
  const tree = createTree(target, 100);
  tree.link("node_modules/.bin/tool", "../tool/main.js");
  await tree.file("node_modules/tool/main.js", 2, true, bytes("ok"));
  await tree.finish();
  expect(readlinkSync(join(target, "node_modules/.bin/tool"))).toBe("../tool/main.js");
  expect(statSync(join(target, "node_modules/.bin/tool")).mode & 0o777).toBe(0o755);
  const behind = createTree(directory(), 100);
  behind.link("a", "b");
  behind.link("a/c", "d");
  await expect(behind.finish()).rejects.toThrow(/behind a link/);
});

test("too large, and twice the same name, are refused", async () => {
  const tree = createTree(directory(), 5);
  await tree.file("a", 3, false, bytes("abc"));
  await expect(tree.file("a", 1, false, bytes("x"))).rejects.toThrow(/comes twice/);
  await expect(tree.file("b", 3, false, bytes("abc"))).rejects.toMatchObject({ code: "deploy.tooLarge" });
});

test("a directory is copied without .git and Owl's own state, read-only, and its hash tells any change", async () => {
  const [from, target] = [directory(), directory()];
  for (const folder of [".git", ".owl/state", "bin"]) mkdirSync(join(from, folder), { recursive: true });
  for (const file of [".git/config", ".owl/state/x", "bin/run"]) writeFileSync(join(from, file), "x", { mode: 0o700 });
  symlinkSync("bin/run", join(from, "run"));
  const tree = createTree(target, 1_000);
  await fillTree(tree, { kind: "directory", path: from }, join(from, ".owl"), never);
  await tree.finish();
  await setWritable(target, false);
  const made = await readTree(target, 1_000, never);
  expect(made).toMatchObject({ files: 1, bytes: 1 });
  expect(statSync(join(target, "bin/run")).mode & 0o777).toBe(0o555);
  await setWritable(target, true);
  expect((await readTree(target, 1_000, never)).sha256).toBe(made.sha256);
  writeFileSync(join(target, "bin/run"), "y");
  expect((await readTree(target, 1_000, never)).sha256).not.toBe(made.sha256);
});
