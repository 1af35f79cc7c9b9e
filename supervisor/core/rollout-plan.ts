// What a rollout would do and does: which instances go, in which steps, with which sums. Pure.
// Invariant: steps are those `decide` takes (core/simulate.ts); services in the order of owl.yaml, in each the oldest first.

import type { Rollout, RolloutEvent, RolloutPlan, RolloutStep } from "../../config/control-api.ts";
import { OWN_CONNECTIONS } from "./connection-budget.ts";
import type { Instance } from "./instance.ts";
import { type Pace, type ServiceFigures, type SimulatedStep, type StepAction, simulate } from "./simulate.ts";
import type { Text } from "./text/text.ts";
import type { World } from "./world.ts";

export interface LastRollout {
  readonly state: Rollout["state"];
  readonly startedMs: number;
  readonly bootId: string;
}

/**
 * Instances a restart replaces: all, or after a rollout that did not succeed those started before it.
 * `services` null: all of them.
 */
export function restartTargets(
  instances: readonly Instance[],
  order: readonly string[],
  services: readonly string[] | null,
  last: LastRollout | null,
  all: boolean,
): readonly Instance[] {
  const before = !all && last !== null && last.state !== "succeeded" && last.state !== "running" ? last : null;
  return inOrder(
    instances.filter(
      (one) =>
        one.wanted === "up" &&
        one.state !== "exited" &&
        (services === null || services.includes(one.service)) &&
        (before === null || one.bootId !== before.bootId || one.startedMs < before.startedMs),
    ),
    order,
  );
}

/** Services in their order, the oldest instance of each first. */
export function inOrder(instances: readonly Instance[], order: readonly string[]): readonly Instance[] {
  return instances.toSorted(
    (a, b) => order.indexOf(a.service) - order.indexOf(b.service) || a.number - b.number || (a.id < b.id ? -1 : 1),
  );
}

export interface PlannedService extends ServiceFigures {
  /** As measured, or as is to be expected where nothing was. */
  readonly expected: Pace;
  /** As long as the limits allow. */
  readonly worst: Pace;
}

export interface Forecast {
  readonly steps: readonly SimulatedStep[];
  readonly expectedMs: number;
  readonly worstMs: number;
  readonly peakConnections: number;
  readonly peakMemoryBytes: number | null;
}

/** What the loop would make of `world`. `given`: the highest number an instance of that service was ever given. */
export function forecast(
  world: World,
  service: (name: string) => PlannedService,
  given: (service: string) => number,
): Forecast {
  const run = (pace: "expected" | "worst") => {
    const numbers = new Map<string, number>();
    const nextNumber = (name: string): number => {
      const number = (numbers.get(name) ?? given(name)) + 1;
      numbers.set(name, number);
      return number;
    };
    return simulate(world, (name) => service(name)[pace], service, nextNumber);
  };
  const [expected, worst] = [run("expected"), run("worst")];
  const memory = [expected.peakMemoryBytes, worst.peakMemoryBytes].filter((bytes) => bytes !== null);
  return {
    steps: expected.steps,
    expectedMs: expected.tookMs,
    worstMs: worst.tookMs,
    peakConnections: Math.max(expected.peakConnections, worst.peakConnections),
    peakMemoryBytes: memory.length === 2 ? Math.max(...memory) : null,
  };
}

/** A step on record, with the old instance whose place changes hands by it; an update's own steps have none. */
export type RecordedStep = RolloutStep & { readonly place?: string };

/** The steps of the rollout in that forecast, all waiting. `instance` of a new one is known once it is started. */
export function waitingSteps({ steps }: Pick<Forecast, "steps">): readonly RecordedStep[] {
  return steps
    .flatMap((step) => (step.place === null ? [] : [{ ...step, place: step.place }]))
    .map(({ service, action, place }, index) => {
      const instance = action === "drain" || action === "stop" ? place : null;
      return { n: index + 1, service, action, instance, state: "waiting", startedAt: null, elapsedMs: 0, place };
    });
}

/** What happens to an instance in a rollout, the two beginnings included that no watcher is told. */
export type Milestone = RolloutEvent["event"] | "start" | "leave";

const STEP_OF: Readonly<
  Record<
    RolloutEvent["event"] | "start" | "leave",
    { readonly ends: StepAction | null; readonly begins: StepAction | null }
  >
> = {
  start: { ends: null, begins: "start" },
  starting: { ends: "start", begins: "ready" },
  ready: { ends: "ready", begins: "route" },
  routed: { ends: "route", begins: null },
  leave: { ends: null, begins: "drain" },
  draining: { ends: "drain", begins: "stop" },
  stopped: { ends: "stop", begins: null },
  killed: { ends: "stop", begins: null },
  failed: { ends: null, begins: null },
  step: { ends: null, begins: null },
};

/**
 * The steps after something happened to `instance`, old or new, of the place that `place` had or has.
 * Times are wall milliseconds, for showing.
 */
export function advanceSteps(
  steps: readonly RecordedStep[],
  place: string,
  instance: string,
  event: Milestone,
  at: string,
  nowMs: number,
): readonly RecordedStep[] {
  const begin = (step: RecordedStep): RecordedStep => ({ ...step, state: "running", startedAt: at, elapsedMs: 0 });
  const finish = (step: RecordedStep): RecordedStep => ({
    ...step,
    state: "done",
    startedAt: step.startedAt ?? at,
    elapsedMs: step.startedAt === null ? 0 : Math.max(0, nowMs - Date.parse(step.startedAt)),
  });
  if (event === "failed")
    return steps.map((step) =>
      step.place === place && step.state === "running" ? { ...finish(step), state: "failed" } : step,
    );
  const { ends, begins } = STEP_OF[event];
  let changed = steps;
  const set = (action: StepAction | null, change: (step: RecordedStep) => RecordedStep): void => {
    // An update that was cut may have listed a place twice: the last time counts.
    const index = changed.findLastIndex((step) => step.place === place && step.action === action);
    const step = changed[index];
    // A new one that failed goes too; the old one's way out is not taken by that.
    const isOthers = (action === "drain" || action === "stop") && instance !== place;
    if (step !== undefined && !isOthers) changed = changed.with(index, { ...change(step), instance });
  };
  set(ends, finish);
  set(begins, begin);
  return changed;
}

/** Steps that are still open when a rollout ends are skipped, those under way stay as they are seen last. */
export function closeSteps(steps: readonly RecordedStep[]): readonly RecordedStep[] {
  return steps.map((step) => (step.state === "waiting" ? { ...step, state: "skipped" } : step));
}

/** What `--plan` prints, its notes in the language of `text`. `changes`: there is something to do. */
export function describePlan(
  told: Forecast,
  changes: boolean,
  connectionLimit: number | null,
  notes: readonly string[],
  text: Text,
): RolloutPlan {
  const { steps, expectedMs, worstMs, peakConnections, peakMemoryBytes } = told;
  const isOver =
    connectionLimit !== null &&
    peakConnections + OWN_CONNECTIONS > connectionLimit &&
    steps.some(({ action }) => action === "start");
  return {
    changes,
    steps: steps.map(({ service, action, instance }) => ({ service, action, instance })),
    expectedMs,
    worstMs,
    peakConnections: peakConnections > 0 ? peakConnections : null,
    connectionLimit,
    peakMemoryBytes,
    notes: isOver ? [...notes, text.plan.overLimit(peakConnections, connectionLimit)] : notes,
  };
}
