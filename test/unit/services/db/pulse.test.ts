// When an observer may trust its own sight: the pulse's account of its health, with a fake database on a fake clock.

import { expect, test } from "vitest";
import { createPulse, type PulseClient } from "../../../../services/db/pulse.ts";
import { createTestClock } from "../../../support/test-clock.ts";

function setup() {
  const clock = createTestClock();
  const database = { away: false, thaw: null as (() => void) | null, frozen: false, beats: 0 };
  const pulse = createPulse({
    url: "",
    connect: async () => ({ query: () => undefined, end: async () => undefined }) as unknown as PulseClient,
    clock,
    intervalMs: 10_000,
    breakAfterMs: 15_000,
    async beat() {
      if (database.away) throw new Error("away");
      if (database.frozen) {
        await new Promise<void>((resolve) => {
          database.thaw = resolve;
        });
      }
      database.beats += 1;
    },
    onError: () => undefined,
  });
  return { clock, database, pulse };
}

test("health grows while beats succeed", async () => {
  const { clock, database, pulse } = setup();
  await pulse.start();
  await clock.advance(40_000);
  expect(pulse.healthyForMs()).toBe(40_000);
  expect(database.beats).toBe(5);
  await pulse.stop();
});

test("a failed beat ends it; it begins again at the next success, tried each second", async () => {
  const { clock, database, pulse } = setup();
  await pulse.start();
  await clock.advance(30_000);
  database.away = true;
  await clock.advance(10_000);
  expect(pulse.healthyForMs()).toBe(0);
  database.away = false;
  await clock.advance(6_000);
  expect(pulse.healthyForMs()).toBe(5_000);
  await pulse.stop();
});

test("a beat that hangs ends it while it hangs, and its late success is a new beginning", async () => {
  const { clock, database, pulse } = setup();
  await pulse.start();
  await clock.advance(39_000);
  database.frozen = true;
  await clock.advance(25_000);
  expect(pulse.healthyForMs()).toBe(0);
  database.frozen = false;
  database.thaw?.();
  await clock.advance(0);
  expect(pulse.healthyForMs()).toBe(0);
  await clock.advance(10_000);
  expect(pulse.healthyForMs()).toBeLessThanOrEqual(10_000);
  await pulse.stop();
});

test("a nudge beats soon, and many at once beat once", async () => {
  const { clock, database, pulse } = setup();
  await pulse.start();
  for (let n = 0; n < 20; n++) pulse.nudge();
  await clock.advance(300);
  expect(database.beats).toBe(2);
  await pulse.stop();
});
