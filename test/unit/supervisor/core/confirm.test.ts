// A change of what runs: when the old ones are set aside, when they end, when they are back.

import fc from "fast-check";
import { expect, test } from "vitest";
import { firstOfShare } from "../../../../supervisor/core/confirm.ts";
import { isLiving } from "../../../../supervisor/core/instance.ts";
import { createRolloutWorld } from "../../../support/rollout-world.ts";

const CONFIRM_MS = 10_000;

/** Two of web, both successors ready, the old ones aside. */
function placed(surge: "auto" | number = "auto", services = [{ name: "web", replicas: 2, connections: 0 }]) {
  const world = createRolloutWorld(services, surge, null, undefined, CONFIRM_MS);
  world.begin();
  world.settle();
  for (const id of ["web-3", "web-4"]) {
    world.becomeReady(id);
    world.settle();
  }
  return world;
}

const seen = (world: ReturnType<typeof placed>) =>
  Object.fromEntries(
    world.instances().map((one) => [one.id, one.aside ? "aside" : one.wanted === "down" ? "goes" : one.state]),
  );

test("the old ones are aside while the new ones stand, and go together when these have stood", () => {
  const world = placed();
  expect(seen(world)).toEqual({ "web-1": "aside", "web-2": "aside", "web-3": "ready", "web-4": "ready" });
  world.pass(CONFIRM_MS - 1);
  world.settle();
  expect(seen(world)["web-1"]).toBe("aside");
  world.pass(1);
  world.settle();
  expect(seen(world)).toEqual({ "web-1": "goes", "web-2": "goes", "web-3": "ready", "web-4": "ready" });
  world.exit("web-1");
  world.exit("web-2");
  world.settle();
  expect(world.rollout()?.state).toBe("succeeded");
});

test.each([
  ["exits", (world: ReturnType<typeof placed>) => world.crash("web-4")],
  ["fails its check", (world: ReturnType<typeof placed>) => world.failCheck("web-4")],
  ["is over its memory limit", (world: ReturnType<typeof placed>) => world.outgrow("web-4")],
  ["answers worse", (world: ReturnType<typeof placed>) => world.answerWorse("web-4")],
])("a new one that %s: the old ones are back at once and all the new ones go", (_, happens) => {
  const world = placed();
  world.pass(CONFIRM_MS - 1);
  happens(world);
  world.settle();
  expect(
    world
      .of("web")
      .filter((one) => ["web-1", "web-2"].includes(one.id))
      .map(({ aside, state, wanted }) => [aside, state, wanted]),
  ).toEqual([
    [false, "ready", "up"],
    [false, "ready", "up"],
  ]);
  expect(world.instances().filter((one) => one.number > 2 && one.wanted === "up")).toEqual([]);
  for (const one of world.instances()) if (one.wanted === "down") world.exit(one.id);
  world.settle();
  expect(world.rollout()?.state).toBe("failed");
  expect(seen(world)).toEqual({ "web-1": "ready", "web-2": "ready" });
});

test("cancelled while they stand, the change is taken back", () => {
  const world = placed();
  world.cancel();
  world.settle();
  for (const id of ["web-3", "web-4"]) world.exit(id);
  world.settle();
  expect(world.rollout()?.state).toBe("cancelled");
  expect(seen(world)).toEqual({ "web-1": "ready", "web-2": "ready" });
});

test("one service of two that does not stand takes back the other one too", () => {
  const services = [
    { name: "web", replicas: 1, connections: 0 },
    { name: "jobs", replicas: 1, connections: 0 },
  ];
  const world = createRolloutWorld(services, "auto", null, undefined, CONFIRM_MS);
  world.begin();
  world.settle();
  world.becomeReady("web-3");
  world.settle();
  world.becomeReady("jobs-4");
  world.settle();
  world.crash("jobs-4");
  world.settle();
  expect(seen(world)).toEqual({ "web-1": "ready", "jobs-2": "ready", "web-3": "goes" });
});

test("with surge 1 each place stands before the next one begins", () => {
  const world = createRolloutWorld([{ name: "web", replicas: 2, connections: 0 }], 1, null, undefined, CONFIRM_MS);
  world.begin();
  world.settle();
  world.becomeReady("web-3");
  world.settle();
  expect(seen(world)).toEqual({ "web-1": "aside", "web-2": "ready", "web-3": "ready" });
  world.pass(CONFIRM_MS);
  world.settle();
  expect(seen(world)["web-1"]).toBe("goes");
  world.exit("web-1");
  world.settle();
  expect(seen(world)["web-4"]).toBe("starting");
});

test("a place that waits for its next try is tried at once, and the change succeeds only when it stands", () => {
  const world = createRolloutWorld([{ name: "web", replicas: 1, connections: 0 }], "auto", null, undefined, CONFIRM_MS);
  world.crash("web-1", 30_000);
  world.begin();
  world.settle();
  expect(seen(world)).toEqual({ "web-2": "starting" });
  world.becomeReady("web-2");
  world.settle();
  expect(world.rollout()?.state).toBe("running");
  world.pass(CONFIRM_MS);
  world.settle();
  expect(world.rollout()?.state).toBe("succeeded");
});

