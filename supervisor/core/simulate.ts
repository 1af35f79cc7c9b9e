// What the loop will do, told beforehand: `decide` over a world that lives by itself, whose instances come up and end in
// the times they were measured to take. Every `--plan` and the steps of every rollout come from here. Pure.
// Invariant: nothing is decided here; an action has the effect that the loop gives it, and an unknown one does not compile.

import type { MonotonicMs } from "../../config/time.ts";
import { isOnTrial } from "./confirm.ts";
import { decide } from "./decide.ts";
import { UNHEALTHY_LIMIT_MS } from "./health.ts";
import { type Instance, isLiving, newInstance } from "./instance.ts";
import type { Action, World } from "./world.ts";

/** Rounds of one instant, and instants of one simulation: more would be a decision that undoes itself. */
const ROUNDS = 1_000;
const INSTANTS = 10_000;

export type StepAction = "start" | "ready" | "route" | "drain" | "stop";

export interface SimulatedStep {
  readonly service: string;
  readonly action: StepAction;
  readonly instance: string;
  /** The old instance of the rollout whose place changes hands; null: the step is no part of a rollout. */
  readonly place: string | null;
}

/** How long an instance takes from its start until it is ready, and from its signal to its end. */
export interface Pace {
  readonly startMs: number;
  readonly drainMs: number;
}

export interface ServiceFigures {
  readonly routed: boolean;
  readonly connections: number;
  /** Of one instance; null: not measured. */
  readonly memoryBytes: number | null;
}

interface Simulation {
  /** In the order in which the loop takes the actions they belong to. */
  readonly steps: readonly SimulatedStep[];
  /** Until the last of the steps is over. */
  readonly tookMs: number;
  readonly peakConnections: number;
  /** null: not everything that runs was measured. */
  readonly peakMemoryBytes: number | null;
}

/**
 * Runs `world` until nothing is left to do and nothing is awaited. Nothing fails in it but what has failed already.
 * `nextNumber`: of a service's next instance, another one at each call.
 */
export function simulate(
  world: World,
  pace: (service: string) => Pace,
  figures: (service: string) => ServiceFigures,
  nextNumber: (service: string) => number,
): Simulation {
  const steps: SimulatedStep[] = [];
  const shown = new Set<string>();
  const peaks: { connections: number; memoryBytes: number | null } = { connections: 0, memoryBytes: 0 };
  let now: World = { ...world, instances: world.instances.map((one) => signalled(one, world.nowMs)) };
  let endedMs = world.nowMs;

  function settle(): void {
    for (let round = 0; round < ROUNDS; round++) {
      const actions = decide(now);
      if (actions.length === 0) return;
      for (const action of actions) {
        const before = now;
        now = takeAction(now, action, nextNumber);
        for (const step of stepsOf(action, before, now, figures)) {
          steps.push(step);
          shown.add(step.instance);
        }
      }
    }
  }

  function notePeaks(): void {
    const living = now.instances.filter(isLiving).map(({ service }) => figures(service));
    const connections = living.reduce((sum, one) => sum + one.connections, 0);
    const isMeasured = living.every(({ memoryBytes }) => memoryBytes !== null);
    const bytes = living.reduce((sum, one) => sum + (one.memoryBytes ?? 0), 0);
    peaks.connections = Math.max(peaks.connections, connections);
    peaks.memoryBytes = isMeasured && peaks.memoryBytes !== null ? Math.max(peaks.memoryBytes, bytes) : null;
  }

  for (let instant = 0; instant < INSTANTS; instant++) {
    settle();
    notePeaks();
    const { nowMs } = now;
    const due = new Map(now.instances.map((one) => [one.id, dueMs(one, pace(one.service), now)]));
    const nextMs = Math.max(nowMs, Math.min(...due.values()));
    if (nextMs === Number.POSITIVE_INFINITY) break;
    const isDue = ({ id }: Instance): boolean => (due.get(id) ?? 0) <= nextMs;
    if (now.instances.some((one) => isDue(one) && shown.has(one.id))) endedMs = nextMs;
    const instances = now.instances.flatMap((one) => (isDue(one) ? happen(one, now.text, nextMs) : [one]));
    now = { ...now, nowMs: nextMs, instances };
  }
  const tookMs = Math.round(endedMs - world.nowMs);
  return { steps, tookMs, peakConnections: peaks.connections, peakMemoryBytes: peaks.memoryBytes };
}

