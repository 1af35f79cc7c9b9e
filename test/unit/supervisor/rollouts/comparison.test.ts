// What the comparison looks at: the old ones as they were at their fullest, the new ones from when they are warm.

import { expect, test } from "vitest";
import type { UpstreamCounters } from "../../../../config/proxy-feed.ts";
import { en } from "../../../../supervisor/core/text/text.ts";
import type { RolloutFacts } from "../../../../supervisor/core/world.ts";
import { createComparison } from "../../../../supervisor/rollouts/comparison.ts";
import { instance } from "../../../support/rollout-world.ts";
import { createTestClock } from "../../../support/test-clock.ts";

const BOUNDS = [2, 500] as const;

/** `quick` answers within 2 ms and `slow` ones within 500. */
function counters(id: string, quick: number, slow: number): UpstreamCounters {
  const requests = quick + slow;
  const latency = { [BOUNDS[0]]: quick, [BOUNDS[1]]: requests, "+Inf": requests };
  const responses = { "1xx": 0, "2xx": requests, "3xx": 0, "4xx": 0, "5xx": 0 };
  return { id, requests, responses, latency, ...{ connectFailures: 0, retries: 0, inFlight: 0 }, ...NOTHING };
}
const NOTHING = { streams: 0, bytesIn: 0, bytesOut: 0 };

function bench(confirmMs: number) {
  const clock = createTestClock();
  const rollout: RolloutFacts = {
    id: "r-1",
    targets: ["web-1"],
    failure: null,
    cancelled: false,
    open: false,
    confirmMs,
    doubtful: [],
    worse: null,
  };
  const instances = [
    instance({ id: "web-1", service: "web", number: 1, routed: false }),
    { ...instance({ id: "web-2", service: "web", number: 2, readyMs: clock.monotonicMs() }), rollout: "r-1" },
  ];
  let upstreams: readonly UpstreamCounters[] = [];
  const comparison = createComparison({
    clock,
    lateness: { begin: () => undefined, end: () => undefined, p95Ms: () => 0 },
    proxies: { counters: () => ({ upstreams }) as never },
    refreshCounters: async () => undefined,
    config: () => ({ rollout: { worse: { errorShare: 0.05, p95Factor: 3 } } }),
    record: en,
    changed: () => undefined,
  });
  /** What is said when the new one has answered so many, `errors` of them with 500, and `waiting` more wait. */
  function saidOf(good: number, errors: number, waiting = 0): string | null {
    const one = counters("web-2", good + errors, 0);
    const responses = { ...one.responses, "2xx": good, "5xx": errors };
    const fresh = { ...one, requests: good + errors + waiting, responses, inFlight: waiting };
    upstreams = [counters("web-1", 1_000, 0), fresh];
    return comparison.judge(rollout, instances).worse?.reason ?? null;
  }
  return {
    clock,
    saidOf,
    judgedWith(quick: number, slow: number) {
      upstreams = [counters("web-1", 1_000, 0), counters("web-2", quick, slow)];
      const { worse, doubtful } = comparison.judge(rollout, instances);
      return { reason: worse?.reason ?? null, isDoubtful: doubtful.includes("web-2") };
    },
  };
}

const GOOD = { reason: null, isDoubtful: false };
const DOUBTFUL = { reason: null, isDoubtful: true };

test("slow first answers do not decide, however many: what it answers once it is warm does", async () => {
  const { clock, judgedWith } = bench(10_000);
  expect(judgedWith(0, 300)).toEqual(GOOD);
  await clock.advance(5_000);
  expect(judgedWith(0, 300)).toEqual(GOOD);
  expect(judgedWith(200, 300)).toEqual(GOOD);
  expect(judgedWith(200, 500)).toEqual(DOUBTFUL);
  await clock.advance(1_000);
  expect(judgedWith(200, 500)).toEqual({
    reason: expect.stringMatching(/^web: .* at the 95th percentile/),
    isDoubtful: false,
  });
});

test("slow answers of a bad moment do not decide: who answers well again has stood", async () => {
  const { clock, judgedWith } = bench(10_000);
  await clock.advance(5_000);
  judgedWith(0, 0);
  expect(judgedWith(0, 30)).toEqual(DOUBTFUL);
  await clock.advance(900);
  expect(judgedWith(700, 30)).toEqual(GOOD);
  await clock.advance(900);
  expect(judgedWith(700, 100)).toEqual(DOUBTFUL);
});

test("a time to stand that is shorter than getting warm says nothing of answer times", async () => {
  const { clock, judgedWith } = bench(1_000);
  await clock.advance(1_500);
  expect(judgedWith(0, 300)).toEqual(GOOD);
  expect(judgedWith(0, 600)).toEqual(GOOD);
});

test("errors that come late are not covered up by what was well before", async () => {
  const { clock, saidOf } = bench(10_000);
  expect(saidOf(500, 0)).toBeNull();
  await clock.advance(2_500);
  expect(saidOf(1_000, 0)).toBeNull();
  await clock.advance(1_000);
  expect(saidOf(1_040, 9)).toBeNull();
  expect(saidOf(1_040, 10)).toMatch(/^web: 20 % of 50 answers of the new instances are 5xx/);
});

test("a new one that answers nobody is told from one that merely begins slowly, and from figures that do not come", async () => {
  const { clock, saidOf } = bench(10_000);
  expect(saidOf(0, 0, 10)).toBeNull();
  await clock.advance(1_500);
  expect(saidOf(0, 0, 300)).toBeNull();
  await clock.advance(600);
  // The same figures once more: they may be old.
  expect(saidOf(0, 0, 300)).toBeNull();
  expect(saidOf(0, 0, 301)).toMatch(/^web: the new instances have answered nobody for 2100 ms/);
});

test("whoever waits and asks no more is silence too, a little later", async () => {
  const { clock, saidOf } = bench(10_000);
  saidOf(0, 0, 16);
  await clock.advance(2_900);
  expect(saidOf(0, 0, 16)).toBeNull();
  await clock.advance(200);
  expect(saidOf(0, 0, 16)).toMatch(/answered nobody for 2100 ms/);
});

test("a warm one that falls silent is found out sooner, one with long answers under way is not silent", async () => {
  const { clock, saidOf } = bench(10_000);
  saidOf(0, 0);
  await clock.advance(5_000);
  expect(saidOf(1_000, 0, 20)).toBeNull();
  await clock.advance(400);
  expect(saidOf(1_001, 0, 20)).toBeNull();
  await clock.advance(400);
  expect(saidOf(1_001, 0, 60)).toBeNull();
  await clock.advance(200);
  expect(saidOf(1_001, 0, 90)).toMatch(/answered nobody for 600 ms/);
});
