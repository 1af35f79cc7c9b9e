// Memory and CPU of real groups.

import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../../config/system-time.ts";
import { createProcReader } from "../../../../supervisor/process/proc-identity.ts";
import { createUsageSampler, readUnits } from "../../../../supervisor/process/usage.ts";
import { createBench } from "../../../support/instance.ts";
import { poll } from "../../../support/poll.ts";

let bench: ReturnType<typeof createBench>;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.stop());

test("a group's memory is that of all its members, a stranger's identity has none", async () => {
  const one = await bench.spawner.spawn(bench.request(["sh", "-c", "sleep 600"]));
  const two = await bench.spawner.spawn(
    bench.request(["sh", "-c", "sleep 600 & sleep 600 & sleep 600 & echo up; wait"]),
  );
  await bench.logged("web-2", /up/);
  const sampler = createUsageSampler(systemClock);
  const stranger = { ...one.identity, startTicks: "1" };
  const usages = await sampler.sample([stranger, two.identity]);
  const alone = await sampler.sample([one.identity]);
  expect([...usages.keys()]).toEqual([two.identity.pid]);
  expect(alone.get(one.identity.pid)?.rssBytes).toBeGreaterThan(100_000);
  expect(usages.get(two.identity.pid)?.rssBytes).toBeGreaterThan(alone.get(one.identity.pid)?.rssBytes ?? 0);
});

test("cpu is 0 at the first sample, then the share of a core since the last", async () => {
  const busy = await bench.spawner.spawn(bench.request(["sh", "-c", "while :; do :; done"]));
  const idle = await bench.spawner.spawn(bench.request(["sleep", "600"]));
  const sampler = createUsageSampler(systemClock);
  const identities = [busy.identity, idle.identity];
  const first = await sampler.sample(identities);
  expect([...first.values()].map(({ cpu }) => cpu)).toEqual([0, 0]);
  // The kernel counts in steps of 10 ms: half a second of work is a share that one step does not change.
  const reader = createProcReader();
  const used = () => {
    const stat = reader.stat(busy.identity.pid);
    return stat === null ? 0 : stat.userTicks + stat.systemTicks;
  };
  const before = used();
  await poll(async () => used() >= before + 50);
  const then = await sampler.sample(identities);
  const share = then.get(busy.identity.pid)?.cpu ?? 0;
  expect(share).toBeGreaterThan(0);
  // A share of one core, not percent or ticks; a look that was held up between clock and counters tells some more than 1.
  expect(share).toBeLessThan(10);
  expect(then.get(idle.identity.pid)?.cpu).toBeLessThan(share);
});

test("the host's memory and the kernel's units are sane", async () => {
  const { availableBytes, totalBytes } = await createUsageSampler(systemClock).hostMemory();
  expect(availableBytes).toBeGreaterThan(0);
  expect(totalBytes).toBeGreaterThanOrEqual(availableBytes);
  const { pageBytes, ticksPerS } = readUnits();
  expect(pageBytes % 4_096).toBe(0);
  expect(ticksPerS).toBe(100);
});