test("a place tried again in vain fails the rollout and goes on with its pauses", () => {
  const world = createRolloutWorld([{ name: "web", replicas: 1, connections: 0 }], "auto", null);
  world.crash("web-1", 30_000);
  world.begin();
  world.settle();
  world.crash("web-2", 1_000);
  world.settle();
  expect(world.rollout()?.state).toBe("failed");
  expect(world.instances()).toMatchObject([{ id: "web-2", state: "backoff", attempt: 1 }]);
});

test("whatever happens meanwhile, nothing ends before every successor has stood, and none is aside in the end", () => {
  const anyEvent = fc.record({ what: fc.constantFrom("ready", "exit", "crash", "late", "wait"), who: fc.nat(20) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(anyEvent, { maxLength: 60 }), (replicas, events) => {
      const world = createRolloutWorld(
        [{ name: "web", replicas, connections: 0 }],
        "auto",
        null,
        undefined,
        CONFIRM_MS,
      );
      const old = new Set(world.instances().map(({ id }) => id));
      const begunMs = world.nowMs();
      world.begin();
      const watch = (): void =>
        world.settle((action) => {
          if (action.kind !== "leave" || !old.has(action.instance)) return;
          // Taken over by one that stood, or one too many.
          expect(world.nowMs() - begunMs).toBeGreaterThanOrEqual(CONFIRM_MS);
        });
      watch();
      for (const { what, who } of [...events, ...Array.from({ length: 200 }, () => ({ what: "calm", who: 0 }))]) {
        world.pass(what === "wait" || what === "calm" ? 4_000 : 10);
        const all = world.instances();
        const pick = (ids: readonly string[]): string | undefined => ids[who % Math.max(1, ids.length)];
        const starting = pick(
          all.filter(({ state, wanted }) => state === "starting" && wanted === "up").map(({ id }) => id),
        );
        const going = pick(all.filter((one) => one.wanted === "down" && isLiving(one)).map(({ id }) => id));
        const living = pick(all.filter(isLiving).map(({ id }) => id));
        if ((what === "ready" || what === "calm") && starting !== undefined) world.becomeReady(starting);
        if ((what === "exit" || what === "calm") && going !== undefined) world.exit(going);
        if (what === "crash" && living !== undefined) world.crash(living);
        if (what === "late" && starting !== undefined) world.tooLate(starting);
        if (what === "calm") for (const { id, state } of all) if (state === "unhealthy") world.crash(id);
        watch();
      }
      expect(world.rollout()?.state).not.toBe("running");
      expect(world.serving("web")).toBe(replicas);
      expect(world.instances().filter(({ aside }) => aside)).toEqual([]);
      const held = world.instances().map(({ id }) => old.has(id));
      if (world.rollout()?.state === "succeeded") expect(held).not.toContain(true);
    }),
    { seed: 20_261_130, numRuns: 300 },
  );
});

const SHARE = { part: 0.1, ms: 60_000, first: ["web-1"] };

/** One of two has a successor with a part of the clients. */
function sharing() {
  const world = createRolloutWorld([{ name: "web", replicas: 2, connections: 0 }], "auto", null, undefined, CONFIRM_MS);
  world.begin(SHARE);
  world.settle();
  world.becomeReady("web-3");
  world.settle();
  return world;
}

test("with a share the first new one stands its time beside both old ones, then it goes on as without", () => {
  const world = sharing();
  world.pass(SHARE.ms - 1);
  world.settle();
  expect(seen(world)).toEqual({ "web-1": "ready", "web-2": "ready", "web-3": "ready" });
  world.pass(1);
  world.settle();
  expect(seen(world)).toEqual({ "web-1": "aside", "web-2": "ready", "web-3": "ready", "web-4": "starting" });
  world.becomeReady("web-4");
  world.pass(CONFIRM_MS);
  world.settle();
  expect(seen(world)).toMatchObject({ "web-1": "goes", "web-2": "goes" });
  world.exit("web-1");
  world.exit("web-2");
  world.settle();
  expect(world.rollout()?.state).toBe("succeeded");
});

test.each([
  ["answers worse", (world: ReturnType<typeof sharing>) => world.answerWorse("web-3")],
  ["exits", (world: ReturnType<typeof sharing>) => world.crash("web-3")],
  ["is cancelled", (world: ReturnType<typeof sharing>) => world.cancel()],
])("a share that %s: the new one goes at once, the old ones never left", (_, happens) => {
  const world = sharing();
  world.pass(SHARE.ms / 2);
  happens(world);
  world.settle();
  expect(seen(world)).toMatchObject({ "web-1": "ready", "web-2": "ready" });
  expect(world.instances().filter((one) => one.number > 2 && one.wanted === "up")).toEqual([]);
  for (const one of world.instances()) world.exit(one.id);
  world.pass(CONFIRM_MS);
  world.settle();
  expect(["failed", "cancelled"]).toContain(world.rollout()?.state);
});

test("of each service with routes as many are first as the part asks for, one at least", () => {
  const targets = [..."abcd"].map((id) => ({ id, service: id === "d" ? "worker" : "web" }));
  const isRouted = (service: string): boolean => service === "web";
  expect(firstOfShare(0.1, targets, isRouted)).toEqual(["a"]);
  expect(firstOfShare(0.5, targets, isRouted)).toEqual(["a", "b"]);
  expect(firstOfShare(0, targets, isRouted)).toEqual([]);
});
