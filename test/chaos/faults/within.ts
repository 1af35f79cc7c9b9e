// Faults that happen inside a process while it lives: its event loop is blocked by true work, or it eats memory until it
// is over its limit. The process is one that was ready; obedient.ts in it does what it is told.

import { join } from "node:path";
import { systemClock } from "../../../config/system-time.ts";
import type { Disturbances } from "../disturbances.ts";
import type { PlannedFault } from "../plan/schedule.ts";
import { type Found, isAlive, processesOf } from "../processes.ts";
import type { Timeline } from "../timeline.ts";
import type { Order } from "./obedient.ts";
import { order } from "./orders.ts";
import { readyInstances } from "./targets.ts";

/** `memory.limit` of web and worker in a run that has these faults: far above what they need. */
export const MEMORY_LIMIT_MIB = 512;
const MIB = 2 ** 20;
/** Nothing is eaten on a machine that has less than so many times the limit to spare: no swap, no killer of the kernel. */
const SPARE = 4;
/** A worker that was taken for gone meanwhile learns it when it wakes, and ends: that is the fault's too. */
const WAKE_MS = 3_000;

export interface WithinDeps {
  readonly home: string;
  readonly disturbances: Disturbances;
  readonly timeline: Timeline;
  readonly strict: boolean;
  readonly until: (holds: () => boolean | Promise<boolean>) => Promise<void>;
  readonly noted: (fault: PlannedFault, target: object) => void;
  readonly loseWorker: (fault: PlannedFault, act: () => Promise<void>) => Promise<void>;
  /** Nobody but this web serves, or may be in owld's table. */
  readonly isLastWeb: (target: Found) => Promise<boolean>;
}

export interface Within {
  inject(fault: PlannedFault, kind: "web" | "worker"): Promise<void>;
}

export function createWithin(deps: WithinDeps): Within {
  const { home, disturbances, timeline, until } = deps;
  const tell = ({ pid, instance }: Found, what: Order) => order(pid, join(home, "run", `${instance}.sock`), what);

  const allReady = (kind: "web" | "worker") => async () => (await readyInstances(home, kind, 2_000)).length >= 2;

  /** Resolves when the loop is free again. */
  async function block(fault: PlannedFault, target: Found): Promise<void> {
    if (!(await tell(target, { busyMs: fault.holdMs }))) return couldNot(fault, target);
    deps.noted(fault, { pid: target.pid, instance: target.instance });
    await systemClock.sleep(fault.holdMs);
    timeline.note(`fault ${fault.n} ${fault.name} over`, { pid: target.pid });
  }

  /** Requests wait for the loop, and none fails of it: while another one serves nothing is excused but not being ready. */
  async function blockWeb(fault: PlannedFault, target: Found): Promise<void> {
    const close = disturbances.open(["replicas"], fault.name);
    const last = (await deps.isLastWeb(target))
      ? disturbances.open(["requests"], `${fault.name}, the last one that serves`)
      : null;
    await block(fault, target);
    await until(allReady("web"));
    last?.(1_000);
    close(3_000);
  }

  /** Blocked for a moment, as by a pause of the machine: no job is lost of it. */
  async function stutter(fault: PlannedFault, target: Found): Promise<void> {
    const close = disturbances.open(deps.strict ? ["replicas"] : ["replicas", "worker"], fault.name);
    await block(fault, target);
    await until(allReady("worker"));
    close(3_000);
  }

  /** Over its limit it is replaced, the new one first, and drains: that excuses nothing at all. */
  async function eat(fault: PlannedFault, target: Found): Promise<void> {
    const from = systemClock.now();
    const { pid, instance } = target;
    if (process.availableMemory() < SPARE * MEMORY_LIMIT_MIB * MIB)
      return timeline.note(`fault ${fault.n} ${fault.name} left out: this machine has too little memory`);
    if (!(await tell(target, { eatMiB: MEMORY_LIMIT_MIB }))) return couldNot(fault, target);
    deps.noted(fault, { pid, instance });
    await until(() => !isAlive(pid));
    if (!isAlive(pid)) return timeline.note(`fault ${fault.n} ${fault.name} over: it has gone`, { pid });
    const hindered = disturbances.touching(["supervisor", "database", "replicas", "worker"], from, systemClock.now());
    if (deps.strict && hindered.length === 0)
      timeline.violation("an instance over its memory limit was not replaced", { pid, instance });
  }

  function couldNot(fault: PlannedFault, target: Found): void {
    timeline.note(`fault ${fault.n} ${fault.name} could not be done`, { pid: target.pid });
  }

  return {
    async inject(fault, kind) {
      const ready = await readyInstances(home, kind, 2_000);
      const able = processesOf(home).filter((one) => one.kind === kind && ready.includes(one.instance ?? ""));
      const target = able[Math.floor(fault.choice * able.length)];
      if (target === undefined) return;
      if (fault.name === "busy-web") return blockWeb(fault, target);
      if (fault.name === "busy-worker")
        return deps.loseWorker(fault, async () => {
          await block(fault, target);
          await systemClock.sleep(WAKE_MS);
        });
      if (fault.name === "stutter-worker") return stutter(fault, target);
      return eat(fault, target);
    },
  };
}
