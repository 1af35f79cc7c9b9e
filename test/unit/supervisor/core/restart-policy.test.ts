import { expect, test } from "vitest";
import { afterCrash, CALM_PLACE, isCrashLooping } from "../../../../supervisor/core/restart-policy.ts";
import { instance } from "../../../support/rollout-world.ts";

const place = { ...CALM_PLACE, readyMs: null };

test("the pause is 0, 1, 2, 4 s and so on up to 30 s", () => {
  const delays: number[] = [];
  let known = CALM_PLACE;
  for (let crash = 0; crash < 8; crash++) {
    // So far apart that it is no loop.
    const verdict = afterCrash({ ...place, ...known }, crash * 61_000);
    known = verdict.place;
    delays.push(verdict.delayMs);
  }
  expect(delays).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

test("after 60 s ready the pause is 0 again, and the flag is gone", () => {
  const looping = { attempt: 6, crashedMs: [], looping: true };
  expect(afterCrash({ ...looping, readyMs: 1 }, 60_000)).toMatchObject({ delayMs: 30_000, place: { looping: true } });
  expect(afterCrash({ ...looping, readyMs: 0 }, 60_000)).toMatchObject({
    delayMs: 0,
    place: { attempt: 1, looping: false },
  });
});

test("five crashes of one place within a minute are a crash loop, retried at the ceiling", () => {
  const now = 100_000;
  const after = (crashedMs: readonly number[]) => afterCrash({ ...place, crashedMs }, now);
  expect(after([41_000, 42_000, 43_000]).place.looping).toBe(false);
  expect(after([40_000, 42_000, 43_000, 44_000])).toMatchObject({ place: { looping: true }, delayMs: 30_000 });
  expect(after([39_999, 42_000, 43_000, 44_000]).place.looping).toBe(false);
});

test("a place whose pauses an operator reset is tried again soon, but its flag stays", () => {
  expect(afterCrash({ attempt: 0, crashedMs: [], looping: true, readyMs: null }, 5)).toMatchObject({
    delayMs: 0,
    place: { attempt: 1, looping: true },
  });
});

test.each([
  ["ready for less than a minute", { state: "ready", readyMs: 1 }, true],
  ["ready for a minute", { state: "ready", readyMs: 0 }, false],
  ["waiting for its next try, however long", { state: "backoff", readyMs: 0 }, true],
  ["ready for 10 s since an operator's try", { state: "ready", readyMs: 50_000, crashedMs: [] }, false],
  ["ready for less since then", { state: "ready", readyMs: 50_001, crashedMs: [] }, true],
  ["no longer wanted", { state: "backoff", wanted: "down" }, false],
] as const)("a loop's flag on one that is %s", (_, changes, expected) => {
  const one = instance({ id: "web-1", service: "web", number: 1, looping: true, crashedMs: [1], ...changes });
  expect(isCrashLooping(one, 60_000)).toBe(expected);
});