/** The world after an action was taken. A started instance is its last one. */
export function takeAction(world: World, action: Action, nextNumber: (service: string) => number): World {
  const { instances, nowMs, rollout } = world;
  const change = (id: string, next: (one: Instance) => readonly Instance[]): World => ({
    ...world,
    instances: instances.flatMap((one) => (one.id === id ? next(one) : [one])),
  });
  switch (action.kind) {
    case "start": {
      const { service, replaces, rollout: of, follows } = action;
      const number = nextNumber(service);
      const configHash = world.services.find(({ name }) => name === service)?.configHash ?? "";
      const started = newInstance({
        ...{ id: `${service}-${number}`, service, number, release: "", configHash, replaces, rollout: of },
        ...{ startedAt: 0, startedMs: nowMs, bootId: "", stop: { graceMs: 0, signal: "SIGTERM", after: "idle" } },
      });
      return { ...world, instances: [...instances.filter(({ id }) => id !== follows), started] };
    }
    case "leave":
      return change(action.instance, (one) => {
        const leaving = { ...one, aside: false, wanted: "down", leaving: "signalled", signalledMs: nowMs } as const;
        return [{ ...leaving, routed: false, replaceCause: null, deadline: null }];
      });
    case "discard":
      return change(action.instance, () => []);
    case "replace":
      return change(action.instance, (one) => [{ ...one, replaceCause: action.cause }]);
    case "aside":
      return change(action.instance, (one) => [{ ...one, aside: action.aside }]);
    case "keep":
      return change(action.instance, (one) => [{ ...one, replaceCause: null }]);
    case "retry":
      return change(action.instance, (one) => [{ ...one, attempt: 0, deadline: null, rollout: action.rollout }]);
    case "fail": {
      const { reason } = action;
      // Without an old one that serves, its place is tried again; merely worse, it leaves.
      const mayBeRemoved = (one: Instance): boolean =>
        reason === null && instances.some((old) => old.id === one.replaces && isLiving(old));
      const failed = change(action.instance, (one) => {
        if (!mayBeRemoved(one)) return [one];
        return isLiving(one)
          ? [{ ...one, state: "stopping", wanted: "down", wasKilled: true, signalledMs: nowMs }]
          : [];
      });
      return { ...failed, rollout: rollout && { ...rollout, failure: reason ?? `${action.instance} failed` } };
    }
    case "end": {
      const targets = new Set(rollout?.targets);
      const left = instances.map((one) => (targets.has(one.id) ? { ...one, replaceCause: null } : one));
      return { ...world, rollout: null, instances: left };
    }
  }
}

/** What an action shows as: the new instance's way in, or the old one's way out. */
function stepsOf(
  action: Action,
  before: World,
  after: World,
  figures: (service: string) => ServiceFigures,
): readonly SimulatedStep[] {
  const started = action.kind === "start" ? after.instances.at(-1) : undefined;
  if (action.kind === "start" && started !== undefined) {
    const { service, id: instance } = started;
    const names = figures(service).routed ? (["start", "ready", "route"] as const) : (["start", "ready"] as const);
    const place = action.rollout === null ? null : action.replaces;
    return names.map((name) => ({ service, action: name, instance, place }));
  }
  const left = action.kind === "leave" ? before.instances.find(({ id }) => id === action.instance) : undefined;
  if (left === undefined) return [];
  const { service, id: instance } = left;
  const place = before.rollout?.targets.includes(instance) ? instance : null;
  return (["drain", "stop"] as const).map((name) => ({ service, action: name, instance, place }));
}

/** On its way out before the simulation began, it is taken to be signalled now at the latest. */
function signalled(instance: Instance, nowMs: MonotonicMs): Instance {
  return instance.wanted === "down" ? { ...instance, signalledMs: instance.signalledMs ?? nowMs } : instance;
}

/** When something happens to it by itself; infinite: never. */
function dueMs(instance: Instance, { startMs, drainMs }: Pace, { rollout, nowMs }: World): MonotonicMs {
  const { state, wanted, deadline } = instance;
  if (wanted === "down")
    return isLiving(instance) ? (instance.signalledMs ?? nowMs) + drainMs : Number.POSITIVE_INFINITY;
  if (state === "starting") return instance.startedMs + startMs;
  if (state === "ready" && isOnTrial(rollout, instance)) {
    const instants = [rollout?.confirmMs ?? 0, rollout?.share?.ms ?? 0].map((ms) => (instance.readyMs ?? nowMs) + ms);
    const next = Math.min(...instants.filter((at) => at > nowMs));
    if (next < Number.POSITIVE_INFINITY) return next;
  }
  if (state === "unhealthy" && deadline?.kind === "unhealthy") return deadline.atMs;
  // What was not started again at its time waits for something else.
  return state === "backoff" && deadline !== null && deadline.atMs > nowMs ? deadline.atMs : Number.POSITIVE_INFINITY;
}

/** What became of it at its time: ready, gone, or, unhealthy for too long, to be replaced. */
function happen(instance: Instance, text: World["text"], nowMs: MonotonicMs): readonly Instance[] {
  if (instance.wanted === "down") return [];
  if (instance.state === "starting")
    return [{ ...instance, state: "ready", routed: true, readyMs: nowMs, deadline: null }];
  if (instance.state !== "unhealthy") return [instance];
  if (instance.readyMs === null) return [{ ...instance, state: "backoff", deadline: { kind: "backoff", atMs: nowMs } }];
  return [
    {
      ...instance,
      deadline: null,
      replaceCause: instance.replaceCause ?? text.cause.unhealthy(UNHEALTHY_LIMIT_MS / 1_000),
    },
  ];
}
