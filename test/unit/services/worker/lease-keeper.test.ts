// The self-check on the queue library: when it stops refreshing leases while jobs run, that is an ERROR.

import { expect, test } from "vitest";
import type { Claim } from "../../../../services/db/claims.ts";
import { createLeaseKeeper } from "../../../../services/worker/heartbeat.ts";
import { createTestClock } from "../../../support/test-clock.ts";

const claim: Claim = {
  kind: "chat",
  id: "1",
  queueJob: "2",
  retryCount: 0,
  format: 1,
  attempt: 1,
  worker: "worker-1",
  requestId: null,
};

function setup(queue: { touch: () => Promise<void>; leaseMs: () => number | null }) {
  const clock = createTestClock();
  const errors: object[] = [];
  const log = { error: (fields: object) => errors.push(fields), warn: () => undefined };
  let claims: readonly Claim[] = [claim];
  const keeper = createLeaseKeeper({
    queue: { touch: queue.touch, oldestLeaseMs: async () => queue.leaseMs() },
    clock,
    log: log as never,
    intervalMs: 10_000,
    claims: () => claims,
  });
  return { clock, errors, keeper, release: () => (claims = []) };
}

test("a library that says it refreshed but did not is found out, again and again, while jobs run", async () => {
  let leaseMs = 0;
  let touched = 0;
  const { clock, errors, keeper, release } = setup({
    touch: async () => {
      touched += 1;
    },
    leaseMs: () => leaseMs,
  });
  keeper.start();
  await clock.advance(30_000);
  expect(errors).toEqual([]);
  leaseMs = 31_000;
  await clock.advance(20_000);
  expect(errors).toHaveLength(2);
  expect(errors[0]).toMatchObject({ oldestLeaseMs: 31_000, jobs: 1 });
  expect(touched).toBe(5);
  release();
  await clock.advance(20_000);
  expect(errors).toHaveLength(2);
  await keeper.stop();
});

test("one that throws is told with its reason, and the next round tries again", async () => {
  const { clock, errors, keeper } = setup({
    touch: () => Promise.reject(new Error("library stopped")),
    leaseMs: () => 40_000,
  });
  keeper.start();
  await clock.advance(20_000);
  expect(errors).toHaveLength(2);
  expect(errors[0]).toMatchObject({ err: new Error("library stopped") });
  await keeper.stop();
});
