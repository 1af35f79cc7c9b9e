// The orderly stop of everything: who goes first.

import { expect, test } from "vitest";
import { decide } from "../../../../supervisor/core/decide.ts";
import { type Instance, newInstance, PROXY } from "../../../../supervisor/core/instance.ts";
import { en } from "../../../../supervisor/core/text/text.ts";
import type { World } from "../../../../supervisor/core/world.ts";

const one = (service: string, changes: Partial<Instance>): Instance => ({
  ...newInstance({
    id: `${service}-1`,
    service,
    number: 1,
    release: "1",
    startedAt: 0,
    startedMs: 0,
    bootId: "boot",
    stop: { graceMs: 1_000, signal: "SIGTERM", after: "idle" },
  }),
  state: "ready",
  ...changes,
});

function leaving(proxy: Partial<Instance>, nowMs = 10_000): readonly string[] {
  const instances = [one(PROXY, proxy), one("web", {})];
  const world = { stopping: true, text: en.recorded, services: [], rollout: null, instances, nowMs };
  return decide(world as unknown as World).flatMap((action) => (action.kind === "leave" ? [action.instance] : []));
}

test.each<[string, Partial<Instance>, readonly string[]]>([
  ["the proxy goes first", {}, ["proxy-1"]],
  ["services serve while it closes its door", { wanted: "down", state: "draining", signalledMs: 5_001 }, []],
  ["then they go, however long it still drains", { wanted: "down", state: "draining", signalledMs: 5_000 }, ["web-1"]],
  ["nobody waits for a proxy that is gone", { wanted: "down", state: "exited" }, ["web-1"]],
  ["nor for one that was killed", { wanted: "down", state: "stopping", wasKilled: true }, ["web-1"]],
])("%s", (_, proxy, gone) => {
  expect(leaving(proxy)).toEqual(gone);
});

const services = [
  { name: "db", wanted: 1, held: false, configHash: null, connections: 0, memoryBytes: null },
  { name: "web", wanted: 1, held: false, configHash: null, connections: 0, memoryBytes: null, dependsOn: ["db"] },
];
const decided = (stopping: boolean, instances: readonly Instance[]) =>
  decide({ stopping, text: en.recorded, services, rollout: null, instances, nowMs: 10_000 } as unknown as World);

test("who is depended on goes after those who depend on it", () => {
  const [db, web] = [one("db", {}), one("web", {})];
  expect(decided(true, [db, web])).toMatchObject([{ kind: "leave", instance: "web-1" }]);
  expect(decided(true, [db, one("web", { wanted: "down", state: "draining" })])).toEqual([]);
  expect(decided(true, [db])).toMatchObject([{ kind: "leave", instance: "db-1" }]);
});

test.each<[string, readonly Instance[], readonly string[]]>([
  ["nothing runs", [], ["db"]],
  ["it starts", [one("db", { state: "starting" })], []],
  ["it is ready", [one("db", {})], ["web"]],
])("one that depends on another is started when that is ready: %s", (_, instances, started) => {
  expect(decided(false, instances).map((action) => action.kind === "start" && action.service)).toEqual(started);
});

test("one that crashed is started again whatever it depends on does", () => {
  const crashed = one("web", { state: "backoff", deadline: null });
  const actions = decided(false, [one("db", { state: "unhealthy" }), crashed]);
  expect(actions).toMatchObject([{ kind: "start", service: "web", follows: "web-1" }]);
});
