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
