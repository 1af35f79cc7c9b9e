import { expect, test } from "vitest";
import { believedStamp, boundsAt, offsetSince, parseStamp } from "../../../../supervisor/core/log-time.ts";

const AT = Date.parse("2026-01-02T03:04:05.678Z");

test.each([
  ["2026-01-02T03:04:05.678Z started", AT],
  ["[2026-01-02 03:04:05,678 UTC] started", AT],
  ["2026-01-02 05:04:05.678 +02:00 LOG: started", AT],
  [`{"level":30,"time":${AT},"msg":"x"}`, AT],
  [`{"level":"info","ts":${AT / 1_000},"msg":"x"}`, AT],
  ['{"timestamp":"2026-01-02T03:04:05.678Z","msg":"x"}', AT],
  ["nothing here", null],
  ["order of 2026-01-02T03:04:05Z arrived", null],
  ['{"due":"2026-01-02T03:04:05Z"}', null],
  ["2026-13-45T99:99:99Z", null],
  ["", null],
])("the stamp of %j is %j", (line, at) => {
  expect(parseStamp(line)).toBe(at);
});

const marks = [
  { size: 10, at: 100 },
  { size: 20, at: 200 },
  { size: 20, at: 250 },
];

test("a byte was written between the marks around it", () => {
  expect(boundsAt(marks, 0, 900)).toEqual({ from: Number.NEGATIVE_INFINITY, to: 100 });
  expect(boundsAt(marks, 9, 900)).toEqual({ from: Number.NEGATIVE_INFINITY, to: 100 });
  expect(boundsAt(marks, 10, 900)).toEqual({ from: 100, to: 200 });
  expect(boundsAt(marks, 20, 900)).toEqual({ from: 250, to: 900 });
  expect(boundsAt([], 5, 900)).toEqual({ from: Number.NEGATIVE_INFINITY, to: 900 });
});

test("a stamp outside the bounds is the program's data", () => {
  const line = "2026-01-02T03:04:05.678Z due";
  expect(believedStamp(line, { from: AT - 10, to: AT + 10 })).toBe(AT);
  expect(believedStamp(line, { from: AT + 60_000, to: AT + 70_000 })).toBeNull();
  expect(believedStamp(line, { from: 0, to: AT - 60_000 })).toBeNull();
});

test("reading begins behind what was surely written before", () => {
  expect(offsetSince(marks, 50)).toBe(0);
  expect(offsetSince(marks, 150)).toBe(10);
  expect(offsetSince(marks, 1_000)).toBe(20);
});
