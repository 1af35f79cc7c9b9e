// Everything a backup directory gets (mark, log, uploads, releases, backups) and loses (pruning), cut after each act.

import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../../../config/system-time.ts";
import { backupId, MANIFEST, parseBackupManifest } from "../../../../../supervisor/postgres/backups/core/manifest.ts";
import { parsePiece } from "../../../../../supervisor/postgres/backups/core/wal.ts";
import { claimPlace, OWN_RELEASES, type OwnPlace } from "../../../../../supervisor/postgres/backups/directory.ts";
import { type Disk, systemDisk } from "../../../../../supervisor/postgres/backups/disk.ts";
import { keepReleases, restoreReleases } from "../../../../../supervisor/postgres/backups/own-releases.ts";
import { prune } from "../../../../../supervisor/postgres/backups/prune.ts";
import { openUploadKeeper } from "../../../../../supervisor/postgres/backups/uploads.ts";
import { createOwnReleases } from "../../../../../supervisor/release/own/folder.ts";
import { createPaperFiles } from "../../../../support/paper-files.ts";

const HOUR_MS = 3_600_000;
const never = new AbortController().signal;
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "owl-cut-"));
  for (const name of ["backup", "uploads"]) mkdirSync(join(root, name));
});
afterEach(async () => {
  for (const { id } of await createOwnReleases(join(root, "own"), () => 0).all())
    await createOwnReleases(join(root, "own"), () => 0).remove(id);
  rmSync(root, { recursive: true, force: true });
});

async function makeRelease(id: string): Promise<void> {
  const releases = createOwnReleases(join(root, "own"), () => 1e6);
  const code = await releases.begin(id);
  mkdirSync(join(code, "bin"));
  writeFileSync(join(code, "bin/serve.sh"), `#!/bin/sh\necho ${id}\n`, { mode: 0o755 });
  await releases.finish(id, { from: "here", madeAt: "2026-11-30T12:00:00Z" }, never);
}

async function backUp(place: OwnPlace, hour: number) {
  const id = backupId(hour * HOUR_MS);
  const name = join("base", id);
  await place.makeDirectory("base", id);
  await place.putPiece({ epoch: 0, timeline: 1, from: BigInt(hour * 100), to: BigInt(hour * 100 + 100) }, [
    Buffer.from("log"),
  ]);
  const data = await place.put(name, [Buffer.from(`data of ${id}`)], () => "data.tar.zst");
  const known = (await place.backups()).flatMap(({ ownReleases }) => ownReleases);
  const own = await keepReleases(place, join(root, "own"), known);
  const at = new Date(hour * HOUR_MS).toISOString();
  const manifest = {
    ...{ format: 1, id, installation: "one", startedAt: at, endedAt: at, version: "1.0.0", migrations: {}, counts: {} },
    postgres: {
      ...{ major: 17, systemId: "1", epoch: 0, timeline: 1, segmentBytes: 1 << 24, bytes: 9 },
      ...{ start: `0/${(hour * 100).toString(16)}`, end: `0/${(hour * 100 + 100).toString(16)}` },
    },
    ...{ releases: [], files: [data], uploads: (await place.uploads()).map((one) => one.name), ownReleases: own.files },
  };
  await place.putText(name, MANIFEST, JSON.stringify(manifest));
  return own;
}

/** A day of a backup directory, on that disk. */
async function live(disk: Disk): Promise<void> {
  const path = join(root, "backup");
  const place = await claimPlace({
    path,
    installation: "one",
    holder: "h",
    held: false,
    passphrase: null,
    nowMs: 0,
    disk,
  });
  const directory = join(root, "uploads");
  const keeper = await openUploadKeeper({ clock: systemClock, place, directory, bytesPerS: 0 });
  const upload = randomUUID();
  await makeRelease("1");
  for (const hour of [1, 2, 3]) {
    writeFileSync(join(directory, upload), "more ".repeat(hour));
    await keeper.runOnce(never);
    if (hour === 2) {
      await makeRelease("2");
      await createOwnReleases(join(root, "own"), () => 0).remove("1");
    }
    await backUp(place, hour);
    await prune(place, { hourly: 1, daily: 0, weekly: 0 }, directory);
  }
}

