import { expect, test } from "vitest";
import { afterCrash, recentCrashes } from "../../../../supervisor/core/restart-policy.ts";

test("the pause is 0, 1, 2, 4 s and so on up to 30 s", () => {
  const delays: number[] = [];
  let attempt = 0;
  for (let crash = 0; crash < 8; crash++) {
    const verdict = afterCrash(attempt, 0, [], 0);
    attempt = verdict.attempt;
    delays.push(verdict.delayMs);
  }
  expect(delays).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

test("after 60 s ready the pause is 0 again", () => {
  expect(afterCrash(6, 59_999, [], 0).delayMs).toBe(30_000);
  expect(afterCrash(6, 60_000, [], 0)).toMatchObject({ delayMs: 0, attempt: 1 });
});

test("five crashes within a minute are a crash loop, retried at the ceiling", () => {
  const now = 100_000;
  expect(afterCrash(0, 0, [41_000, 42_000, 43_000, 44_000], now).crashLooping).toBe(false);
  expect(afterCrash(0, 0, [40_000, 42_000, 43_000, 44_000, now], now)).toMatchObject({
    crashLooping: true,
    delayMs: 30_000,
  });
  expect(afterCrash(0, 0, [39_999, 42_000, 43_000, 44_000, now], now).crashLooping).toBe(false);
});

test("old crashes are forgotten", () => {
  expect(recentCrashes([1, 50_000, 100_000], 110_001)).toEqual([100_000]);
});
