import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { pack } from "tar-stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { OwlError } from "../../../../config/errors.ts";
import { removeStagingLeftovers, stageRelease } from "../../../../supervisor/release/stage.ts";

let home: string;
let releases: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "owl-stage-"));
  releases = join(home, "releases");
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

const sha = (text: string) => createHash("sha256").update(text).digest("hex");

function manifestOf(files: Record<string, string>, extra: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    format: 1,
    version: "1.2.3",
    commit: "0123456789abcdef",
    builtAt: "2026-11-01T00:00:00.000Z",
    platform: `${process.platform}-${process.arch}`,
    nodeVersion: "26.0.0",
    queueSchema: 46,
    jobKinds: {
      chat: { format: 1, argument: sha("a") },
      transcription: { format: 1, argument: sha("a") },
      playbook: { format: 1, argument: sha("a") },
      "schema-analysis": { format: 1, argument: sha("a") },
    },
    migrations: [],
    notes: { ko: [], en: [] },
    files: Object.fromEntries(
      Object.entries(files).map(([path, text]) => [
        path,
        { sha256: sha(text), size: Buffer.byteLength(text), mode: 420 },
      ]),
    ),
    links: {},
    ...extra,
  };
}

interface Entry {
  readonly name: string;
  readonly text?: string;
  readonly linkname?: string;
}

async function archiveOf(manifest: unknown, entries: readonly Entry[]): Promise<string> {
  const path = join(home, "release.tar.gz");
  const tar = pack();
  tar.entry({ name: "manifest.json" }, JSON.stringify(manifest));
  for (const { name, text, linkname } of entries) {
    if (linkname === undefined) tar.entry({ name }, text ?? "");
    else tar.entry({ name, type: "symlink", linkname });
  }
  tar.finalize();
  await pipeline(tar, createGzip(), createWriteStream(path));
  return path;
}

const anything = { keys: [], allowUnsigned: false };
const stage = (path: string) => stageRelease(path, releases, "t", AbortSignal.timeout(100_000), anything);

async function refusal(path: string): Promise<OwlError> {
  const caught: unknown = await stage(path).catch((error: unknown) => error);
  expect(await readdir(releases)).toEqual([]);
  return caught as OwlError;
}

const good = { "a.txt": "hello\n", "lib/b.txt": "world\n" };
const goodEntries = Object.entries(good).map(([name, text]) => ({ name, text }));

test("a good archive is unpacked, verified and lies there under its version", async () => {
  const manifest = manifestOf(good, { links: { "lib/c.txt": "../a.txt" } });
  const staged = await stage(await archiveOf(manifest, [...goodEntries, { name: "lib/c.txt", linkname: "../a.txt" }]));
  expect(staged.path).toBe(join(releases, "1.2.3"));
  expect(await readFile(join(staged.path, "lib/c.txt"), "utf8")).toBe("hello\n");
  expect(await readdir(releases)).toEqual(["1.2.3"]);
});

test("staging the same release again changes nothing, another one of that version is refused", async () => {
  const archive = await archiveOf(manifestOf(good), goodEntries);
  await stage(archive);
  expect((await stage(archive)).already).toBe(true);
  const other = await archiveOf(manifestOf({ "a.txt": "other\n" }), [{ name: "a.txt", text: "other\n" }]);
  await expect(stage(other)).rejects.toMatchObject({ code: "release.exists" });
  expect(await readFile(join(releases, "1.2.3/a.txt"), "utf8")).toBe("hello\n");
});

test("a release directory is staged as an archive is", async () => {
  const staged = await stage(await archiveOf(manifestOf(good), goodEntries));
  const again = await stageRelease(staged.path, join(home, "others"), "t", AbortSignal.timeout(100_000), anything);
  expect(await readFile(join(again.path, "lib/b.txt"), "utf8")).toBe("world\n");
});

test("a release that lies there and was changed is refused, wherever the change is met while others are looked for", async () => {
  const staged = await stage(await archiveOf(manifestOf(good), goodEntries));
  await writeFile(join(staged.path, "left.tmp"), "");
  for (let n = 0; n < 300; n++) await mkdir(join(staged.path, `${n}`));
  const again = stage(await archiveOf(manifestOf(good), goodEntries));
  await expect(again).rejects.toEqual(expect.objectContaining({ code: "release.changed" }));
});

