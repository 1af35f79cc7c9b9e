// The plan of a chaos run: replayable by its seed, within its bounds.

import { expect, test } from "vitest";
import { FAULT_NAMES, FAULTS, faultNames, OPERATIONS, planSchedule, UPDATES } from "../../chaos/plan/schedule.ts";
import { createSeededRandom } from "../../chaos/plan/seeded-random.ts";

const plan = (seed: number, names = FAULT_NAMES) =>
  planSchedule(createSeededRandom(seed), {
    lengthMs: 3_600_000,
    names,
    faultEveryMs: 7_000,
    operationEveryMs: 15_000,
    operations: [...OPERATIONS, ...UPDATES],
  });

test("the same seed gives the same plan, another one another", () => {
  expect(plan(7)).toEqual(plan(7));
  expect(plan(7)).not.toEqual(plan(8));
});

test("an hour holds hundreds of faults of every name, in order, each with a hold of its kind", () => {
  const { faults, operations } = plan(1);
  expect(faults.length).toBeGreaterThan(300);
  expect(operations.length).toBeGreaterThan(100);
  expect(new Set(operations.map((operation) => operation.name))).toEqual(new Set([...OPERATIONS, ...UPDATES]));
  expect(new Set(faults.map((fault) => fault.name))).toEqual(new Set(FAULT_NAMES));
  expect(faults.map((fault) => fault.atMs)).toEqual(faults.map((fault) => fault.atMs).sort((a, b) => a - b));
  for (const fault of faults) {
    const kind = FAULTS[fault.name];
    const [shortest, longest] = "hold" in kind ? kind.hold : [0, 0];
    expect(fault.holdMs).toBeGreaterThanOrEqual(shortest);
    expect(fault.holdMs).toBeLessThanOrEqual(longest);
    expect(fault.choice).toBeLessThan(1);
  }
});

test("only the faults asked for are planned, and none at all for none", () => {
  expect(new Set(plan(3, [...faultNames("kill-web, kill-proxy")]).faults.map((fault) => fault.name))).toEqual(
    new Set(["kill-web", "kill-proxy"]),
  );
  expect(plan(3, [...faultNames("none")]).faults).toEqual([]);
});

test("an unknown fault is refused with the list of those there are", () => {
  expect(() => faultNames("kill-cat")).toThrow(/There is no fault kill-cat. There are: kill-web, /);
});
