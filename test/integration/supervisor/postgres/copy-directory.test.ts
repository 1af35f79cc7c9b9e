import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  copyDataDirectory,
  readCopy,
  restoreDataDirectory,
  undoCutRestore,
} from "../../../../supervisor/postgres/copy-directory.ts";

const signal = new AbortController().signal;
const say = () => undefined;
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp("/tmp/owl-copies-");
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

describe("a data directory", () => {
  const at = "2026-11-01T00:00:00.000Z";
  let data: string;
  let target: string;
  beforeEach(async () => {
    data = join(dir, "data");
    target = join(dir, "copy");
    await mkdir(join(data, "base"), { recursive: true });
    await writeFile(join(data, "PG_VERSION"), "15\n");
    await writeFile(join(data, "base/1"), "rows of before");
  });
  const copy = () => copyDataDirectory({ data, target, at, say, signal });
  const restore = () => restoreDataDirectory({ data, target, say, signal });

  test("is copied whole, and restored byte for byte", async () => {
    const record = await copy();
    expect(record).toMatchObject({ at, files: 2 });
    await writeFile(join(data, "base/1"), "rows of after");
    await writeFile(join(data, "base/2"), "new table");
    await restore();
    expect(await readFile(join(data, "base/1"), "utf8")).toBe("rows of before");
    expect((await readdir(join(data, "base"))).sort()).toEqual(["1"]);
    expect((await readdir(dir)).sort()).toEqual(["copy", "data"]);
  });

  test("is refused while its server runs", async () => {
    await writeFile(join(data, "postmaster.pid"), "1\n");
    await expect(copy()).rejects.toMatchObject({ code: "copy.running" });
  });

  test("copied twice keeps the first copy", async () => {
    const first = await copy();
    await writeFile(join(data, "base/1"), "rows of after");
    expect(await copy()).toEqual(first);
  });

  test("a copy that was killed before its end does not count and is made again", async () => {
    await mkdir(join(target, "data"), { recursive: true });
    expect(await readCopy(target)).toBeNull();
    await copy();
    expect(await readFile(join(target, "data/base/1"), "utf8")).toBe("rows of before");
  });

  test("a copy that changed since is refused and the data directory stays", async () => {
    await copy();
    await writeFile(join(target, "data/base/1"), "rotten");
    await writeFile(join(data, "base/1"), "rows of after");
    await expect(restore()).rejects.toMatchObject({ code: "copy.unreadable" });
    expect(await readFile(join(data, "base/1"), "utf8")).toBe("rows of after");
    expect((await readdir(dir)).sort()).toEqual(["copy", "data"]);
  });

  test("a restore killed between its two renames is undone before a start, and ended by the next call", async () => {
    await copy();
    await writeFile(join(data, "base/1"), "rows of after");
    await cp(join(target, "data"), `${data}.restored`, { recursive: true });
    await rename(data, `${data}.replaced`);
    expect(await undoCutRestore(data)).toBe(true);
    expect(await readFile(join(data, "base/1"), "utf8")).toBe("rows of after");
    await restore();
    expect(await undoCutRestore(data)).toBe(false);
    expect(await readFile(join(data, "base/1"), "utf8")).toBe("rows of before");
  });
});
