// What is shown beforehand is what the loop does: both ask the same decision.

import fc from "fast-check";
import { expect, test } from "vitest";
import { type Instance, isLiving } from "../../../../supervisor/core/instance.ts";
import { simulate } from "../../../../supervisor/core/simulate.ts";
import type { Action } from "../../../../supervisor/core/world.ts";
import { createRolloutWorld } from "../../../support/rollout-world.ts";

type RolloutWorld = ReturnType<typeof createRolloutWorld>;

const FIGURES = { routed: true, connections: 0, memoryBytes: null };

type Paces = Readonly<Record<string, { readonly startMs: number; readonly drainMs: number }>>;

const EVEN = { startMs: 100, drainMs: 50 };

function shown(world: RolloutWorld, paces: Paces = {}): string[] {
  let number = world.given();
  const { steps } = simulate(
    world.world(),
    (service) => paces[service] ?? EVEN,
    () => FIGURES,
    () => ++number,
  );
  return steps.flatMap(({ action, instance }) => {
    if (action === "start") return [`start ${instance}`];
    return action === "drain" ? [`leave ${instance}`] : [];
  });
}

/** Runs the world without a fault until nothing is left: `next` says who of those pending comes up or ends, and when. */
function taken(
  world: RolloutWorld,
  next: (pending: readonly Instance[]) => readonly Instance[],
  toMs?: (one: Instance) => number,
) {
  const seen: string[] = [];
  const note = (action: Action): void => {
    if (action.kind === "start") seen.push(`start ${action.service}-${world.given() + 1}`);
    if (action.kind === "leave") seen.push(`leave ${action.instance}`);
  };
  world.settle(note);
  for (let round = 0; round < 1_000; round++) {
    const pending = world
      .instances()
      .filter((one) => (one.wanted === "down" ? isLiving(one) : one.state === "starting"));
    const due = next(pending);
    const [first] = due;
    if (first === undefined) return seen;
    world.pass(Math.max(0, (toMs?.(first) ?? 0) - world.world().nowMs));
    for (const one of due) {
      if (one.wanted === "down") world.exit(one.id);
      else world.becomeReady(one.id);
    }
    world.settle(note);
  }
  throw new Error("it never ends");
}

/** In their own time. */
function takenInTime(world: RolloutWorld, paces: Paces): string[] {
  const dueMs = ({ service, wanted, signalledMs, startedMs }: Instance): number => {
    const { startMs, drainMs } = paces[service] ?? EVEN;
    return wanted === "down" ? (signalledMs ?? 0) + drainMs : startedMs + startMs;
  };
  const soonest = (pending: readonly Instance[]): readonly Instance[] => {
    const firstMs = Math.min(...pending.map(dueMs));
    return pending.filter((one) => dueMs(one) === firstMs);
  };
  return taken(world, soonest, dueMs);
}

test("of a ready, an unhealthy and a ready one, two wanted, the unhealthy one is shown to go", () => {
  const world = createRolloutWorld([{ name: "web", replicas: 3, connections: 0 }], "auto", null, (all) =>
    all.map((one) => (one.id === "web-2" ? { ...one, state: "unhealthy" } : one)),
  );
  world.scale("web", 2);
  expect(shown(world)).toEqual(["leave web-2"]);
  expect(takenInTime(world, {})).toEqual(["leave web-2"]);
});

const anyState = fc.constantFrom<Partial<Instance>>(
  {},
  {},
  { state: "unhealthy", routed: false },
  { state: "starting", routed: false, readyMs: null },
  { state: "draining", wanted: "down", leaving: "signalled", signalledMs: 0, routed: false },
  { state: "backoff", routed: false },
);
const anyService = fc.record({
  states: fc.array(anyState, { minLength: 1, maxLength: 4 }),
  connections: fc.integer({ min: 0, max: 50 }),
  /** Added to what there is. */
  more: fc.integer({ min: -3, max: 3 }),
});
const anyWorld = fc.record({
  services: fc.array(anyService, { minLength: 1, maxLength: 3 }),
  surge: fc.oneof(fc.constant("auto" as const), fc.integer({ min: 1, max: 3 })),
  limit: fc.option(fc.integer({ min: 10, max: 600 })),
});

function worldOf({ services, surge, limit }: typeof anyWorld extends fc.Arbitrary<infer T> ? T : never): RolloutWorld {
  const named = services.map((one, index) => ({ ...one, name: `s${index}`, replicas: one.states.length }));
  const states = named.flatMap(({ states: all }) => all);
  return createRolloutWorld(named, surge, limit, (all) => all.map((one, index) => ({ ...one, ...states[index] })));
}

const anyPace = fc.record({ startMs: fc.nat(500), drainMs: fc.nat(500) });
const anyPaces = fc.record({ s0: anyPace, s1: anyPace, s2: anyPace });

test("the steps shown are the steps taken: whatever the world, replaced or brought to other numbers or both", () => {
  fc.assert(
    fc.property(anyWorld, anyPaces, fc.boolean(), fc.boolean(), (drawn, paces, replaced, scaled) => {
      const world = worldOf(drawn);
      if (replaced) world.begin();
      for (const [index, one] of drawn.services.entries())
        if (scaled) world.scale(`s${index}`, Math.max(0, one.states.length + one.more));
      const plan = shown(world, paces);
      expect(takenInTime(world, paces)).toEqual(plan);
    }),
    { seed: 20_260_911, numRuns: 1_000 },
  );
});

test("where all is ready, the steps shown for a restart are those taken however long anything takes", () => {
  fc.assert(
    fc.property(anyWorld, fc.array(fc.nat(20), { minLength: 1, maxLength: 60 }), (drawn, chances) => {
      const ready = drawn.services.map((one) => ({ ...one, states: one.states.map(() => ({})) }));
      const world = worldOf({ ...drawn, services: ready });
      world.begin();
      const plan = shown(world);
      let turn = 0;
      const anyOf = (pending: readonly Instance[]): readonly Instance[] => {
        const one = pending[(chances[turn++ % chances.length] ?? 0) % Math.max(1, pending.length)];
        return one === undefined ? [] : [one];
      };
      expect(taken(world, anyOf)).toEqual(plan);
    }),
    { seed: 20_260_912, numRuns: 500 },
  );
});
