// Whose a backup directory is, and what is said when it cannot be used: one sentence each, nothing written.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MARK } from "../../../../../supervisor/postgres/backups/core/mark.ts";
import { claimPlace, markStandby, openPlace } from "../../../../../supervisor/postgres/backups/directory.ts";
import { systemDisk } from "../../../../../supervisor/postgres/backups/disk.ts";

let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "owl-place-"));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

const claim = (change: Partial<Parameters<typeof claimPlace>[0]> = {}) =>
  claimPlace({ path, installation: "one", holder: "home", held: false, passphrase: null, nowMs: 0, ...change });
const PIECE = { epoch: 0, timeline: 1, from: 0n, to: 3n };
const refused = (code: string) => expect.objectContaining({ code: `backup.${code}` });

test("an empty directory is made ours, and found again", async () => {
  const place = await claim();
  await place.putPiece(PIECE, [Buffer.from("abc")]);
  expect((await (await claim({ held: true })).pieces()).map(({ to }) => to)).toEqual([3n]);
  expect(await place.backups()).toEqual([]);
});

test("a directory that holds other things is left alone", async () => {
  writeFileSync(join(path, "holiday.jpg"), "");
  await expect(claim()).rejects.toEqual(refused("notEmpty"));
  expect(readdirSync(path)).toEqual(["holiday.jpg"]);
});

test("a directory that a link leads into the home is no place for backups", async () => {
  const home = mkdtempSync(join(tmpdir(), "owl-home-"));
  try {
    mkdirSync(join(home, "kept"));
    symlinkSync(join(home, "kept"), join(path, "link"));
    await expect(claim({ path: join(path, "link"), home })).rejects.toEqual(refused("inHome"));
    expect(readdirSync(join(home, "kept"))).toEqual([]);
    mkdirSync(`${home}-kept`);
    await claim({ path: `${home}-kept`, home });
  } finally {
    rmSync(home, { recursive: true, force: true });
    rmSync(`${home}-kept`, { recursive: true, force: true });
  }
});

test("two installations never write into one directory", async () => {
  await claim();
  await expect(claim({ installation: "two" })).rejects.toEqual(refused("foreign"));
});

test("a restored home takes over, and the one before it stops at its next write", async () => {
  const before = await claim();
  const after = await claim({ holder: "restored home" });
  await expect(before.putPiece(PIECE, [Buffer.from("abc")])).rejects.toEqual(refused("taken"));
  await expect(claim({ held: true })).rejects.toEqual(refused("taken"));
  await after.putPiece(PIECE, [Buffer.from("abc")]);
});

test("whoever wrote before a standby was promoted is replaced; the promoted home writes on", async () => {
  const seen: boolean[] = [];
  const before = await claim({ seen: ({ standby }) => void seen.push(standby) });
  await markStandby(path, (await openPlace(path, null)).mark, "follows");
  await before.putPiece(PIECE, [Buffer.from("abc")]);
  expect(seen).toEqual([false, true]);
  await markStandby(path, (await openPlace(path, null)).mark, "promoted");
  await expect(before.putPiece(PIECE, [Buffer.from("abc")])).rejects.toEqual(refused("replaced"));
  await expect(claim({ held: true })).rejects.toEqual(refused("replaced"));
  const after = await claim({ holder: "standby" });
  await after.putPiece(PIECE, [Buffer.from("abc")]);
  await (await claim({ holder: "standby", held: true, generation: 1 })).check();
});

test("an unmounted mount point is never written into, at a start or in the middle", async () => {
  const place = await claim();
  rmSync(path, { recursive: true });
  mkdirSync(path);
  await expect(place.putPiece(PIECE, [Buffer.from("abc")])).rejects.toEqual(refused("unmounted"));
  await expect(place.remove("wal", "x")).rejects.toEqual(refused("unmounted"));
  await expect(claim({ held: true })).rejects.toEqual(refused("unmounted"));
  expect(readdirSync(path)).toEqual([]);
  rmSync(path, { recursive: true });
  await expect(claim({ held: true })).rejects.toEqual(refused("unmounted"));
});

test.each([
  ["ENOSPC", "full"],
  ["EDQUOT", "full"],
  ["EROFS", "readOnly"],
  ["EACCES", "readOnly"],
  ["ESTALE", "unmounted"],
  ["EIO", "io"],
])("a disk that answers %s is told as %s, and nothing half-done is left", async (code, told) => {
  const create = async (): Promise<never> => {
    throw Object.assign(new Error(code), { code });
  };
  await claim();
  const place = await claim({ disk: { ...systemDisk, create } });
  await expect(place.putPiece(PIECE, [Buffer.from("abc")])).rejects.toEqual(refused(told));
  expect(readdirSync(join(path, "wal"))).toEqual([]);
});

test("a source that fails before the disk is ready fails its own write, and nothing else", async () => {
  const create: typeof systemDisk.create = async (name) => {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    return await systemDisk.create(name);
  };
  await claim();
  const place = await claim({ held: true, disk: { ...systemDisk, create } });
  const failing = async function* (): AsyncGenerator<Buffer> {
    yield* [];
    throw new Error("the source broke off");
  };
  await expect(place.put("uploads", failing(), () => "x")).rejects.toThrow("broke off");
  expect(readdirSync(place.file("uploads"))).toEqual([]);
});

test("a damaged mark is said, not replaced", async () => {
  writeFileSync(join(path, MARK), "{");
  await expect(claim()).rejects.toEqual(refused("markUnreadable"));
  expect(readdirSync(path)).toEqual([MARK]);
});

test("a backup whose manifest is damaged is named, and hides no other one", async () => {
  const place = await claim();
  for (const id of ["2026-11-29T12-00-00Z", "2026-11-30T12-00-00Z"]) mkdirSync(place.file("base", id));
  writeFileSync(place.file("base", "2026-11-30T12-00-00Z", "manifest.json"), "{");
  expect([await place.backups(), await place.unreadable()]).toEqual([[], ["2026-11-30T12-00-00Z"]]);
});

test("sealed backups open with their passphrase only, and one begun in the clear does not go on sealed", async () => {
  const passphrase = "correct horse battery staple";
  await claim({ passphrase });
  await expect(openPlace(path, null)).rejects.toEqual(refused("noKey"));
  await expect(openPlace(path, "another passphrase")).rejects.toEqual(refused("wrongKey"));
  expect((await openPlace(path, passphrase)).key).not.toBeNull();
  const open = mkdtempSync(join(tmpdir(), "owl-place-"));
  await claim({ path: open });
  await expect(claim({ path: open, passphrase })).rejects.toEqual(refused("notSealed"));
  rmSync(open, { recursive: true });
});

test("a directory without a mark holds no backup of ours", async () => {
  await expect(openPlace(path, null)).rejects.toEqual(refused("noneThere"));
});

test("a directory that was never there is to be made, one that was ours is to be mounted", async () => {
  const nowhere = join(path, "nowhere");
  await expect(claim({ path: nowhere })).rejects.toEqual(refused("noDirectory"));
  await expect(claim({ path: nowhere, held: true })).rejects.toEqual(refused("unmounted"));
});
