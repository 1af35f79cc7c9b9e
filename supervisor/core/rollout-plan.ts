// What a rollout would do: which instances go, in which steps, with which sums. Pure.
// Invariant: services in the order of owl.yaml, in each the oldest first.

import type { Rollout, RolloutEvent, RolloutPlan, RolloutStep } from "../../config/control-api.ts";
import { OWN_CONNECTIONS } from "./connection-budget.ts";
import { estimateCounts, estimateRollout, type ServiceTimes } from "./estimate.ts";
import { type Instance, isLiving } from "./instance.ts";
import type { Text } from "./text/en.ts";

export interface PlannedService extends ServiceTimes {
  readonly routed: boolean;
  readonly replicas: number;
  readonly connections: number;
  readonly memoryBytes: number | null;
}

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
        isLiving(one) &&
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

const ACTIONS = ["start", "ready", "route", "drain", "stop"] as const;
type StepAction = (typeof ACTIONS)[number];

/** The steps of replacing these, all waiting. `instance` of start, ready and route is known once it is started. */
export function planSteps(targets: readonly Instance[], routed: (service: string) => boolean): readonly RolloutStep[] {
  let n = 0;
  return targets.flatMap((old) =>
    ACTIONS.filter((action) => routed(old.service) || action !== "route").map(
      (action): RolloutStep => ({
        n: ++n,
        service: old.service,
        action,
        instance: action === "drain" || action === "stop" ? old.id : null,
        state: "waiting",
        startedAt: null,
        elapsedMs: 0,
      }),
    ),
  );
}

/** The steps of bringing a service from as many instances as it has to `to`; of the surplus the oldest go first. */
export function planCount(
  service: string,
  up: readonly Instance[],
  to: number,
  routed: boolean,
): readonly RolloutPlan["steps"][number][] {
  const more = Array.from({ length: Math.max(0, to - up.length) }, () =>
    (["start", "ready", "route"] as const)
      .filter((action) => routed || action !== "route")
      .map((action) => ({ service, action, instance: null })),
  );
  const fewer = up
    .toSorted((a, b) => a.number - b.number)
    .slice(0, Math.max(0, up.length - to))
    .map(({ id }) => (["drain", "stop"] as const).map((action) => ({ service, action, instance: id })));
  return [...more, ...fewer].flat();
}

const STEP_OF: Readonly<
  Record<RolloutEvent["event"], { readonly ends: StepAction | null; readonly begins: StepAction | null }>
> = {
  starting: { ends: "start", begins: "ready" },
  ready: { ends: "ready", begins: "route" },
  routed: { ends: "route", begins: null },
  draining: { ends: "drain", begins: "stop" },
  stopped: { ends: "stop", begins: null },
  killed: { ends: "stop", begins: null },
  failed: { ends: null, begins: null },
  step: { ends: null, begins: null },
};

/**
 * The steps after something happened to `instance`. `place`: index of the old instance's group of steps.
 * Times are wall milliseconds, for showing.
 */
export function advanceSteps(
  steps: readonly RolloutStep[],
  old: string,
  instance: string,
  event: RolloutEvent["event"] | "start" | "leave",
  at: string,
  nowMs: number,
): readonly RolloutStep[] {
  const own = stepsOf(steps, old);
  const set = (action: StepAction, change: (step: RolloutStep) => RolloutStep): void => {
    for (const [index, step] of own.entries()) {
      const isNew = action === "start" || action === "ready" || action === "route";
      if (step.action === action) own[index] = { ...change(step), instance: isNew ? instance : step.instance };
    }
  };
  const begin = (step: RolloutStep): RolloutStep => ({ ...step, state: "running", startedAt: at, elapsedMs: 0 });
  const finish = (step: RolloutStep): RolloutStep => ({
    ...step,
    state: "done",
    startedAt: step.startedAt ?? at,
    elapsedMs: step.startedAt === null ? 0 : Math.max(0, nowMs - Date.parse(step.startedAt)),
  });
  if (event === "start") set("start", begin);
  else if (event === "leave") set("drain", begin);
  else if (event === "failed") {
    for (const [index, step] of own.entries())
      if (step.state === "running") own[index] = { ...finish(step), state: "failed" };
  } else {
    const { ends, begins } = STEP_OF[event];
    if (ends !== null) set(ends, finish);
    if (begins !== null) set(begins, begin);
  }
  const changed = new Map(own.map((step) => [step.n, step]));
  return steps.map((step) => changed.get(step.n) ?? step);
}

