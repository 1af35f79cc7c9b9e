// What wears out slowly: in how many days a disk is full, and what of the database is to be told.

import { expect, test } from "vitest";
import { en } from "../../../../supervisor/core/text/text.ts";
import { type DiskSample, fullInDays, wearWarnings, withSample } from "../../../../supervisor/core/wear.ts";

const HOUR_MS = 3_600_000;
const GB = 1e9;

/** A sample every two hours: what is free at each. */
const samples = (hours: number, freeAt: (hour: number) => number): DiskSample[] =>
  Array.from({ length: hours / 2 + 1 }, (_, n) => [n * 2 * HOUR_MS, freeAt(n * 2)] as const);

test("a disk that loses 10 GB a day is full in 9 days when 90 GB are left", () => {
  expect(fullInDays(samples(72, (hour) => 120 * GB - (10 * GB * hour) / 24))).toBe(9);
});

test.each([
  ["nothing was looked at", []],
  ["less than a day was", samples(22, (hour) => (100 - hour) * GB)],
  ["nothing changes", samples(72, () => 90 * GB)],
  ["it gets emptier", samples(72, (hour) => (90 + hour) * GB)],
  ["something large came once, and nothing since", samples(72, (hour) => (hour < 20 ? 90 : 40) * GB)],
  ["something large comes now, for the first time", samples(72, (hour) => (hour < 72 ? 90 + hour / 10 : 90) * GB)],
  ["it lasts for years", samples(72, (hour) => 90 * GB - hour * 1e6)],
])("no forecast when %s", (_, found) => {
  expect(fullInDays(found)).toBeNull();
});

test("a sample is kept every two hours, for two weeks; a clock set back begins anew", () => {
  let kept: readonly DiskSample[] = [];
  for (let minute = 0; minute < 30 * 24 * 60; minute += 30) kept = withSample(kept, [minute * 60_000, GB]);
  expect(kept).toHaveLength(14 * 12 + 1);
  expect(withSample(kept, [kept.at(-1)?.[0] ?? 0, 0])).toBe(kept);
  expect(withSample(kept, [5, GB])).toEqual([[5, GB]]);
});

const calm = { checksums: true, xidAge: 190_000_000, dead: { table: "owl.turn", dead: 90_000, live: 10 } };
const told = (facts: Partial<Parameters<typeof wearWarnings>[0]>) =>
  [...wearWarnings({ disks: [], database: calm, managed: true, ...facts })].flatMap(([key, say]) =>
    say === null ? [] : [`${key}: ${say(en).split(/: |\. | \(/)[0]}`],
  );

test("what is as it should be is not told, and what is not is", () => {
  expect(told({})).toEqual([]);
  expect(told({ database: null })).toEqual([]);
  const disks = (days: number | null) => [{ path: "/srv/owl", freeBytes: 9 * GB, fullInDays: days }];
  expect(told({ disks: disks(30) })).toEqual([]);
  expect(told({ disks: disks(9) })).toEqual([
    "disk forecast: The disk of /srv/owl is full in 9 days if it goes on like this",
  ]);
  expect(told({ database: { ...calm, dead: { table: "owl.turn", dead: 900_000, live: 1_000_000 } } })).toEqual([
    "database dead rows: The table owl.turn holds 900000 dead rows beside 1000000 living ones",
  ]);
  expect(told({ database: { ...calm, dead: { table: "owl.turn", dead: 900_000, live: 9_000_000 } } })).toEqual([]);
  expect(told({ database: { ...calm, xidAge: 600_000_000 } })).toHaveLength(1);
  expect(told({ database: { ...calm, checksums: false } })).toEqual([
    "database checksums: The database has no data checksums",
  ]);
  expect(told({ database: { ...calm, checksums: false }, managed: false })).toEqual([]);
});
