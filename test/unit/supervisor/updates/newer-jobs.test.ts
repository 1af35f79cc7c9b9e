// Jobs that no code of the running release claims: said in status while they wait, and no longer than that.

import { expect, test } from "vitest";
import type { Sentence } from "../../../../supervisor/core/text/text.ts";
import { en } from "../../../../supervisor/core/text/text.ts";
import { createNewerJobs } from "../../../../supervisor/updates/newer-jobs.ts";
import { createTestClock } from "../../../support/test-clock.ts";

function setup() {
  const clock = createTestClock();
  const warnings = new Map<string, Sentence>([["state", () => "something else"]]);
  const failures: unknown[] = [];
  const world = { answer: (): Promise<number | null> => Promise.resolve(0), asked: 0 };
  const watch = createNewerJobs({
    clock,
    warnings,
    count() {
      world.asked += 1;
      return world.answer();
    },
    failed: (error) => failures.push(error),
  });
  async function round(): Promise<void> {
    await watch.start();
    await clock.advance(60_000);
  }
  return { clock, warnings, failures, world, watch, round, said: () => warnings.get("newerJobs")?.(en) ?? null };
}

test("they are said while they wait, and nothing else is touched", async () => {
  const { round, world, said, warnings } = setup();
  world.answer = async () => 3;
  await round();
  expect(said()).toMatch(/^3 jobs wait in a format/);
  world.answer = async () => 0;
  await round();
  expect([...warnings.keys()]).toEqual(["state"]);
});

test("without an answer what was said stands", async () => {
  const { round, world, said, failures } = setup();
  world.answer = async () => 2;
  await round();
  world.answer = async () => null;
  await round();
  world.answer = async () => Promise.reject(new Error("away"));
  await round();
  expect(said()).toMatch(/^2 jobs wait in a format/);
  expect(failures).toEqual([new Error("away")]);
});

test("it is asked at once and every minute, until it is stopped", async () => {
  const { watch, world, clock } = setup();
  await watch.start();
  await watch.start();
  await clock.advance(0);
  expect(world.asked).toBe(1);
  await clock.advance(60_000);
  expect(world.asked).toBe(2);
  await watch.stop();
  await clock.advance(600_000);
  expect(world.asked).toBe(2);
});

test("a database that never answers does not keep it from stopping", async () => {
  const { watch, world, said } = setup();
  world.answer = () => new Promise(() => undefined);
  await watch.start();
  await watch.stop();
  expect(said()).toBeNull();
});

test("it may be stopped without ever having been started", async () => {
  await setup().watch.stop();
});
