// The fake clock itself: a fake that errs makes every test with it worthless.

import { expect, test } from "vitest";
import { createTestClock } from "../../support/test-clock.ts";

test("timers fire in order of their instants, with what they wake, and never early", async () => {
  const clock = createTestClock();
  const seen: string[] = [];
  clock.after(30, () => seen.push("30"));
  clock.after(10, () => {
    seen.push("10");
    clock.after(5, () => seen.push("15"));
  });
  void clock.sleep(20).then(() => seen.push("20"));
  await clock.advance(9);
  expect(seen).toEqual([]);
  await clock.advance(21);
  expect(seen).toEqual(["10", "15", "20", "30"]);
  expect(clock.pending).toBe(0);
});

test("an aborted sleep rejects with its reason and leaves no timer; every() ends without throwing", async () => {
  const clock = createTestClock();
  const controller = new AbortController();
  const sleeping = clock.sleep(100, controller.signal);
  let ticks = 0;
  const loop = (async () => {
    for await (const _ of clock.every(10, controller.signal)) ticks += 1;
  })();
  await clock.advance(35);
  controller.abort(new Error("enough"));
  await expect(sleeping).rejects.toThrow("enough");
  await loop;
  expect(ticks).toBe(3);
  expect(clock.pending).toBe(0);
});

test("a jump of the wall clock moves no timer", async () => {
  const clock = createTestClock(0);
  let fired = false;
  clock.after(50, () => {
    fired = true;
  });
  clock.setWall(3_600_000);
  await clock.advance(49);
  expect(fired).toBe(false);
  expect(clock.now()).toBe(3_600_049);
});
