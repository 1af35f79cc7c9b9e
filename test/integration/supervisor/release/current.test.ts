import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { JOB_KINDS } from "../../../../config/config.ts";
import { type HomePaths, homePaths } from "../../../../config/home.ts";
import { MANIFEST_FORMAT } from "../../../../supervisor/core/manifest.ts";
import { createReleaseHistory, pruneReleases, switchCurrent } from "../../../../supervisor/release/current.ts";
import { removeRelease, removeStagingLeftovers } from "../../../../supervisor/release/stage.ts";
import { createPaperDisk, openMemoryStore } from "../../../support/memory-store.ts";

const SHA = "0".repeat(64);
const MANIFEST = {
  format: MANIFEST_FORMAT,
  commit: "0123456",
  builtAt: "2026-11-01T00:00:00.000Z",
  platform: "linux-x64",
  nodeVersion: "26",
  queueSchema: 1,
  jobKinds: Object.fromEntries(JOB_KINDS.map((kind) => [kind, { format: 1, argument: SHA }])),
  migrations: [],
  notes: { ko: [], en: [] },
  files: {},
  links: {},
};

let paths: HomePaths;
beforeEach(() => {
  paths = homePaths(mkdtempSync(join(tmpdir(), "owl-current-")));
  mkdirSync(paths.releases);
});
afterEach(() => rmSync(paths.home, { recursive: true, force: true }));

function release(version: string): string {
  const path = join(paths.releases, version);
  mkdirSync(join(path, "config"), { recursive: true });
  writeFileSync(join(path, "manifest.json"), "{}");
  writeFileSync(join(path, "config/a.ts"), "");
  return path;
}

const historyOf = () => createReleaseHistory(openMemoryStore(createPaperDisk(), () => undefined));

test("`current` goes from one release to the next, whatever a cut switch left beside it", () => {
  switchCurrent(paths, release("1.0.0"));
  writeFileSync(join(paths.home, "current.new"), "left");
  switchCurrent(paths, release("1.1.0"));
  expect(readlinkSync(join(paths.home, "current"))).toBe(join(paths.releases, "1.1.0"));
  expect(readdirSync(paths.home).sort()).toEqual(["current", "releases"]);
});

test("the three newest stay, and the one before the current one; the history forgets those that went", async () => {
  const history = historyOf();
  let before: { version: string; path: string } | null = null;
  for (let n = 1; n <= 6; n++) {
    const entry = { version: `1.${n}.0`, path: release(`1.${n}.0`) };
    history.add({ ...entry, finishedAt: n, copy: null, before });
    before = entry;
  }
  const [first] = history.all().toReversed();
  // Gone back to by hand, the oldest is the current one; what it came after is gone for good.
  if (first) history.add({ ...first, finishedAt: 7 });
  expect([...(await pruneReleases(paths, history, []))].sort()).toEqual(["1.2.0", "1.3.0", "1.4.0"]);
  expect(readdirSync(paths.releases).sort()).toEqual(["1.1.0", "1.5.0", "1.6.0"]);
  expect(history.all().map(({ version }) => version)).toEqual(["1.1.0", "1.6.0", "1.5.0"]);
  expect(await pruneReleases(paths, history, [])).toEqual([]);
});

test("code that lies elsewhere is forgotten, not removed", async () => {
  const history = historyOf();
  const checkout = join(paths.home, "checkout");
  mkdirSync(checkout);
  history.add({ version: "0.1.0", path: checkout, finishedAt: 0, copy: null, before: null });
  for (let n = 1; n <= 3; n++)
    history.add({ version: `1.${n}.0`, path: release(`1.${n}.0`), finishedAt: n, copy: null, before: null });
  expect(await pruneReleases(paths, history, [])).toEqual(["0.1.0"]);
  expect(existsSync(checkout)).toBe(true);
});

test("of those staged and never run the three newest stay, and whatever a record, an instance or `current` names", async () => {
  const history = historyOf();
  const stage = (version: string, at: number): string => {
    const path = release(version);
    writeFileSync(join(path, "manifest.json"), JSON.stringify({ ...MANIFEST, version }));
    utimesSync(path, at, at);
    return path;
  };
  const before = { version: "1.0.0", path: stage("1.0.0", 1) };
  history.add({ version: "1.1.0", path: stage("1.1.0", 2), finishedAt: 1, copy: null, before });
  stage("1.2.0", 3);
  switchCurrent(paths, stage("1.3.0", 4));
  for (const [at, version] of ["2.4.0", "2.0.0", "2.3.0", "2.1.0", "2.2.0"].entries()) stage(version, 10 + at);
  // Put there by hand: no release of that name.
  release("mine");
  expect([...(await pruneReleases(paths, history, ["1.2.0"]))].sort()).toEqual([
    "2.0.0 (staged, never run)",
    "2.4.0 (staged, never run)",
  ]);
  const left = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "2.1.0", "2.2.0", "2.3.0", "mine"];
  expect(readdirSync(paths.releases).sort()).toEqual(left);
  expect(await pruneReleases(paths, history, ["1.2.0"])).toEqual([]);
});

test("a removal that was killed leaves no half release under its version, and is ended by the next start", async () => {
  const path = release("1.0.0");
  // What a kill in the middle of it leaves.
  mkdirSync(join(paths.releases, ".removing-0.9.0/config"), { recursive: true });
  await removeRelease(path);
  expect(readdirSync(paths.releases)).toEqual([".removing-0.9.0"]);
  await removeRelease(path);
  expect(await removeStagingLeftovers(paths.releases)).toEqual([".removing-0.9.0"]);
  expect(readdirSync(paths.releases)).toEqual([]);
});
