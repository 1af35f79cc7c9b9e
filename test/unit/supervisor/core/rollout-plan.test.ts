import { expect, test } from "vitest";
import { estimateRollout } from "../../../../supervisor/core/estimate.ts";
import {
  advanceSteps,
  closeSteps,
  describePlan,
  planCount,
  planSteps,
  restartTargets,
} from "../../../../supervisor/core/rollout-plan.ts";
import { en } from "../../../../supervisor/core/text/en.ts";
import { instance } from "../../../support/rollout-world.ts";

const web = (number: number, startedMs = 0) => instance({ id: `web-${number}`, service: "web", number, startedMs });
const worker = (number: number, startedMs = 0) =>
  instance({ id: `worker-${number}`, service: "worker", number, startedMs });
const ORDER = ["web", "worker"];
const ids = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);
const service = {
  count: 0,
  startMs: 100,
  drainMs: 50,
  healthTimeoutMs: 10_000,
  graceMs: 3_000,
  idleTimeoutMs: 2_000,
  width: 2,
  memoryBytes: null,
};

test("a restart takes services in their order and in each the oldest first", () => {
  expect(ids(restartTargets([worker(3), web(10), web(9), worker(2)], ORDER, null, null, false))).toEqual([
    "web-9",
    "web-10",
    "worker-2",
    "worker-3",
  ]);
});

test("after a rollout that failed only those started before it are replaced, unless all are asked for", () => {
  const last = { state: "failed", startedMs: 50, bootId: "boot" } as const;
  const instances = [web(1, 10), web(2, 60)];
  expect(ids(restartTargets(instances, ORDER, null, last, false))).toEqual(["web-1"]);
  expect(ids(restartTargets(instances, ORDER, null, last, true))).toEqual(["web-1", "web-2"]);
  expect(ids(restartTargets(instances, ORDER, null, { ...last, state: "succeeded" }, false))).toEqual([
    "web-1",
    "web-2",
  ]);
});

test("who crashed or is on the way out is no target", () => {
  const gone = [{ ...web(1), wanted: "down" as const }, { ...web(2), state: "backoff" as const }, web(3)];
  expect(ids(restartTargets(gone, ORDER, null, null, true))).toEqual(["web-3"]);
});

test("steps begin before they are taken and tell how long they took", () => {
  const at = (ms: number) => new Date(ms).toISOString();
  let steps = planSteps([web(1)], () => true);
  expect(steps.map(({ action }) => action)).toEqual(["start", "ready", "route", "drain", "stop"]);
  steps = advanceSteps(steps, "web-1", "web-2", "start", at(0), 0);
  expect(steps[0]).toMatchObject({ state: "running", instance: "web-2" });
  steps = advanceSteps(steps, "web-1", "web-2", "starting", at(5), 5);
  steps = advanceSteps(steps, "web-1", "web-2", "ready", at(105), 105);
  expect(steps.map(({ state }) => state)).toEqual(["done", "done", "running", "waiting", "waiting"]);
  expect(steps[1]).toMatchObject({ elapsedMs: 100, instance: "web-2" });
  expect(closeSteps(steps).map(({ state }) => state)).toEqual(["done", "done", "running", "skipped", "skipped"]);
});

test("a worker has nothing to route", () => {
  expect(planSteps([worker(1)], () => false).map(({ action }) => action)).toEqual(["start", "ready", "drain", "stop"]);
});

test("drains overlap as far as the width allows, and the worst case is all limits", () => {
  expect(estimateRollout([{ ...service, name: "web", count: 2 }])).toEqual({ expectedMs: 250, worstMs: 25_000 });
  expect(estimateRollout([{ ...service, name: "web", count: 2, width: 1 }])).toEqual({
    expectedMs: 300,
    worstMs: 30_000,
  });
});

test("a plan tells the peak of connections and when it is over the limit", () => {
  const services = [
    { ...service, name: "web", routed: true, replicas: 2, connections: 144, width: 1 },
    { ...service, name: "worker", routed: false, replicas: 2, connections: 35, width: 1 },
  ];
  const facts = { targets: [web(1), web(2)], services, instances: [], notes: [] };
  expect(describePlan({ ...facts, connectionLimit: 597 }, en)).toMatchObject({
    changes: true,
    peakConnections: 502,
    notes: [],
  });
  expect(describePlan({ ...facts, connectionLimit: 400 }, en).notes).toHaveLength(1);
  expect(describePlan({ ...facts, targets: [], connectionLimit: 597 }, en).changes).toBe(false);
});

test("a plan of other numbers takes as long as its slowest start or drain, and peaks with what is added", () => {
  const services = [
    { ...service, name: "web", routed: true, replicas: 2, connections: 144, width: 1, startMs: 700, drainMs: 90 },
    { ...service, name: "worker", routed: false, replicas: 2, connections: 35, width: 1, startMs: 80, drainMs: 900 },
  ];
  const facts = { targets: [], services, instances: [], notes: [], connectionLimit: 597 };
  const up = [{ name: "web", from: 2, to: 4 }];
  expect(describePlan({ ...facts, counts: up }, en)).toMatchObject({
    expectedMs: 700,
    worstMs: service.healthTimeoutMs,
    peakConnections: 4 * 144 + 2 * 35,
  });
  expect(describePlan({ ...facts, counts: up }, en).notes).toHaveLength(1);
  const down = describePlan({ ...facts, counts: [{ name: "worker", from: 2, to: 1 }] }, en);
  expect(down).toMatchObject({ expectedMs: 900, peakConnections: 2 * 144 + 2 * 35, notes: [] });
});

test("a change of number is steps: new ones are started and routed, of the surplus the oldest go", () => {
  const two = [web(9), web(3)];
  expect(planCount("web", two, 3, true).map(({ action }) => action)).toEqual(["start", "ready", "route"]);
  expect(planCount("web", two, 1, true).map(({ action, instance }) => [action, instance])).toEqual([
    ["drain", "web-3"],
    ["stop", "web-3"],
  ]);
  expect(planCount("web", two, 2, true)).toEqual([]);
});
