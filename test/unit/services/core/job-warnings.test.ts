// Which kind of job has a problem, and which is looked at first.

import { expect, test } from "vitest";
import { jobWarnings, type KindFigures, problemsFirst, slowAfterMs } from "../../../../services/core/job-warnings.ts";

const limits = { claimMs: 420_000, turnLimitMs: 1_800_000 };

const figures = (change: Partial<KindFigures> = {}): KindFigures => ({
  kind: "transcription",
  queued: 0,
  running: 0,
  failedLastDay: 0,
  oldestWaitingMs: null,
  longestRunningMs: null,
  withoutWorker: 0,
  p95Ms: null,
  measured: 0,
  ...change,
});

test("a job that waits longer than the claim limit is told, with both figures", () => {
  expect(jobWarnings(figures({ oldestWaitingMs: 420_000 }), limits)).toEqual([]);
  expect(jobWarnings(figures({ oldestWaitingMs: 420_001 }), limits)).toEqual([
    { what: "waitsLong", count: null, ms: 420_001, limitMs: 420_000 },
  ]);
});

test("slow is three times the measured p95, once enough was measured, and never below a minute", () => {
  expect(slowAfterMs(figures({ p95Ms: 40_000, measured: 19 }), limits)).toBeNull();
  expect(slowAfterMs(figures({ p95Ms: 40_000, measured: 20 }), limits)).toBe(120_000);
  expect(slowAfterMs(figures({ p95Ms: 100, measured: 20 }), limits)).toBe(60_000);
  expect(jobWarnings(figures({ p95Ms: 40_000, measured: 20, longestRunningMs: 120_001 }), limits)).toMatchObject([
    { what: "runsLong", ms: 120_001, limitMs: 120_000 },
  ]);
});

test("a turn is slow at its limit at the latest, also with nothing measured", () => {
  expect(slowAfterMs(figures({ kind: "chat" }), limits)).toBe(1_800_000);
  expect(slowAfterMs(figures({ kind: "chat", p95Ms: 3_000_000, measured: 50 }), limits)).toBe(1_800_000);
});

test("running without a living worker comes before everything else", () => {
  const all = figures({ withoutWorker: 2, oldestWaitingMs: 500_000, longestRunningMs: 9e9, p95Ms: 1, measured: 20 });
  expect(jobWarnings(all, limits).map(({ what }) => what)).toEqual(["withoutWorker", "waitsLong", "runsLong"]);
});

test("kinds with warnings come first, then those with failures, then what waits longest", () => {
  const sorted = problemsFirst(
    [
      figures({ kind: "chat", oldestWaitingMs: 5 }),
      figures({ kind: "playbook", failedLastDay: 1 }),
      figures({ kind: "transcription", oldestWaitingMs: 9 }),
      figures({ kind: "schema-analysis", withoutWorker: 1 }),
    ],
    limits,
  );
  expect(sorted.map(({ kind }) => kind)).toEqual(["schema-analysis", "playbook", "transcription", "chat"]);
});
