// Rollouts as operators ask for them: a restart checked, planned and begun; those on record listed, watched, cancelled.
// Invariant: a refused request has changed nothing; an accepted one is on record before it is answered.

import type { Config } from "../../config/config.ts";
import type { Rollout, RolloutKind, RolloutRequest } from "../../config/control-api.ts";
import type { Instance } from "../core/instance.ts";
import { describePlan, restartTargets, waitingSteps } from "../core/rollout-plan.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import type { InstanceBook } from "../instances/book.ts";
import type { ServiceWishes } from "../instances/wishes.ts";
import type { Planner } from "../rollouts/planner.ts";
import type { RolloutRunner } from "../rollouts/record.ts";
import type { Clearance } from "./clearance.ts";
import type { Control } from "./control.ts";
import { type Gate, refuseTimed } from "./gate.ts";
import { unknownRollout } from "./names.ts";

/** Of so many the nearest id is told to who asks for one that is not there. */
const NAMED = 50;

interface RolloutControlParts {
  readonly gate: Gate;
  readonly clearance: Clearance;
  readonly planner: Planner;
  readonly rollouts: RolloutRunner;
  readonly book: Pick<InstanceBook, "services">;
  readonly wishes: Pick<ServiceWishes, "isStopped" | "replicas">;
  readonly config: () => Config;
  readonly connectionLimit: () => number | null;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly wake: () => void;
}

type Served = "restart" | "planRestart" | "rollouts" | "rollout" | "watchRollout" | "cancelRollout";

interface BeginOptions {
  readonly askedBy?: string | undefined;
  /** Another one than the configuration in force; its instances must stand so long. */
  readonly config?: Config;
  readonly confirmMs?: number;
  readonly kind?: RolloutKind;
}

export interface RolloutControl extends Pick<Control, Served> {
  /** Puts the replacement of these on record; `warned`: what was said of it before. */
  begin(targets: readonly Instance[], warned: readonly string[], options?: BeginOptions): Rollout;
}

export function createRolloutControl(parts: RolloutControlParts): RolloutControl {
  const { gate, rollouts, planner } = parts;

  function targetsOf({ services = [], all }: RolloutRequest): readonly Instance[] {
    for (const name of services) {
      const service = gate.serviceNamed(name);
      refuseTimed(service);
      if (!parts.wishes.isStopped(service)) continue;
      throw new Refusal("service.stopped", ({ refused }) => refused.serviceStopped(name));
    }
    const order = parts.config().services.map(({ name }) => name);
    const asked = services.length === 0 ? null : services;
    return restartTargets(parts.book.services(), order, asked, rollouts.last(), all === true);
  }

  function begin(targets: readonly Instance[], warned: readonly string[], options: BeginOptions = {}): Rollout {
    const { askedBy, config = parts.config(), confirmMs = 0, kind = "restart" } = options;
    const told = planner({ targets, config, confirmMs });
    const { expectedMs, worstMs, notes } = describePlan(told, true, parts.connectionLimit(), warned, parts.record);
    const ids = targets.map(({ id }) => id);
    const rollout = rollouts.begin(
      kind,
      ids,
      waitingSteps(told),
      { expectedMs, worstMs },
      { notes, askedBy, confirmMs },
    );
    parts.wake();
    return rollout;
  }

  function rolloutNamed(id: string): Rollout {
    const found = rollouts.get(id);
    if (found !== null) return found;
    const known = rollouts.recent(NAMED).map((one) => one.id);
    throw unknownRollout(id, known);
  }

  return {
    begin,
    async restart(request, askedBy) {
      gate.refuseWhileBusy();
      gate.refuseWithoutDisk();
      targetsOf(request);
      gate.refuseOverBudget(parts.config(), parts.wishes.replicas);
      const warned = await parts.clearance.ask(parts.config());
      // Meanwhile another one may have begun, or an instance have come or gone.
      gate.refuseWhileBusy();
      return begin(targetsOf(request), warned, { askedBy });
    },
    async planRestart(request, text) {
      const targets = targetsOf(request);
      return describePlan(planner({ targets }), targets.length > 0, parts.connectionLimit(), [], text);
    },
    rollouts: async ({ limit, before }) => rollouts.recent(limit, before),
    rollout: async (id) => rolloutNamed(id),
    async watchRollout(id, signal) {
      rolloutNamed(id);
      return rollouts.watch(id, signal);
    },
    async cancelRollout(id) {
      if (id !== null && rolloutNamed(id).state !== "running") return rolloutNamed(id);
      const cancelled = rollouts.cancel();
      if (cancelled === null) throw new Refusal("rollout.unknown", ({ refused }) => refused.noRollout());
      parts.wake();
      return cancelled;
    },
  };
}
