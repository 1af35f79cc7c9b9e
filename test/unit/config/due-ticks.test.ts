// Ten thousand ticks in simulated time: the clock jumps, nobody looks for hours, processes are started anew and race for
// the same ticks; nothing is lost, nothing runs twice, by policy. The store is a map; what decides is the real thing.

import fc from "fast-check";
import { expect, test } from "vitest";
import { LATE_MS, type MissedPolicy, planTicks } from "../../../config/due-ticks.ts";
import { readCronLine } from "../../../services/schedules/cron-line.ts";

const MINUTE = 60_000;

interface Row {
  readonly tickAt: number;
  readonly untilAt: number | null;
  readonly outcome: "started" | "missed";
}

/** One schedule as the database keeps it; `pass` is one process's look at it. */
function world(cron: string, zone: string, missed: MissedPolicy, startMs: number) {
  const line = readCronLine(cron, zone);
  const rows = new Map<number, Row>();
  let nextAt = line.next(startMs);
  let plannedAt = startMs;
  return {
    rows,
    line,
    pass(nowMs: number): void {
      if (plannedAt > nowMs + MINUTE) {
        for (const row of rows.values()) {
          if (row.outcome !== "missed") continue;
          if (row.tickAt >= nowMs) rows.delete(row.tickAt);
          else if ((row.untilAt ?? 0) > nowMs) rows.set(row.tickAt, { ...row, untilAt: nowMs });
        }
        nextAt = line.next(nowMs - 1);
        plannedAt = nowMs;
      }
      if (nextAt === null || nextAt > nowMs) return;
      const plan = planTicks({ nextAt, missed }, line, nowMs);
      for (const [ticks, outcome] of [
        [plan.missed, "missed"],
        [plan.run, "started"],
      ] as const) {
        if (ticks !== null && !rows.has(ticks.tickAt)) rows.set(ticks.tickAt, { ...ticks, outcome });
      }
      nextAt = plan.nextAt;
      plannedAt = nowMs;
    },
  };
}

/** Ticks of the line in a time that neither ran nor are told. */
function untold(rows: Iterable<Row>, ticks: readonly number[]): number[] {
  const told = [...rows];
  return ticks.filter(
    (at) => !told.some((row) => row.tickAt === at || (row.untilAt !== null && row.tickAt <= at && at < row.untilAt)),
  );
}

const CASES = [
  ["*/10 * * * *", "Europe/Berlin", Date.parse("2026-03-20T00:00Z")],
  ["*/10 * * * *", "Australia/Lord_Howe", Date.parse("2026-09-25T00:00Z")],
  ["0,30 0-5 * * *", "America/New_York", Date.parse("2026-10-20T00:00Z")],
  ["15 2 * * *", "Europe/Berlin", Date.parse("2026-03-01T00:00Z")],
  ["* * * * *", "Asia/Seoul", Date.parse("2026-01-01T00:00Z")],
] as const;

test("10,000 ticks looked at in time run once each, over every change of the clock in their zones", () => {
  let count = 0;
  for (const [cron, zone, start] of CASES) {
    const { rows, line, pass } = world(cron, zone, "skip", start);
    const expected: number[] = [];
    for (let at = line.next(start); at !== null && expected.length < 2_000; at = line.next(at)) {
      expected.push(at);
      pass(at - 1);
      // Two processes look, one of them late; one was started anew.
      pass(at + 700);
      pass(at + 900);
    }
    expect([...rows.values()]).toEqual(expected.map((tickAt) => ({ tickAt, untilAt: null, outcome: "started" })));
    count += rows.size;
  }
  expect(count).toBe(10_000);
});

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("time" as const), minutes: fc.integer({ min: 1, max: 12 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("away" as const), minutes: fc.integer({ min: 1, max: 3_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("jump" as const),
      minutes: fc.integer({ min: -600, max: 60 * 24 * 400 }),
    }),
  },
);

test("whatever the clock does, no tick runs twice, and those of a clock that only goes on are all told", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...CASES),
      fc.constantFrom<MissedPolicy>("skip", "once"),
      fc.array(step, { minLength: 20, maxLength: 60 }),
      ([cron, zone, start], missed, steps) => {
        const { rows, line, pass } = world(cron, zone, missed, start);
        const ran: number[] = [];
        const seen = new Set<number>();
        let now = start;
        let skew = 0;
        const look = () => {
          pass(now + skew);
          for (const row of rows.values()) {
            if (row.outcome !== "started" || seen.has(row.tickAt)) continue;
            seen.add(row.tickAt);
            ran.push(row.tickAt);
          }
        };
        for (const { kind, minutes } of steps) {
          if (kind === "time") {
            for (let n = 0; n < minutes; n++) {
              now += MINUTE;
              look();
            }
          } else if (kind === "away") now += minutes * MINUTE;
          else {
            // It is wrong for a while, and then put right.
            skew = minutes * MINUTE;
            look();
            skew = 0;
          }
          look();
        }
        expect(new Set(ran).size).toBe(ran.length);
        const ticks: number[] = [];
        for (let at = line.next(start); at !== null && at <= now && ticks.length < 4_000; at = line.next(at))
          ticks.push(at);
        expect(untold(rows.values(), ticks)).toEqual([]);
        return true;
      },
    ),
    { numRuns: 30, seed: 13 },
  );
});

const HOURLY = readCronLine("0 * * * *", "UTC");
const at = (text: string) => Date.parse(`2026-05-01T${text}Z`);

test.each([
  ["in time", "skip", "09:00", "09:00:02", { missed: null, run: ["09:00", null], nextAt: "10:00" }],
  ["a little late", "skip", "09:00", "09:05", { missed: null, run: ["09:00", null], nextAt: "10:00" }],
  ["too late, left out", "skip", "09:00", "09:06", { missed: ["09:00", "10:00"], run: null, nextAt: "10:00" }],
  [
    "hours late, made up for once",
    "once",
    "09:00",
    "13:30",
    { missed: null, run: ["09:00", "14:00"], nextAt: "14:00" },
  ],
  [
    "hours late, the newest in time",
    "once",
    "09:00",
    "13:01",
    { missed: ["09:00", "13:00"], run: ["13:00", null], nextAt: "14:00" },
  ],
] as const)("%s", (_, missed, nextAt, now, expected) => {
  const ticks = (pair: readonly [string, string | null] | null) =>
    pair && { tickAt: at(pair[0]), untilAt: pair[1] === null ? null : at(pair[1]) };
  expect(planTicks({ nextAt: at(nextAt), missed }, HOURLY, at(now))).toEqual({
    missed: ticks(expected.missed),
    run: ticks(expected.run),
    nextAt: at(expected.nextAt),
  });
});

test("a year that nobody looked costs no more than an hour", () => {
  let asked = 0;
  const line = readCronLine("* * * * *", "UTC");
  const counted = {
    next(after: number) {
      asked += 1;
      return line.next(after);
    },
  };
  planTicks({ nextAt: at("09:00"), missed: "skip" }, counted, at("09:00") + 365 * 86_400_000);
  expect(asked).toBeLessThan(LATE_MS / MINUTE + 4);
});
