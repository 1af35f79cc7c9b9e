import { expect, test } from "vitest";
import type { BackupManifest } from "../../../../../../supervisor/postgres/backups/core/manifest.ts";
import {
  backupFor,
  idleUploads,
  idleWal,
  isClockBehind,
  judgeDrill,
  keptBackups,
  untilNextMs,
} from "../../../../../../supervisor/postgres/backups/core/schedule.ts";
import type { WalPiece } from "../../../../../../supervisor/postgres/backups/core/wal.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = Date.parse("2026-11-30T12:00:00Z");

function backup(id: string, agoMs: number, change: Partial<BackupManifest["postgres"]> = {}): BackupManifest {
  const at = new Date(NOW_MS - agoMs).toISOString();
  const postgres = {
    major: 15,
    systemId: "1",
    epoch: 0,
    timeline: 1,
    segmentBytes: 16,
    start: "0/0",
    end: "0/0",
    bytes: 0,
  };
  return {
    ...{ format: 1 as const, id, installation: "i", startedAt: at, endedAt: at, version: "0.1.0", migrations: {} },
    ...{ postgres: { ...postgres, ...change }, counts: {}, releases: [], files: [], uploads: [], ownReleases: [] },
  };
}
const piece = (from: number, to: number, change: Partial<WalPiece> = {}): WalPiece => ({
  ...{ epoch: 0, timeline: 1, from: BigInt(from), to: BigInt(to), sha256: "" },
  ...change,
});

test("a backup is due at once without one, later by its age, and after a failure with growing pauses", () => {
  const facts = { nowMs: NOW_MS, newestMs: null, everyMs: HOUR_MS, failures: 0, lastTryMs: null };
  expect(untilNextMs(facts)).toBe(0);
  expect(untilNextMs({ ...facts, newestMs: NOW_MS - 1_000 })).toBe(HOUR_MS - 1_000);
  const pauses = [1, 2, 3, 30].map((failures) => untilNextMs({ ...facts, failures, lastTryMs: NOW_MS }));
  expect(pauses).toEqual([30_000, 60_000, 120_000, HOUR_MS]);
});

test("a clock behind the newest backup is seen, a little lag is none", () => {
  expect(isClockBehind(NOW_MS, NOW_MS + 30_000)).toBe(false);
  expect(isClockBehind(NOW_MS, NOW_MS + 120_000)).toBe(true);
  expect(isClockBehind(NOW_MS, null)).toBe(false);
});

test("the newest of each of the last hours, days and weeks stays, and always the newest of all", () => {
  const times = new Map(Array.from({ length: 60 }, (_, n) => [`b${n}`, NOW_MS - n * 6 * HOUR_MS] as const));
  const kept = keptBackups(times, { hourly: 2, daily: 3, weekly: 2 });
  expect([...kept.hourly]).toEqual(["b0", "b1"]);
  expect([...kept.all]).toEqual(["b0", "b1", "b3", "b7", "b19"]);
  expect([...keptBackups(new Map([["only", 0]]), { hourly: 0, daily: 0, weekly: 0 }).all]).toEqual(["only"]);
});

test("a restored home's first backup does not take away the one of the same hour that led to it", () => {
  const times = new Map([
    ["before", NOW_MS],
    ["after", NOW_MS + 60_000],
  ]);
  const keep = { hourly: 2, daily: 0, weekly: 0 };
  expect([...keptBackups(times, keep).all]).toEqual(["after"]);
  expect([...keptBackups(times, keep, (id) => id).all]).toEqual(["after", "before"]);
});

test("of the log all stays from the oldest hourly backup on, and of an older one just what lies within it", () => {
  const kept = [
    backup("old", DAY_MS, { start: "0/20", end: "0/28" }),
    backup("new", 0, { start: "0/80", end: "0/88" }),
  ];
  const pieces = [piece(0, 32), piece(32, 48), piece(48, 64), piece(112, 128), piece(128, 144), piece(144, 160)];
  expect(idleWal(pieces, kept, new Set(["new"])).map(({ from }) => from)).toEqual([0n, 48n, 112n]);
  expect(idleWal(pieces, kept, new Set(["old", "new"])).map(({ from }) => from)).toEqual([0n]);
  expect(idleWal(pieces, [], new Set())).toEqual([]);
});

test("a line of history without a backup yet is kept, one before all backups is not", () => {
  const kept = [backup("b", 0, { timeline: 2 })];
  const pieces = [piece(0, 16), piece(0, 16, { timeline: 3 }), piece(0, 16, { timeline: 1, epoch: 1 })];
  expect(idleWal(pieces, kept, new Set(["b"]))).toEqual([piece(0, 16)]);
});

test("an upload goes once it lies nowhere, no kept backup lists it and no moment needs it", () => {
  const stored = ["listed", "living", "late", "idle"].map((id) => ({
    ...{ name: `${id}.upload`, id },
    atMs: id === "late" ? NOW_MS : NOW_MS - 2 * DAY_MS,
  }));
  const kept = [{ ...backup("b", DAY_MS), uploads: ["listed.upload"] }];
  expect(idleUploads({ stored, living: new Set(["living"]), kept, hourly: new Set(["b"]) })).toEqual(["idle.upload"]);
});

test("the backup for a moment is the newest that had ended by then", () => {
  const backups = [backup("a", 3 * HOUR_MS), backup("b", 2 * HOUR_MS), backup("c", HOUR_MS)];
  expect(backupFor(backups, null)?.id).toBe("c");
  expect(backupFor(backups, NOW_MS - 2 * HOUR_MS)?.id).toBe("b");
  expect(backupFor(backups, NOW_MS - DAY_MS)).toBeNull();
});

test("a drill is due soon after the first backup, then by its rhythm, and the day after a failure", () => {
  const week = 7 * DAY_MS;
  const judge = (firstAgoMs: number, last: { agoMs: number; passed: boolean } | null) =>
    judgeDrill({
      nowMs: NOW_MS,
      firstMs: NOW_MS - firstAgoMs,
      last: last && { at: new Date(NOW_MS - last.agoMs).toISOString(), passed: last.passed },
      everyMs: week,
    });
  expect(judge(0, null)).toEqual({ isDue: false, warning: null });
  expect(judge(2 * HOUR_MS, null)).toEqual({ isDue: true, warning: null });
  expect(judge(3 * week, null)).toEqual({ isDue: true, warning: "missing" });
  expect(judge(week, { agoMs: DAY_MS, passed: true })).toEqual({ isDue: false, warning: null });
  expect(judge(week, { agoMs: 1, passed: false })).toEqual({ isDue: false, warning: "failed" });
  expect(judge(week, { agoMs: DAY_MS, passed: false })).toEqual({ isDue: true, warning: "failed" });
  expect(judge(4 * week, { agoMs: 3 * week, passed: true })).toEqual({ isDue: true, warning: "missing" });
});