describe("bad archives are refused with the reason, and nothing is left", () => {
  test("truncated", async () => {
    const path = await archiveOf(manifestOf(good), goodEntries);
    const whole = await readFile(path);
    await writeFile(path, whole.subarray(0, whole.length - 40));
    expect((await refusal(path)).message).toMatch(/truncated or damaged/);
  });
  test("a changed byte", async () => {
    const path = await archiveOf(manifestOf(good), [
      { name: "a.txt", text: "hellO\n" },
      goodEntries[1] ?? { name: "" },
    ]);
    expect((await refusal(path)).message).toMatch(/a\.txt differs from its manifest/);
  });
  test("a path that climbs out", async () => {
    const path = await archiveOf(manifestOf(good), [...goodEntries, { name: "../evil.txt", text: "x" }]);
    expect((await refusal(path)).message).toMatch(/"\.\.\/evil\.txt"/);
  });
  test("a path that climbs out, listed in the manifest as well", async () => {
    const path = await archiveOf(manifestOf({ ...good, "../evil.txt": "x" }), goodEntries);
    expect((await refusal(path)).code).toBe("release.manifest");
  });
  test("a link that points out", async () => {
    const path = await archiveOf(manifestOf(good, { links: { "lib/up": "../../.." } }), goodEntries);
    expect((await refusal(path)).message).toMatch(/points out of the release/);
  });
  test("a file written through a link", async () => {
    const manifest = manifestOf({ ...good, "lib2/x.txt": "x" }, { links: { lib2: "lib" } });
    const path = await archiveOf(manifest, [
      ...goodEntries,
      { name: "lib2", linkname: "lib" },
      { name: "lib2/x.txt", text: "x" },
    ]);
    expect((await refusal(path)).message).toMatch(/behind a link/);
  });
  test("a file the manifest does not list", async () => {
    const path = await archiveOf(manifestOf(good), [...goodEntries, { name: "extra.txt", text: "x" }]);
    expect((await refusal(path)).message).toMatch(/extra\.txt.*does not list/);
  });
  test("a file that is missing", async () => {
    expect((await refusal(await archiveOf(manifestOf(good), goodEntries.slice(0, 1)))).message).toMatch(
      /lib\/b\.txt is missing/,
    );
  });
  test("a manifest from the future", async () => {
    expect((await refusal(await archiveOf(manifestOf(good, { format: 2 }), goodEntries))).message).toMatch(/format 2/);
  });
  test("a release for another platform, before anything of it is unpacked", async () => {
    const refused = await refusal(await archiveOf(manifestOf(good, { platform: "linux-mips" }), []));
    expect([refused.code, refused.message]).toEqual(["update.platform", expect.stringMatching(/is for linux-mips/)]);
  });
  test("no archive at all", async () => {
    const path = join(home, "release.tar.gz");
    await writeFile(path, "this is a letter, not an archive");
    expect((await refusal(path)).code).toBe("release.archive");
  });
  test("no such file", async () => {
    expect((await refusal(join(home, "nowhere.tar.gz"))).next).toMatch(/path/);
  });
});

test("what a killed staging left behind is removed by the next one, and by the next start", async () => {
  await mkdir(join(releases, ".staging-older/config"), { recursive: true });
  await stage(await archiveOf(manifestOf(good), goodEntries));
  expect(await readdir(releases)).toEqual(["1.2.3"]);
  await writeFile(join(releases, ".staging-old"), "");
  expect(await removeStagingLeftovers(releases)).toEqual([".staging-old"]);
  expect(await readdir(releases)).toEqual(["1.2.3"]);
});

test("two stagings at a time do not take each other's folder for a left-over", async () => {
  const archive = await archiveOf(manifestOf(good), goodEntries);
  const other = (token: string) => stageRelease(archive, releases, token, AbortSignal.timeout(100_000), anything);
  const first = other("a");
  // An update asked for right after a start, which still cleans up.
  const swept = removeStagingLeftovers(releases);
  const both = await Promise.all([first, other("b")]);
  expect(await swept).toEqual([]);
  expect(both.map(({ path }) => path)).toEqual([join(releases, "1.2.3"), join(releases, "1.2.3")]);
  expect(await readdir(releases)).toEqual(["1.2.3"]);
});
