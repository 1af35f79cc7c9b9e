import { expect, test } from "vitest";
import { readCronLine } from "../../../../services/schedules/cron-line.ts";

/** The next `n` ticks, as the zone's own clock shows them. */
function ticks(line: string, zone: string, from: string, n: number): string[] {
  const cron = readCronLine(line, zone);
  const shown: string[] = [];
  for (let at = cron.next(Date.parse(from)); at !== null && shown.length < n; at = cron.next(at)) {
    const moment = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
    shown.push(moment.toString({ timeZoneName: "never", smallestUnit: "minute" }));
  }
  return shown;
}

const BERLIN = "Europe/Berlin";

test.each([
  [
    "an ordinary day",
    "0 9 * * 1-5",
    "Asia/Seoul",
    "2026-11-27T12:00Z",
    ["2026-11-30T09:00+09:00", "2026-12-01T09:00+09:00"],
  ],
  [
    "a minute that is jumped over",
    "30 2 * * *",
    BERLIN,
    "2026-03-28T12:00Z",
    ["2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00"],
  ],
  [
    "several that are jumped over",
    "15,45 2 * * *",
    BERLIN,
    "2026-03-28T12:00Z",
    ["2026-03-29T03:00+02:00", "2026-03-30T02:15+02:00"],
  ],
  [
    "the minute jumped to",
    "0 2,3 * * *",
    BERLIN,
    "2026-03-28T12:00Z",
    ["2026-03-29T03:00+02:00", "2026-03-30T02:00+02:00"],
  ],
  [
    "a minute that comes twice",
    "15,45 2 * * *",
    BERLIN,
    "2026-10-24T12:00Z",
    ["2026-10-25T02:15+02:00", "2026-10-25T02:45+02:00", "2026-10-26T02:15+01:00"],
  ],
  [
    "the minute the clock is put back to",
    "0 2 * * *",
    BERLIN,
    "2026-10-24T12:00Z",
    ["2026-10-25T02:00+02:00", "2026-10-26T02:00+01:00"],
  ],
  ["asked in the second time round", "30 2,4 * * *", BERLIN, "2026-10-25T01:10Z", ["2026-10-25T04:30+01:00"]],
  [
    "every hour while it is put back",
    "0 * * * *",
    BERLIN,
    "2026-10-24T23:30Z",
    ["2026-10-25T02:00+02:00", "2026-10-25T02:00+01:00", "2026-10-25T03:00+01:00"],
  ],
  [
    "every hour while it jumps",
    "30 */1 * * *",
    BERLIN,
    "2026-03-29T00:00Z",
    ["2026-03-29T01:30+01:00", "2026-03-29T03:30+02:00"],
  ],
  [
    "a midnight that does not exist",
    "0 0 * * *",
    "America/Havana",
    "2026-03-07T12:00Z",
    ["2026-03-08T01:00-04:00", "2026-03-09T00:00-04:00"],
  ],
  [
    "half an hour of summer time",
    "45 1 * * *",
    "Australia/Lord_Howe",
    "2026-04-04T12:00Z",
    ["2026-04-05T01:45+11:00", "2026-04-06T01:45+10:30"],
  ],
  [
    "a day that a country left out",
    "0 12 * * *",
    "Pacific/Apia",
    "2011-12-29T23:00Z",
    ["2011-12-31T00:00+14:00", "2011-12-31T12:00+14:00"],
  ],
  ["a leap day", "0 0 29 2 *", "Asia/Seoul", "2096-03-01T00:00Z", ["2104-02-29T00:00+09:00"]],
  ["a day that never comes", "0 0 30 2 *", "Asia/Seoul", "2026-01-01T00:00Z", []],
])("%s: %s in %s", (_, line, zone, from, expected) => {
  expect(ticks(line, zone, from, Math.max(1, expected.length))).toEqual(expected);
});

test.each([
  "",
  "* * * *",
  "* * * * * *",
  "@daily",
  "60 * * * *",
  "1/0 * * * *",
  "a b c d e",
  "* * * * *\n0",
  "0 0 0 0 0",
])("%j is refused with a sentence", (line) => {
  expect(() => readCronLine(line, "UTC")).toThrowError(/cron line/);
});

test("an unknown zone is refused by its name", () => {
  expect(() => readCronLine("* * * * *", "Mars/Olympus")).toThrowError(/Mars\/Olympus/);
});

test("every tick is a minute the line names, none is left out: against the clock itself, minute by minute", () => {
  const zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Seoul", "America/Santiago"];
  for (const zone of zones) {
    const clock = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit" });
    for (const day of [
      "2026-03-07",
      "2026-03-28",
      "2026-04-04",
      "2026-09-05",
      "2026-10-03",
      "2026-10-24",
      "2026-10-31",
    ]) {
      const from = Date.parse(`${day}T00:00Z`);
      const cron = readCronLine("*/20 * * * *", zone);
      const told: number[] = [];
      for (let at = cron.next(from); at !== null && at <= from + 2 * 86_400_000; at = cron.next(at)) told.push(at);
      const seen = Array.from({ length: 2 * 1_440 }, (_, n) => from + (n + 1) * 60_000).filter((at) =>
        /:[024]0$/.test(clock.format(at)),
      );
      expect(told).toEqual(seen);
    }
  }
});