const sha256 = (text: string) => createHash("sha256").update(Buffer.from(text, "latin1")).digest("hex");

/** What is wrong with the directory as a cut left it. */
function faultsOf(left: ReadonlyMap<string, string>): string[] {
  const faults: string[] = [];
  const at = (...parts: string[]) => left.get(join(root, "backup", ...parts));
  for (const [path, text] of left) {
    const name = basename(path);
    const hash = parsePiece(name)?.sha256 ?? /-([0-9a-f]{64})\.upload$/.exec(name)?.[1];
    if (hash !== undefined && hash !== sha256(text)) faults.push(`${name} is not what its name says`);
    if (name !== MANIFEST) continue;
    const id = basename(join(path, ".."));
    const manifest = parseBackupManifest(text);
    if (manifest === null) {
      faults.push(`${id}: ${MANIFEST}`);
      continue;
    }
    const { files, ownReleases, uploads } = manifest;
    for (const file of files)
      if (sha256(at("base", id, file.name) ?? "") !== file.sha256) faults.push(`${id}: ${file.name}`);
    for (const file of ownReleases)
      if (sha256(at(OWN_RELEASES, file.name) ?? "") !== file.sha256) faults.push(`${id}: ${file.name}`);
    const stored = [...left.keys()].map((one) => basename(one));
    for (const one of uploads)
      if (!stored.some((other) => other.startsWith(one.slice(0, 36)))) faults.push(`${id}: ${one}`);
  }
  return faults;
}

function faultsOfEveryCut(paper: ReturnType<typeof createPaperFiles>): string[] {
  const found = new Set<string>();
  for (let count = 0; count <= paper.acts.length; count++)
    for (const left of [paper.worstAfter(count), paper.namesAfter(count), ...paper.returnedAfter(count)])
      for (const fault of faultsOf(left)) found.add(fault);
  return [...found];
}

test("wherever it is cut, each name stands for its content, and each backup has all that it lists", async () => {
  const paper = createPaperFiles(systemDisk);
  await live(paper.disk);
  expect(faultsOfEveryCut(paper)).toEqual([]);
  const end = paper.namesAfter(paper.acts.length);
  expect([...end.keys()].filter((path) => basename(path) === MANIFEST)).toHaveLength(1);
  expect([...end.keys()].filter((path) => path.endsWith(".upload"))).toHaveLength(1);
});

test.each(["sync", "syncDirectory"] as const)("a disk that forgets %s is found out", async (left) => {
  const paper = createPaperFiles(systemDisk);
  const { disk } = paper;
  await live({
    ...disk,
    create: async (path) => ({
      ...(await disk.create(path)),
      ...(left === "sync" ? { sync: async () => undefined } : {}),
    }),
    ...(left === "syncDirectory" ? { syncDirectory: async () => undefined } : {}),
  });
  expect(faultsOfEveryCut(paper)).not.toEqual([]);
});

test("a release of a team's own code comes back as it was, also over a cut restore; a damaged one is refused", async () => {
  const path = join(root, "backup");
  const place = await claimPlace({ path, installation: "one", holder: "h", held: false, passphrase: null, nowMs: 0 });
  await makeRelease("7");
  const kept = await backUp(place, 1);
  const folder = join(root, "restored");
  mkdirSync(join(folder, "7/code/half"), { recursive: true });
  await restoreReleases(place, kept, folder, never);
  const releases = createOwnReleases(folder, () => 0);
  expect(await releases.all()).toEqual(kept.records);
  await releases.remove("7");

  writeFileSync(place.file(OWN_RELEASES, kept.files[0]?.name ?? ""), "other bytes");
  await expect(restoreReleases(place, kept, folder, never)).rejects.toMatchObject({ code: "backup.damaged" });
});
