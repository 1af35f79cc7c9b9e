// Durations and sizes: every unit both ways.

import { expect, test } from "vitest";
import { formatDuration, formatSize, parseDuration, parseSize } from "../../../config/units.ts";

test.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["0.5s", 500],
  ["5m", 300_000],
  ["1h", 3_600_000],
  ["2d", 172_800_000],
])("%s is %i ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
  expect(parseDuration(formatDuration(ms))).toBe(ms);
});

test.each(["330", "", "s", "-1s", "1 s", "1S", "1y", "99999999999999999d", "1e3s"])("%j is no duration", (text) => {
  expect(parseDuration(text)).toBeNull();
});

test.each([
  ["512B", 512],
  ["16KiB", 16_384],
  ["1GiB", 2 ** 30],
  ["1.5GiB", 1.5 * 2 ** 30],
  ["10MB", 10_000_000],
])("%s is %i bytes", (text, bytes) => expect(parseSize(text)).toBe(bytes));

test("budgets are shown in seconds up to ten minutes", () => {
  expect([270_000, 330_000, 360_000, 500, 1_800_000, 0, 86_400_000].map(formatDuration)).toEqual([
    "270s",
    "330s",
    "360s",
    "500ms",
    "30m",
    "0s",
    "1d",
  ]);
  expect([16_384, 2 ** 30, 1.5 * 2 ** 30, 12].map(formatSize)).toEqual(["16KiB", "1GiB", "1.5GiB", "12B"]);
});
