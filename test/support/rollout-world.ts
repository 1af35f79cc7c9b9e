// A small world for the core's decisions: instances that start, come up, crash, hang on and go as told, step by step.
// It does what the shell does with actions, and nothing by itself.

import { type Action, decide, type RolloutFacts, type World } from "../../supervisor/core/decide.ts";
import type { Instance } from "../../supervisor/core/instance.ts";
import { isLiving, isServing, moveInstance, newInstance } from "../../supervisor/core/instance.ts";
import { recordedEn } from "../../supervisor/core/text/recorded-en.ts";

export interface SimulatedService {
  readonly name: string;
  readonly replicas: number;
  readonly connections: number;
}

export interface SimulatedRollout extends RolloutFacts {
  readonly state: "running" | "succeeded" | "failed" | "cancelled";
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

/** Every replica ready, none being replaced. */
export function createRolloutWorld(
  services: readonly SimulatedService[],
  surge: "auto" | number,
  connectionLimit: number | null,
) {
  let number = 0;
  let nowMs = 0;
  let rollout: SimulatedRollout | null = null;
  const instances = new Map<string, Instance>();
  /** Of places that are replaced when their configuration changes (the proxy). */
  const hashes = new Map<string, string>();
  for (const { name, replicas } of services) {
    for (let index = 0; index < replicas; index++) {
      const id = `${name}-${++number}`;
      instances.set(id, instance({ id, service: name, number }));
    }
  }

  const world = (): World => ({
    text: recordedEn,
    services: services.map(({ name, replicas, connections }) => ({
      name,
      wanted: replicas,
      connections,
      memoryBytes: null,
      held: false,
      configHash: hashes.get(name) ?? null,
    })),
    instances: [...instances.values()],
    rollout: rollout?.state === "running" ? rollout : null,
    surge,
    connectionLimit,
    memoryBytes: null,
    stopping: false,
    paused: false,
    nowMs,
  });

  const put = (one: Instance | null): void => {
    if (one !== null) instances.set(one.id, one);
  };
  const get = (id: string): Instance => {
    const found = instances.get(id);
    if (found === undefined) throw new Error(`no ${id}`);
    return found;
  };

  function apply(action: Action): void {
    if (action.kind === "start") {
      const id = `${action.service}-${++number}`;
      if (action.follows !== null) instances.delete(action.follows);
      const { service, replaces } = action;
      put(
        instance({
          id,
          service,
          number,
          replaces,
          state: "starting",
          routed: false,
          configHash: hashes.get(service) ?? "",
          rollout: action.rollout,
          startedMs: nowMs,
        }),
      );
    } else if (action.kind === "leave")
      put({ ...get(action.instance), wanted: "down", leaving: "signalled", replaceCause: null });
    else if (action.kind === "discard") instances.delete(action.instance);
    else if (action.kind === "replace") put({ ...get(action.instance), replaceCause: action.cause });
    else if (action.kind === "fail") {
      const failed = get(action.instance);
      if (rollout !== null) rollout = { ...rollout, failure: `${failed.id} failed` };
      if (isLiving(failed)) put({ ...failed, state: "stopping", wanted: "down", wasKilled: true });
      else instances.delete(failed.id);
    } else if (rollout !== null) {
      rollout = { ...rollout, state: action.state };
      for (const target of rollout.targets) if (instances.has(target)) put({ ...get(target), replaceCause: null });
    }
  }

  return {
    instances: (): readonly Instance[] => [...instances.values()],
    of: (service: string): readonly Instance[] => [...instances.values()].filter((one) => one.service === service),
    serving: (service: string): number =>
      [...instances.values()].filter((one) => one.service === service && isServing(one)).length,
    rollout: () => rollout,
    begin() {
      rollout = {
        id: "r-1",
        targets: [...instances.keys()],
        failure: null,
        cancelled: false,
        open: false,
        state: "running",
      };
    },
    /** From now on `service` is to run by this. */
    configure(service: string, hash: string) {
      hashes.set(service, hash);
    },
    cancel() {
      if (rollout !== null) rollout = { ...rollout, cancelled: true };
    },
    /** Asks and does until nothing is left; `seen` hears of every action before it is done. */
    settle(seen: (action: Action) => void = () => {}) {
      for (let round = 0; round < 100; round++) {
        const actions = decide(world());
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
      if (moved !== null && moved.wanted === "up") put({ ...moved, routed: true });
    },
    crash(id: string, backoffMs = 1) {
      const one = get(id);
      if (one.wanted === "down") instances.delete(id);
      else
        put(moveInstance({ ...one, routed: false, deadline: { kind: "backoff", atMs: nowMs + backoffMs } }, "crashed"));
    },
    tooLate(id: string) {
      put(moveInstance(get(id), "tooLate"));
    },
    exit(id: string) {
      if (get(id).wanted === "down") instances.delete(id);
    },
    pass(ms: number) {
      nowMs += ms;
    },
  };
}
