// An instance: what is kept of it, and how it may move; of services and of the proxy alike. Pure.
//
//   starting --passed--> ready <--passed-- unhealthy <--failing-- ready        moved by the health checks
//   starting --tooLate--> unhealthy                                            moved by the health deadline
//   starting|ready|unhealthy --crashed--> backoff                              moved by an exit nobody asked for
//   starting|ready|unhealthy --signalled--> draining --killed--> stopping      moved by the stop sequence
//   starting|draining|stopping|... --ended--> exited                           moved by the exit that was asked for
//
// Invariant: `wanted` (what should be) and `state` (what is) are two fields; only `move` of the book changes `state`.

import type { InstanceState, LastExit } from "../../config/control-api.ts";
import type { MonotonicMs, WallMs } from "../../config/time.ts";
import type { MoveTable } from "./machine.ts";

export type InstanceEvent = "passed" | "failing" | "tooLate" | "crashed" | "signalled" | "killed" | "ended";

export const INSTANCE_MOVES: MoveTable<InstanceState, InstanceEvent> = {
  starting: {
    passed: "ready",
    tooLate: "unhealthy",
    crashed: "backoff",
    signalled: "draining",
    killed: "stopping",
    ended: "exited",
  },
  ready: { failing: "unhealthy", crashed: "backoff", signalled: "draining", killed: "stopping", ended: "exited" },
  unhealthy: { passed: "ready", crashed: "backoff", signalled: "draining", killed: "stopping", ended: "exited" },
  draining: { killed: "stopping", ended: "exited" },
  stopping: { ended: "exited" },
  backoff: { ended: "exited" },
  exited: {},
};

/** How far it is on its way out, beside its state. */
type Leaving =
  /** Leaves the routing table; every proxy must acknowledge. */
  | "unrouting"
  /** Out of the table; waits until nothing is in flight, or the drain timeout. */
  | "idling"
  /** The signal is about to be sent (written before, so that it is sent once more rather than never). */
  | "signalling"
  | "signalled";

/** An instant of this boot's monotonic clock that every tick looks at again. */
interface Deadline {
  readonly kind: "health" | "idle" | "grace" | "backoff" | "unhealthy";
  readonly atMs: MonotonicMs;
}

interface InstanceIdentity {
  readonly pid: number;
  readonly startTicks: string;
  readonly bootId: string;
}

/** The record of one instance, as it is stored. */
export interface Instance {
  readonly id: string;
  readonly service: string;
  readonly number: number;
  readonly state: InstanceState;
  readonly wanted: "up" | "down";
  readonly leaving: Leaving | null;
  /** null: written, but not yet spawned as far as we know. */
  readonly identity: InstanceIdentity | null;
  readonly release: string;
  /** Hash of all that shapes the process: another one means a reload must replace it. */
  readonly configHash: string;
  /** Hashes of its environment's values by name, for `owlctl why`. */
  readonly envHashes: Readonly<Record<string, string>>;
  readonly target: InstanceTarget;
  readonly startedAt: WallMs;
  readonly startedMs: MonotonicMs;
  readonly bootId: string;
  readonly readyMs: MonotonicMs | null;
  readonly signalledMs: MonotonicMs | null;
  /** In the table every proxy acknowledged; without routes: ready. */
  readonly routed: boolean;
  readonly deadline: Deadline | null;
  /** The rollout that started it. */
  readonly rollout: string | null;
  /** The instance it takes the place of, while both live. */
  readonly replaces: string | null;
  /** Why it is to be replaced (new first), or null. */
  readonly replaceCause: string | null;
  /** Not before then: a place that keeps hanging or growing too big has the pauses of one that crashes. */
  readonly replaceFromMs: MonotonicMs | null;
  /** Out of the table, alive, until its successor has stood: it may have to go back. */
  readonly aside: boolean;
  /** First reason it was told to go. */
  readonly cause: string | null;
  /** SIGKILL was sent by us. */
  readonly wasKilled: boolean;
  /** Crashes in this place, and how many of them since it was last calm. */
  readonly restarts: number;
  readonly attempt: number;
  /** When it crashed in this place within the last minute, and whether that was a loop it has not yet stood through. */
  readonly crashedMs: readonly MonotonicMs[];
  readonly looping: boolean;
  readonly lastExit: LastExit | null;
  /** How it goes, kept for the day its service is gone from the configuration. */
  readonly stop: { readonly graceMs: number; readonly signal: string; readonly after: "idle" | "routed-out" };
}

/** The proxy's name among the services; a team's own cannot be called so. */
export const PROXY = "proxy";

/** The counter its numbers come from. */
export const counterOf = (service: string): string => (service === PROXY ? PROXY : `instance ${service}`);

type Fresh = Pick<Instance, "id" | "service" | "number" | "release" | "startedAt" | "startedMs" | "bootId" | "stop">;

/** The record of one that is just being started. */
export function newInstance(fresh: Fresh & Partial<Instance>): Instance {
  return {
    state: "starting",
    wanted: "up",
    leaving: null,
    identity: null,
    configHash: "",
    envHashes: {},
    target: null,
    readyMs: null,
    signalledMs: null,
    routed: false,
    deadline: null,
    rollout: null,
    replaces: null,
    replaceCause: null,
    replaceFromMs: null,
    aside: false,
    cause: null,
    wasKilled: false,
    restarts: 0,
    attempt: 0,
    crashedMs: [],
    looping: false,
    lastExit: null,
    ...fresh,
  };
}

export type InstanceTarget = { readonly socket: string } | { readonly host: string; readonly port: number } | null;

/** Is there a process (or about to be one)? */
export function isLiving(instance: Instance): boolean {
  return instance.state !== "backoff" && instance.state !== "exited";
}

/** Counts as ready for `status` and for the invariant: may get work, and is meant to. */
export function isServing(instance: Instance): boolean {
  return instance.state === "ready" && instance.leaving === null && !instance.aside;
}

/** The number in an instance's name; null when `id` is none of `service`. */
export function numberOf(id: string, service: string): number | null {
  const found = id.startsWith(`${service}-`) ? /^\d+$/.exec(id.slice(service.length + 1)) : null;
  return found ? Number(found[0]) : null;
}

/** Its stored deadline has passed. */
export function isDue(instance: Instance, nowMs: MonotonicMs): boolean {
  return instance.deadline !== null && instance.deadline.atMs <= nowMs;
}