/** The group of steps that replaces `old`. */
function stepsOf(steps: readonly RolloutStep[], old: string): RolloutStep[] {
  const last = steps.findIndex((step) => step.action === "stop" && step.instance === old);
  if (last < 0) return [];
  let first = last;
  while (first > 0 && steps[first - 1]?.action !== "stop") first--;
  return steps.slice(first, last + 1);
}

/** Steps that are still open when a rollout ends are skipped, those under way stay as they are seen last. */
export function closeSteps(steps: readonly RolloutStep[]): readonly RolloutStep[] {
  return steps.map((step) => (step.state === "waiting" ? { ...step, state: "skipped" } : step));
}

export interface PlanFacts {
  readonly targets: readonly Instance[];
  readonly services: readonly PlannedService[];
  readonly instances: readonly Instance[];
  readonly connectionLimit: number | null;
  readonly notes: readonly string[];
  /** Numbers of instances that change beside what is replaced. */
  readonly counts?: readonly { readonly name: string; readonly from: number; readonly to: number }[];
}

/** What `--plan` prints, its notes in the language of `text`: steps, times, peaks; nothing is changed by asking. */
export function describePlan(facts: PlanFacts, text: Text): RolloutPlan {
  const { targets, services, notes } = facts;
  const routed = (name: string): boolean => services.some((one) => one.name === name && one.routed);
  const involved = services.map((one) => {
    const { from, to } = facts.counts?.find(({ name }) => name === one.name) ?? { from: 0, to: 0 };
    const count = targets.filter(({ service }) => service === one.name).length;
    return { ...one, count, from, to, replicas: Math.max(one.replicas, from, to) };
  });
  const replacing = estimateRollout(involved.filter(({ count }) => count > 0));
  const counting = estimateCounts(involved);
  const peakConnections = peakOf(involved, ({ connections }) => connections);
  const measured = involved.every((one) => one.replicas === 0 || one.memoryBytes !== null);
  const said = [...notes];
  if (
    facts.connectionLimit !== null &&
    peakConnections + OWN_CONNECTIONS > facts.connectionLimit &&
    (targets.length > 0 || involved.some(({ from, to }) => to > from))
  ) {
    said.push(text.plan.overLimit(peakConnections, facts.connectionLimit));
  }
  return {
    changes: targets.length > 0,
    steps: planSteps(targets, routed).map(({ service, action, instance }) => ({ service, action, instance })),
    expectedMs: Math.max(replacing.expectedMs, counting.expectedMs),
    worstMs: Math.max(replacing.worstMs, counting.worstMs),
    peakConnections: services.some(({ connections }) => connections > 0) ? peakConnections : null,
    connectionLimit: facts.connectionLimit,
    peakMemoryBytes: measured ? peakOf(involved, ({ memoryBytes }) => memoryBytes ?? 0) : null,
    notes: said,
  };
}

/** Sum over all replicas, plus what may run above them at once of the service being replaced. */
function peakOf(
  involved: readonly (PlannedService & { readonly count: number })[],
  of: (service: PlannedService) => number,
): number {
  const steady = involved.reduce((sum, one) => sum + one.replicas * of(one), 0);
  const more = involved.map((one) => (one.count === 0 ? 0 : Math.min(one.width, one.count) * of(one)));
  return steady + Math.max(0, ...more);
}
