// What a rollout cost stays true whoever restarts in the middle of it.

import { expect, test } from "vitest";
import { costsFrom, costsSeen, sumOf } from "../../../../supervisor/rollouts/costs.ts";

const told = (failures: number) => ({ failures, retries: 0, streamsMoved: 0 });
const failed = (costs: ReturnType<typeof costsFrom>): number => sumOf(costs).failures;

test("a proxy that went and the one after it are both counted", () => {
  const before = costsFrom(new Map([["proxy-1", told(7)]]));
  const closed = costsSeen(before, new Map([["proxy-1", told(5_526)]]));
  const renewed = costsSeen(closed, new Map([["proxy-2", told(3)]]));
  expect([failed(before), failed(closed), failed(renewed)]).toEqual([0, 5_519, 5_522]);
});

test("a new owld that has not heard of the proxy yet forgets nothing, and counts nothing twice", () => {
  const seen = costsSeen(costsFrom(new Map([["proxy-1", told(100)]])), new Map([["proxy-1", told(140)]]));
  const silent = costsSeen(seen, new Map([["proxy-1", null]]));
  expect([failed(silent), failed(costsSeen(silent, new Map([["proxy-1", told(150)]])))]).toEqual([40, 50]);
});

test("one that was there at the beginning and tells only later counts from what it tells first", () => {
  const before = costsFrom(new Map([["proxy-1", null]]));
  const first = costsSeen(before, new Map([["proxy-1", told(1_000)]]));
  expect([failed(first), failed(costsSeen(first, new Map([["proxy-1", told(1_001)]])))]).toEqual([0, 1]);
});
