// Whole rollouts against random faults: what must never happen, and that they end.

import fc from "fast-check";
import { expect, test } from "vitest";
import { isLiving } from "../../../../supervisor/core/instance.ts";
import type { Action } from "../../../../supervisor/core/world.ts";
import { createRolloutWorld, type SimulatedService } from "../../../support/rollout-world.ts";

type RolloutWorld = ReturnType<typeof createRolloutWorld>;

const anyServices = fc
  .array(fc.record({ replicas: fc.integer({ min: 1, max: 4 }), connections: fc.integer({ min: 0, max: 50 }) }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((list): SimulatedService[] => list.map((one, index) => ({ name: `s${index}`, ...one })));
const anySurge = fc.oneof(fc.constant("auto" as const), fc.integer({ min: 1, max: 3 }));
const anyLimit = fc.option(fc.integer({ min: 10, max: 600 }));
/** What happens next, and to whom (by index among those it can happen to). */
const anyEvent = fc.record({
  what: fc.constantFrom("ready", "ready", "ready", "exit", "exit", "crash", "crashNew", "tooLate", "wait"),
  who: fc.nat(20),
});
const figures = { seed: 20_260_801, numRuns: 300 } as const;

function happen(world: RolloutWorld, what: string, who: number): void {
  const pick = (ids: readonly string[], run: (id: string) => void): void => {
    const id = ids[who % Math.max(1, ids.length)];
    if (id !== undefined) run(id);
  };
  const ids = (holds: (one: ReturnType<RolloutWorld["instances"]>[number]) => boolean): string[] =>
    world
      .instances()
      .filter(holds)
      .map(({ id }) => id);
  world.pass(10);
  if (what === "ready")
    pick(
      ids(({ state, wanted }) => state === "starting" && wanted === "up"),
      world.becomeReady,
    );
  if (what === "exit")
    pick(
      ids((one) => one.wanted === "down" && isLiving(one)),
      world.exit,
    );
  if (what === "crash") pick(ids(isLiving), world.crash);
  if (what === "crashNew")
    pick(
      ids(({ state }) => state === "starting"),
      world.crash,
    );
  if (what === "tooLate")
    pick(
      ids(({ state, wanted }) => state === "starting" && wanted === "up"),
      world.tooLate,
    );
}

function runToEnd(world: RolloutWorld, seen: (action: Action) => void): void {
  for (let round = 0; round < 500; round++) {
    happen(world, "ready", 0);
    happen(world, "exit", 0);
    world.settle(seen);
    const waiting = world.instances().some(({ state, wanted }) => state !== "ready" || wanted === "down");
    if (world.rollout()?.state !== "running" && !waiting) return;
    // What never came up is ended by its deadline.
    for (const { id, state } of world.instances()) if (state === "unhealthy") world.crash(id);
  }
}

test("nobody is told to go while that would leave fewer ready than replicas", () => {
  fc.assert(
    fc.property(
      anyServices,
      anySurge,
      anyLimit,
      fc.array(anyEvent, { maxLength: 80 }),
      (services, surge, limit, events) => {
        const world = createRolloutWorld(services, surge, limit);
        const check = (action: Action): void => {
          if (action.kind !== "leave") return;
          const leaving = world.instances().find(({ id }) => id === action.instance);
          const service = services.find(({ name }) => name === leaving?.service);
          if (leaving?.state !== "ready" || service === undefined) return;
          expect(world.serving(service.name)).toBeGreaterThan(service.replicas);
        };
        world.begin();
        world.settle(check);
        for (const { what, who } of events) {
          happen(world, what, who);
          world.settle(check);
        }
      },
    ),
    figures,
  );
});

test("beside those on their way out there are never more than replicas + 1 of a service for each of two places", () => {
  fc.assert(
    fc.property(
      anyServices,
      anySurge,
      anyLimit,
      fc.array(anyEvent, { maxLength: 80 }),
      (services, surge, limit, events) => {
        const world = createRolloutWorld(services, surge, limit);
        world.begin();
        world.settle();
        for (const { what, who } of events) {
          happen(world, what, who);
          world.settle();
          for (const { name, replicas } of services) {
            const staying = world.of(name).filter((one) => one.wanted === "up" && isLiving(one));
            expect(staying.length).toBeLessThanOrEqual(replicas + (surge === "auto" ? Math.min(2, replicas) : 1));
          }
        }
      },
    ),
    figures,
  );
});

test("with surge N there are never more than replicas + N, those draining counted too", () => {
  fc.assert(
    fc.property(
      anyServices,
      fc.integer({ min: 1, max: 3 }),
      fc.array(anyEvent, { maxLength: 60 }),
      (services, surge, events) => {
        const world = createRolloutWorld(services, surge, null);
        world.begin();
        world.settle();
        for (const { what, who } of events) {
          // A crash is filled at once whatever still drains: that is supervision, no rollout.
          if (what === "crash" || what === "crashNew" || what === "tooLate") continue;
          happen(world, what, who);
          world.settle();
          const living = world.instances().filter(isLiving).length;
          const replicas = services.reduce((sum, service) => sum + service.replicas, 0);
          expect(living).toBeLessThanOrEqual(replicas + surge);
        }
      },
    ),
    figures,
  );
});

test("declared connections stay within the limit while anything can be waited for", () => {
  fc.assert(
    fc.property(
      anyServices,
      fc.integer({ min: 0, max: 60 }),
      fc.array(anyEvent, { maxLength: 60 }),
      (services, room, events) => {
        const steady = services.reduce((sum, one) => sum + one.replicas * one.connections, 0);
        const widest = Math.max(...services.map(({ connections }) => connections));
        // One above replicas fits: nothing may then go beyond.
        const limit = steady + widest + 5 + room;
        const world = createRolloutWorld(services, "auto", limit);
        world.begin();
        world.settle();
        for (const { what, who } of events) {
          if (what !== "ready" && what !== "exit") continue;
          happen(world, what, who);
          world.settle();
          const declared = world
            .instances()
            .filter(isLiving)
            .reduce((sum, one) => sum + (services.find(({ name }) => name === one.service)?.connections ?? 0), 0);
          expect(declared + 5).toBeLessThanOrEqual(limit);
        }
      },
    ),
    figures,
  );
});

test("whatever happened, it ends, and every service has its replicas ready", () => {
  fc.assert(
    fc.property(
      anyServices,
      anySurge,
      anyLimit,
      fc.array(anyEvent, { maxLength: 60 }),
      fc.boolean(),
      (services, surge, limit, events, cancelled) => {
        const world = createRolloutWorld(services, surge, limit);
        const before = world.instances().map(({ id }) => id);
        world.begin();
        world.settle();
        for (const { what, who } of events) {
          happen(world, what, who);
          world.settle();
        }
        if (cancelled) world.cancel();
        runToEnd(world, () => {});
        expect(world.rollout()?.state).not.toBe("running");
        for (const { name, replicas } of services) {
          expect(world.of(name)).toHaveLength(replicas);
          expect(world.serving(name)).toBe(replicas);
        }
        if (world.rollout()?.state === "succeeded") {
          expect(world.instances().filter(({ id }) => before.includes(id))).toEqual([]);
        }
      },
    ),
    figures,
  );
});

test("services go in their order, in each the oldest first", () => {
  fc.assert(
    fc.property(anyServices, anySurge, fc.array(anyEvent, { maxLength: 40 }), (services, surge, events) => {
      const world = createRolloutWorld(services, surge, null);
      const before = world.instances().map(({ id }) => id);
      const gone: string[] = [];
      const note = (action: Action): void => {
        if (action.kind === "leave") gone.push(action.instance);
      };
      world.begin();
      world.settle(note);
      for (const { what, who } of events) {
        if (what === "crash" || what === "crashNew" || what === "tooLate") continue;
        happen(world, what, who);
        world.settle(note);
      }
      runToEnd(world, note);
      expect(gone).toEqual(before);
    }),
    figures,
  );
});

test("a new instance that does not come up fails the rollout; what stays is what was ready", () => {
  const world = createRolloutWorld([{ name: "web", replicas: 2, connections: 0 }], "auto", null);
  world.begin();
  world.settle();
  world.tooLate("web-3");
  world.settle();
  expect(world.rollout()).toMatchObject({ state: "running", failure: "web-3 failed" });
  expect(world.instances().find(({ id }) => id === "web-4")).toMatchObject({ state: "starting", wanted: "down" });
  world.exit("web-3");
  world.settle();
  expect(world.rollout()?.state).toBe("running");
  world.exit("web-4");
  world.settle();
  expect(world.rollout()?.state).toBe("failed");
  expect(world.instances().map(({ id, state, replaceCause }) => [id, state, replaceCause])).toEqual([
    ["web-1", "ready", null],
    ["web-2", "ready", null],
  ]);
});

test("two places of what has stood are filled side by side, and the oldest goes first", () => {
  const world = createRolloutWorld([{ name: "web", replicas: 3, connections: 0 }], "auto", null);
  world.begin();
  world.settle();
  expect(standingOf(world)).toEqual(["web-1 ready", "web-2 ready", "web-3 ready", "web-4 starting", "web-5 starting"]);
  world.becomeReady("web-5");
  world.settle();
  const goes = () => world.instances().flatMap(({ id, wanted }) => (wanted === "down" ? [id] : []));
  expect(goes()).toEqual([]);
  world.becomeReady("web-4");
  world.settle();
  expect(goes()).toEqual(["web-1", "web-2"]);
});

test("the proxy is replaced by one of the new configuration, and the old one goes only when that serves", () => {
  const world = createRolloutWorld([{ name: "proxy", replicas: 1, connections: 0 }], "auto", null);
  world.configure("proxy", "new");
  world.settle();
  expect(standingOf(world)).toEqual(["proxy-1 ready", "proxy-2 starting"]);
  world.becomeReady("proxy-2");
  world.settle();
  expect(world.instances().find(({ id }) => id === "proxy-1")).toMatchObject({ wanted: "down" });
});

test("a proxy of the new configuration that does not start is tried again for as long as it takes", () => {
  const world = createRolloutWorld([{ name: "proxy", replicas: 1, connections: 0 }], "auto", null);
  world.configure("proxy", "new");
  world.settle();
  for (const failing of ["proxy-2", "proxy-3", "proxy-4"]) {
    world.crash(failing);
    world.settle();
    expect(standingOf(world)).toEqual(["proxy-1 ready", `${failing} backoff`]);
    world.pass(2);
    world.settle();
  }
  expect(standingOf(world)).toEqual(["proxy-1 ready", "proxy-5 starting"]);
});

test("a configuration turned back takes the waiting successor with it and leaves the old proxy alone", () => {
  const world = createRolloutWorld([{ name: "proxy", replicas: 1, connections: 0 }], "auto", null);
  world.configure("proxy", "new");
  world.settle();
  world.crash("proxy-2");
  world.configure("proxy", "");
  world.settle();
  expect(standingOf(world)).toEqual(["proxy-1 ready"]);
});

test("an old proxy that crashes while its successor waits is started again in its own place", () => {
  const world = createRolloutWorld([{ name: "proxy", replicas: 1, connections: 0 }], "auto", null);
  world.configure("proxy", "new");
  world.settle();
  world.crash("proxy-2", 30_000);
  world.crash("proxy-1");
  world.pass(2);
  world.settle();
  expect(standingOf(world)).toEqual(["proxy-3 starting"]);
});

function standingOf(world: RolloutWorld): string[] {
  return world.instances().map(({ id, state }) => `${id} ${state}`);
}
