import { expect, test } from "vitest";
import { NO_COUNTERS } from "../../../../supervisor/core/proxy-sums.ts";
import { type MetricFacts, metricSamples } from "../../../../supervisor/observe/samples.ts";
import { NO_ROLLOUTS, withRollout } from "../../../../supervisor/rollouts/totals.ts";
import { AT, STATUS } from "../../../support/control.ts";

const facts: MetricFacts = { status: STATUS, rollouts: NO_ROLLOUTS, proxy: NO_COUNTERS, work: null, events: [] };

function valuesOf(changes: Partial<MetricFacts>, name: string) {
  return metricSamples({ ...facts, ...changes }).find((metric) => metric.name === name)?.values;
}

test("instances are counted by state, zeros included", () => {
  const values = valuesOf({}, "owl_instances") ?? [];
  expect(values.find(({ labels }) => labels.state === "ready")?.value).toBe(1);
  expect(values.find(({ labels }) => labels.state === "backoff")?.value).toBe(0);
});

test("what is not known is left out", () => {
  const names = metricSamples({ ...facts, status: { ...STATUS, connections: null, workers: null } }).map((m) => m.name);
  expect(names.filter((name) => /connections_(limit|open)|worker|queue|turns|rollout/.test(name))).toEqual([]);
});

test("step durations are a cumulative histogram with sum and count", () => {
  const step = (elapsedMs: number, state: "done" | "failed" = "done") => ({
    n: 1,
    service: "web",
    action: "start",
    instance: "web-2",
    state,
    startedAt: AT,
    elapsedMs,
  });
  const steps = [step(200), step(700), step(9_000, "failed")];
  const rollout = { kind: "restart", state: "succeeded", steps } as const;
  const once = withRollout(NO_ROLLOUTS, rollout);
  const values = valuesOf({ rollouts: once }, "owl_rollout_step_seconds") ?? [];
  const bucket = (le: string) => values.find(({ labels }) => labels.le === le)?.value;
  expect([bucket("0.1"), bucket("0.25"), bucket("1"), bucket("+Inf")]).toEqual([0, 1, 2, 2]);
  expect(values.find(({ suffix }) => suffix === "_sum")?.value).toBeCloseTo(0.9);
  expect(valuesOf({ rollouts: withRollout(once, rollout) }, "owl_rollouts_total")).toEqual([
    { labels: { kind: "restart", state: "succeeded" }, value: 2 },
  ]);
});

test("the proxy's latency is told in seconds, up to +Inf", () => {
  const upstream = {
    id: "web-1",
    requests: 3,
    responses: { "1xx": 0, "2xx": 3, "3xx": 0, "4xx": 0, "5xx": 0 },
    connectFailures: 0,
    retries: 0,
    inFlight: 0,
    streams: 0,
    bytesIn: 0,
    bytesOut: 0,
    latency: { "100": 3, "5": 1 },
  };
  const values = valuesOf({ proxy: { ...NO_COUNTERS, upstreams: [upstream] } }, "owl_upstream_latency_seconds");
  expect(values?.map(({ labels, value }) => [labels.le, value])).toEqual([
    ["0.005", 1],
    ["0.1", 3],
    ["+Inf", 3],
    [undefined, 3],
  ]);
});

test("work is told by kind, outcome and cause", () => {
  const work = {
    queued: { chat: 4 },
    oldestQueuedS: { chat: 1.5 },
    turns: [{ outcome: "failed", cause: "cut", count: 2 }],
    reclaimed: 1,
  };
  expect(valuesOf({ work }, "owl_queue_depth")).toEqual([{ labels: { kind: "chat" }, value: 4 }]);
  expect(valuesOf({ work }, "owl_turns_total")).toEqual([{ labels: { outcome: "failed", cause: "cut" }, value: 2 }]);
  expect(valuesOf({ work }, "owl_jobs_reclaimed_total")).toEqual([{ labels: {}, value: 1 }]);
});
