// 72 hours of rollouts in simulated time through the supervisor's own core: one every ten minutes, with crashes, late
// starts and cancels in between. What must hold is checked at every action; what is measured is the core's own time.

import { isLiving } from "../../../supervisor/core/instance.ts";
import type { Action } from "../../../supervisor/core/world.ts";
import { createSeededRandom } from "../../chaos/plan/seeded-random.ts";
import { createRolloutWorld } from "../../support/rollout-world.ts";
import { type Bench, scaled } from "../figures.ts";

const HOURS = scaled(72, 6);
const EVERY_MS = 600_000;
const STEP_MS = 250;
const SERVICES = [
  { name: "web", replicas: 2, connections: 144 },
  { name: "worker", replicas: 2, connections: 35 },
] as const;

export interface SimulatedHours {
  readonly rollouts: number;
  readonly byState: Readonly<Record<string, number>>;
  readonly crashes: number;
  readonly actions: number;
  /** Sentences of what went wrong; empty when nothing did. */
  readonly wrong: readonly string[];
  readonly longestMs: number;
}

/** Runs `hours` of it with the chance of `seed`. */
export function simulateRollouts(hours: number, seed: number): SimulatedHours {
  const random = createSeededRandom(seed);
  const world = createRolloutWorld(SERVICES, "auto", 597);
  const byState: Record<string, number> = {};
  const wrong: string[] = [];
  let crashes = 0;
  let actions = 0;
  let longestMs = 0;
  let nowMs = 0;
  const seen = (action: Action) => {
    actions += 1;
    if (action.kind !== "leave") return;
    const leaving = world.instances().find(({ id }) => id === action.instance);
    const service = SERVICES.find(({ name }) => name === leaving?.service);
    if (leaving?.state === "ready" && service !== undefined && world.serving(service.name) <= service.replicas)
      wrong.push(`at ${nowMs} ms ${leaving.id} is told to go with ${world.serving(service.name)} ready`);
  };
  let rollouts = 0;
  for (; nowMs < hours * 3_600_000; rollouts++) {
    const from = nowMs;
    const due = new Map<string, number>();
    world.begin();
    world.settle(seen);
    let steady = false;
    while (!steady && nowMs - from < EVERY_MS) {
      nowMs += STEP_MS;
      world.pass(STEP_MS);
      for (const one of world.instances()) {
        const key = `${one.id} ${one.state} ${one.wanted}`;
        // Starting takes half a second to eight seconds, draining up to five and a half minutes.
        const at =
          due.get(key) ??
          nowMs +
            (one.wanted === "down"
              ? random.whole(100, random.float() < 0.1 ? 330_000 : 5_000)
              : random.whole(500, 8_000));
        due.set(key, at);
        if (at > nowMs) continue;
        if (one.wanted === "down" && isLiving(one)) world.exit(one.id);
        else if (one.state === "starting" && random.float() < 0.02) world.tooLate(one.id);
        else if (one.state === "starting") world.becomeReady(one.id);
        else if (one.state === "unhealthy") world.crash(one.id);
      }
      if (random.float() < 0.002) {
        const living = world.instances().filter(isLiving);
        world.crash(random.pick(living).id);
        crashes += 1;
      }
      if (random.float() < 0.0005) world.cancel();
      world.settle(seen);
      steady =
        world.rollout()?.state !== "running" &&
        world.instances().every((one) => one.state === "ready" && one.wanted === "up");
    }
    longestMs = Math.max(longestMs, nowMs - from);
    const state = world.rollout()?.state ?? "none";
    byState[state] = (byState[state] ?? 0) + 1;
    if (!steady) wrong.push(`the rollout begun at ${from} ms is not over and steady after ten minutes`);
    for (const { name, replicas } of SERVICES)
      if (steady && world.serving(name) !== replicas)
        wrong.push(`at ${nowMs} ms ${name} has ${world.serving(name)} ready`);
    world.pass(Math.max(0, from + EVERY_MS - nowMs));
    nowMs = Math.max(nowMs, from + EVERY_MS);
  }
  return { rollouts, byState, crashes, actions, wrong, longestMs };
}

export const rolloutsBench: Bench = {
  name: "rollouts",
  async run() {
    const from = performance.now();
    const result = simulateRollouts(HOURS, 1);
    const ms = performance.now() - from;
    const states = Object.entries(result.byState).map(([state, count]) => `${count} ${state}`);
    return [
      {
        work: `${HOURS} h of rollouts in simulated time through the planner`,
        goal: "never below replicas, each ends",
        measured: `${result.rollouts} rollouts (${states.join(", ")}), ${result.crashes} crashes, ${result.actions} actions, ${result.wrong.length} broken promises${result.wrong[0] ? `: ${result.wrong[0]}` : ""}`,
        met: result.wrong.length === 0,
        note: `${(ms / 1_000).toFixed(1)} s of real time; the longest took ${(result.longestMs / 1_000).toFixed(0)} simulated s`,
      },
    ];
  },
};
