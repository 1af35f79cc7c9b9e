// A small world for the core's decisions: instances that start, come up, crash, hang on and go as told, step by step.
// Actions have the effect that every plan gives them (core/simulate.ts); nothing happens by itself.

import { decide } from "../../supervisor/core/decide.ts";
import type { Instance } from "../../supervisor/core/instance.ts";
import { INSTANCE_MOVES, type InstanceEvent, isServing, newInstance } from "../../supervisor/core/instance.ts";
import { move } from "../../supervisor/core/machine.ts";
import { takeAction } from "../../supervisor/core/simulate.ts";
import { en } from "../../supervisor/core/text/text.ts";
import type { Action, RolloutFacts, World } from "../../supervisor/core/world.ts";

export interface SimulatedService {
  readonly name: string;
  readonly replicas: number;
  readonly connections: number;
}

export interface SimulatedRollout extends RolloutFacts {
  readonly state: "running" | "succeeded" | "failed" | "cancelled";
}

/** The instance after `event`; null when the event means nothing in its state. */
export function moveInstance(instance: Instance, event: InstanceEvent): Instance | null {
  const moved = move(INSTANCE_MOVES, instance.state, event);
  return moved.moved ? { ...instance, state: moved.to } : null;
}

/** One that is ready and gets requests, but for `changes`. */
export function instance(changes: Partial<Instance> & Pick<Instance, "id" | "service" | "number">): Instance {
  return newInstance({
    state: "ready",
    release: "1",
    startedAt: 0,
    startedMs: 0,
    bootId: "boot",
    readyMs: 0,
    routed: true,
    stop: { graceMs: 1_000, signal: "SIGTERM", after: "idle" },
    ...changes,
  });
}

/** Every replica ready, none being replaced. `changed`: as the world is instead, before anything is decided. */
export function createRolloutWorld(
  services: readonly SimulatedService[],
  surge: "auto" | number,
  connectionLimit: number | null,
  changed: (instances: readonly Instance[]) => readonly Instance[] = (same) => same,
  confirmMs = 0,
) {
  let number = 0;
  let ended: SimulatedRollout | null = null;
  const first = services.flatMap(({ name, replicas }) =>
    Array.from({ length: replicas }, () => {
      number += 1;
      return instance({ id: `${name}-${number}`, service: name, number });
    }),
  );
  let world: World = {
    text: en.recorded,
    services: services.map(({ name, replicas, connections }) => ({
      name,
      wanted: replicas,
      connections,
      memoryBytes: null,
      held: false,
      configHash: null,
    })),
    instances: changed(first),
    rollout: null,
    surge,
    connectionLimit,
    memoryBytes: null,
    stopping: false,
    paused: false,
    nowMs: 0,
  };

  const get = (id: string): Instance => {
    const found = world.instances.find((one) => one.id === id);
    if (found === undefined) throw new Error(`no ${id}`);
    return found;
  };
  const put = (one: Instance | null): void => {
    if (one === null) return;
    world = { ...world, instances: world.instances.map((before) => (before.id === one.id ? one : before)) };
  };
  const remove = (id: string): void => {
    world = { ...world, instances: world.instances.filter((one) => one.id !== id) };
  };

  function change(service: string, facts: Partial<World["services"][number]>): void {
    world = {
      ...world,
      services: world.services.map((one) => (one.name === service ? { ...one, ...facts } : one)),
    };
  }

  function apply(action: Action): void {
    if (action.kind === "end" && world.rollout !== null) ended = { ...world.rollout, state: action.state };
    world = takeAction(world, action, () => ++number);
  }

  return {
    world: (): World => world,
    /** The number given last. */
    given: (): number => number,
    instances: (): readonly Instance[] => world.instances,
    of: (service: string): readonly Instance[] => world.instances.filter((one) => one.service === service),
    serving: (service: string): number =>
      world.instances.filter((one) => one.service === service && isServing(one)).length,
    rollout: (): SimulatedRollout | null => (world.rollout === null ? ended : { ...world.rollout, state: "running" }),
    begin(share?: RolloutFacts["share"]) {
      const targets = world.instances.map(({ id }) => id);
      world = {
        ...world,
        rollout: {
          id: "r-1",
          targets,
          failure: null,
          cancelled: false,
          open: false,
          confirmMs,
          ...(share === undefined ? {} : { share }),
          doubtful: [],
          worse: null,
        },
      };
    },
    cancel() {
      if (world.rollout !== null) world = { ...world, rollout: { ...world.rollout, cancelled: true } };
    },
    /** Another number of instances from now on. */
    scale: (service: string, wanted: number) => change(service, { wanted }),
    /** From now on `service` is to run by this. */
    configure: (service: string, configHash: string) => change(service, { configHash }),
    /** Asks and does until nothing is left; `seen` hears of every action before it is done. */
    settle(seen: (action: Action) => void = () => {}) {
      for (let round = 0; round < 100; round++) {
        const actions = decide(world);
        if (actions.length === 0) return;
        for (const action of actions) {
          seen(action);
          apply(action);
        }
      }
      throw new Error("it never settles");
    },
    becomeReady(id: string) {
      const moved = moveInstance(get(id), "passed");
      if (moved !== null && moved.wanted === "up") put({ ...moved, routed: true, readyMs: world.nowMs });
    },
    crash(id: string, backoffMs = 1) {
      const one = get(id);
      const deadline = { kind: "backoff", atMs: world.nowMs + backoffMs } as const;
      if (one.wanted === "down") remove(id);
      else put(moveInstance({ ...one, routed: false, aside: false, deadline, attempt: one.attempt + 1 }, "crashed"));
    },
    failCheck(id: string) {
      put(moveInstance(get(id), "failing"));
    },
    outgrow(id: string) {
      put({ ...get(id), replaceCause: `${id} is over its memory limit` });
    },
    answerWorse(id: string) {
      const worse = { instance: id, reason: `${id} answers worse` };
      if (world.rollout !== null) world = { ...world, rollout: { ...world.rollout, worse } };
    },
    nowMs: () => world.nowMs,
    tooLate(id: string) {
      put(moveInstance(get(id), "tooLate"));
    },
    exit(id: string) {
      if (get(id).wanted === "down") remove(id);
    },
    pass(ms: number) {
      world = { ...world, nowMs: world.nowMs + ms };
    },
  };
}
