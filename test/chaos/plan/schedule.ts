// What is done to the product, and when. Pure: the same seed, length and list of names give the same schedule.
// Which process is hit is chosen at that moment, by `choice`, among those that live then.

import type { SeededRandom } from "./seeded-random.ts";

/** Weight: how often it comes up. `hold`: how long it lasts, in ms, before it is undone. */
interface FaultKind {
  readonly weight: number;
  readonly hold?: readonly [number, number];
}

export const FAULTS = {
  "kill-web": { weight: 3 },
  "kill-worker": { weight: 4 },
  "kill-supervisor": { weight: 3 },
  "kill-proxy": { weight: 2 },
  "term-web": { weight: 1 },
  "term-worker": { weight: 1 },
  /** Asked to stop, and killed in the middle of stopping. */
  "term-kill-worker": { weight: 1, hold: [50, 4_000] },
  "freeze-web": { weight: 2, hold: [2_000, 20_000] },
  "freeze-worker": { weight: 3, hold: [2_000, 60_000] },
  "freeze-supervisor": { weight: 1, hold: [2_000, 30_000] },
  "freeze-proxy": { weight: 1, hold: [1_000, 8_000] },
  /** The event loop blocked from within; a web's for less than the grace, so that it can always still answer. */
  "busy-web": { weight: 2, hold: [1_000, 8_000] },
  "busy-worker": { weight: 2, hold: [2_000, 20_000] },
  "stutter-worker": { weight: 1, hold: [300, 1_500] },
  /** Memory eaten until the instance is over its limit. */
  "oom-web": { weight: 1 },
  "oom-worker": { weight: 1 },
  "freeze-backend": { weight: 1, hold: [2_000, 20_000] },
  "terminate-backend": { weight: 2 },
  "terminate-listen": { weight: 2 },
  "kill-backend": { weight: 1 },
  "postgres-immediate": { weight: 1 },
  "kill-postgres": { weight: 1 },
  "disk-full": { weight: 1, hold: [2_000, 8_000] },
  "slow-disk": { weight: 1, hold: [4_000, 15_000] },
  "clock-jump": { weight: 1 },
  /** Another member floods, in every way at once. It excuses nothing. */
  disorder: { weight: 1, hold: [20_000, 60_000] },
} as const satisfies Record<string, FaultKind>;

export type FaultName = keyof typeof FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];
/** Done by the process itself, which is told to: it must be an obedient one. */
export const isWithin = (name: FaultName) => /^(busy|stutter|oom)-/.test(name);
export const isHungry = (name: FaultName) => name.startsWith("oom-");

export const OPERATIONS = ["restart", "restart-web", "restart-worker", "restart-all", "cancel", "reexec"] as const;
/** Those that need releases to go to. Updates come up more often: each one that meets another rollout does nothing. */
export const UPDATES = ["update", "update", "update-broken", "update-closed", "rollback"] as const;
export type OperationName = (typeof OPERATIONS)[number] | (typeof UPDATES)[number];

export interface PlannedFault {
  readonly n: number;
  readonly atMs: number;
  readonly name: FaultName;
  readonly holdMs: number;
  /** In [0, 1): which of the living processes. */
  readonly choice: number;
}

export interface PlannedOperation {
  readonly atMs: number;
  readonly name: OperationName;
}

export interface ScheduleWanted {
  readonly lengthMs: number;
  readonly names: readonly FaultName[];
  /** Mean distance of two faults, and of two operations. */
  readonly faultEveryMs: number;
  readonly operationEveryMs: number;
  readonly operations: readonly OperationName[];
}

export interface Schedule {
  readonly faults: readonly PlannedFault[];
  readonly operations: readonly PlannedOperation[];
}

/** Faults and the operator's commands between 0 and `lengthMs`. */
export function planSchedule(random: SeededRandom, wanted: ScheduleWanted): Schedule {
  const faults: PlannedFault[] = [];
  const weights = wanted.names.map((name) => FAULTS[name].weight);
  const total = weights.reduce((a, b) => a + b, 0);
  for (let at = wait(random, wanted.faultEveryMs); total > 0 && at < wanted.lengthMs; ) {
    let left = random.float() * total;
    const index = weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
    const name = wanted.names[index] ?? wanted.names[0];
    if (name === undefined) break;
    const kind: FaultKind = FAULTS[name];
    // In a short run a long hold would be all of it; where nothing else is done it may be half.
    const most = Math.max(2_000, wanted.lengthMs / (wanted.names.length > 1 ? 6 : 2));
    const holdMs = kind.hold ? random.whole(kind.hold[0], Math.min(kind.hold[1], most)) : 0;
    faults.push({ n: faults.length + 1, atMs: Math.round(at), name, holdMs, choice: random.float() });
    at += wait(random, wanted.faultEveryMs);
  }
  const operations: PlannedOperation[] = [];
  for (let at = wait(random, wanted.operationEveryMs) / 2; wanted.operations.length > 0 && at < wanted.lengthMs; ) {
    operations.push({ atMs: Math.round(at), name: random.pick(wanted.operations) });
    at += wait(random, wanted.operationEveryMs);
  }
  return { faults, operations };
}

/** Between a quarter and seven quarters of the mean. */
const wait = (random: SeededRandom, meanMs: number) => meanMs * (0.25 + 1.5 * random.float());

/** The names of `--faults a,b`; a name that is none throws a sentence. */
export function faultNames(list: string): readonly FaultName[] {
  return list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "none")
    .map((name) => {
      const known = FAULT_NAMES.find((one) => one === name);
      if (known === undefined) throw new Error(`There is no fault ${name}. There are: ${FAULT_NAMES.join(", ")}.`);
      return known;
    });
}
