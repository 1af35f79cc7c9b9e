import { expect, test } from "vitest";
import {
  advanceSteps,
  closeSteps,
  describePlan,
  forecast,
  type PlannedService,
  restartTargets,
  waitingSteps,
} from "../../../../supervisor/core/rollout-plan.ts";
import { en } from "../../../../supervisor/core/text/text.ts";
import { createRolloutWorld, instance } from "../../../support/rollout-world.ts";

const web = (number: number, startedMs = 0) => instance({ id: `web-${number}`, service: "web", number, startedMs });
const worker = (number: number, startedMs = 0) =>
  instance({ id: `worker-${number}`, service: "worker", number, startedMs });
const ORDER = ["web", "worker"];
const ids = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

/** What is told of a world of these services, each with its figures. */
function told(
  services: Readonly<Record<string, Partial<PlannedService> & { replicas: number; to?: number }>>,
  options: { readonly surge?: "auto" | number; readonly restart?: boolean; readonly limit?: number } = {},
) {
  const { surge = 1, restart = false, limit = 597 } = options;
  const world = createRolloutWorld(
    Object.entries(services).map(([name, one]) => ({
      name,
      replicas: one.replicas,
      connections: one.connections ?? 0,
    })),
    surge,
    limit,
  );
  for (const [name, { to }] of Object.entries(services)) if (to !== undefined) world.scale(name, to);
  if (restart) world.begin();
  const figures = (name: string): PlannedService => ({
    routed: name === "web",
    connections: 0,
    memoryBytes: null,
    expected: { startMs: 100, drainMs: 50 },
    worst: { startMs: 10_000, drainMs: 5_000 },
    ...services[name],
  });
  return forecast(world.world(), figures, world.given);
}
const steps = (plan: ReturnType<typeof told>) => plan.steps.map(({ action, instance: id }) => `${action} ${id}`);

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

test("who is on the way out is no target, who crashed is: its place is tried again", () => {
  const gone = [{ ...web(1), wanted: "down" as const }, { ...web(2), state: "backoff" as const }, web(3)];
  expect(ids(restartTargets(gone, ORDER, null, null, true))).toEqual(["web-2", "web-3"]);
});

test("steps begin before they are taken and tell how long they took", () => {
  const at = (ms: number) => new Date(ms).toISOString();
  let all = waitingSteps(told({ web: { replicas: 1 } }, { restart: true }));
  expect(all.map(({ action, instance: id }) => [action, id])).toEqual([
    ["start", null],
    ["ready", null],
    ["route", null],
    ["drain", "web-1"],
    ["stop", "web-1"],
  ]);
  all = advanceSteps(all, "web-1", "web-2", "start", at(0), 0);
  expect(all[0]).toMatchObject({ state: "running", instance: "web-2" });
  all = advanceSteps(all, "web-1", "web-2", "starting", at(5), 5);
  all = advanceSteps(all, "web-1", "web-2", "ready", at(105), 105);
  expect(all.map(({ state }) => state)).toEqual(["done", "done", "running", "waiting", "waiting"]);
  expect(all[1]).toMatchObject({ elapsedMs: 100, instance: "web-2" });
  expect(closeSteps(all).map(({ state }) => state)).toEqual(["done", "done", "running", "skipped", "skipped"]);
});

test("a new instance that is killed after it failed takes no step of the old one's way out", () => {
  const at = new Date(0).toISOString();
  let all = waitingSteps(told({ web: { replicas: 1 } }, { restart: true }));
  all = advanceSteps(all, "web-1", "web-2", "start", at, 0);
  all = advanceSteps(all, "web-1", "web-2", "failed", at, 0);
  all = advanceSteps(all, "web-1", "web-2", "killed", at, 0);
  expect(all.map(({ state }) => state)).toEqual(["failed", "waiting", "waiting", "waiting", "waiting"]);
});

test("of a place listed twice, by an update that was cut, the later steps go on", () => {
  const once = waitingSteps(told({ worker: { replicas: 1 } }, { restart: true }));
  const all = advanceSteps([...once, ...once], "worker-1", "worker-2", "start", new Date(0).toISOString(), 0);
  expect(all.map(({ state }) => state)).toEqual([
    "waiting",
    "waiting",
    "waiting",
    "waiting",
    "running",
    ...Array(3).fill("waiting"),
  ]);
});

test("a worker has nothing to route", () => {
  expect(steps(told({ worker: { replicas: 1 } }, { restart: true }))).toEqual([
    "start worker-2",
    "ready worker-2",
    "drain worker-1",
    "stop worker-1",
  ]);
});

test("drains overlap as far as the surge allows, and the worst case is all limits", () => {
  const two = { web: { replicas: 2 } };
  expect(told(two, { restart: true, surge: "auto" })).toMatchObject({ expectedMs: 150, worstMs: 15_000 });
  expect(told(two, { restart: true, surge: 1 })).toMatchObject({ expectedMs: 300, worstMs: 30_000 });
});

test("a plan tells the peak of connections and when it is over the limit", () => {
  const services = { web: { replicas: 2, connections: 144 }, worker: { replicas: 2, connections: 35 } };
  const restart = told(services, { restart: true });
  expect(describePlan(restart, true, 597, [], en)).toMatchObject({ changes: true, peakConnections: 502, notes: [] });
  expect(describePlan(restart, true, 400, [], en).notes).toHaveLength(1);
  expect(describePlan(told(services), false, 597, [], en)).toMatchObject({ changes: false, steps: [] });
});

test("where drains take longer than starts, the peak counts those that drain beside the new ones", () => {
  const slow = { replicas: 3, connections: 10, worst: { startMs: 10, drainMs: 60_000 } };
  expect(told({ web: slow }, { restart: true, surge: "auto" }).peakConnections).toBe(60);
});

test("a plan of other numbers takes as long as its slowest start or drain, and peaks with what is added", () => {
  const up = told({
    web: { replicas: 2, to: 4, connections: 144, expected: { startMs: 700, drainMs: 90 } },
    worker: { replicas: 2, connections: 35 },
  });
  expect(up).toMatchObject({ expectedMs: 700, worstMs: 10_000, peakConnections: 4 * 144 + 2 * 35 });
  expect(describePlan(up, true, 597, [], en).notes).toHaveLength(1);
  const down = told({
    web: { replicas: 2, connections: 144 },
    worker: { replicas: 2, to: 1, connections: 35, expected: { startMs: 80, drainMs: 900 } },
  });
  expect(down).toMatchObject({ expectedMs: 900, peakConnections: 2 * 144 + 2 * 35 });
});

test("a change of number is steps: new ones are started and routed, of the surplus the oldest go", () => {
  expect(steps(told({ web: { replicas: 2, to: 3 } }))).toEqual(["start web-3", "ready web-3", "route web-3"]);
  expect(steps(told({ web: { replicas: 2, to: 1 } }))).toEqual(["drain web-1", "stop web-1"]);
  expect(steps(told({ web: { replicas: 2, to: 2 } }))).toEqual([]);
});

test("memory peaks with what runs at once, and is not told where something was never measured", () => {
  const measured = { web: { replicas: 2, memoryBytes: 100 }, worker: { replicas: 1, memoryBytes: 7 } };
  expect(told(measured, { restart: true }).peakMemoryBytes).toBe(307);
  expect(told({ ...measured, worker: { replicas: 1 } }, { restart: true }).peakMemoryBytes).toBe(null);
});
