// What bars a change whatever it is: another one that runs, an end under way, a state file that cannot be written, a
// connection budget that does not hold. Invariant: a refusal comes before anything is written or started.

import type { Config, ServiceConfig } from "../../config/config.ts";
import { assessBudget, OWN_CONNECTIONS } from "../core/connection-budget.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { RolloutRunner } from "../rollouts/record.ts";
import type { Store } from "../state/store.ts";
import { unknownService } from "./names.ts";

export interface Gate {
  /** One rollout at a time, and none while owld stops. Throws `rollout.busy` or `supervisor.stopping`. */
  refuseWhileBusy(): void;
  /** Throws `disk.full`. */
  refuseWithoutDisk(): void;
  /** Throws `budget.exceeded` with the figures when so many replicas declare more connections than PostgreSQL grants. */
  refuseOverBudget(config: Config, replicas: (service: ServiceConfig) => number): void;
  /** Throws `service.unknown`. */
  serviceNamed(name: string): ServiceConfig;
}

interface GateParts {
  readonly rollouts: Pick<RolloutRunner, "running">;
  readonly isStopping: () => boolean;
  readonly store: Pick<Store, "failing">;
  readonly connectionLimit: () => number | null;
  readonly config: () => Config;
}

export function createGate(parts: GateParts): Gate {
  return {
    refuseWhileBusy() {
      if (parts.isStopping()) throw new Refusal("supervisor.stopping", ({ refused }) => refused.stopping());
      const id = parts.rollouts.running()?.id;
      if (id !== undefined)
        throw new Refusal("rollout.busy", ({ refused }) => refused.busy(id), { data: { rollout: id } });
    },
    refuseWithoutDisk() {
      const failing = parts.store.failing();
      if (failing !== null) throw new Refusal("disk.full", ({ refused }) => refused.diskFull(failing));
    },
    refuseOverBudget(config, replicas) {
      const declared = config.services.map((service) => ({ ...service, replicas: replicas(service) }));
      const { verdict, steady, limit } = assessBudget(declared, parts.connectionLimit());
      if (verdict !== "fail") return;
      throw new Refusal(
        "budget.exceeded",
        // A verdict of `fail` knows its limit.
        ({ refused }) => refused.overBudget(steady, OWN_CONNECTIONS, limit ?? 0),
        { data: { steady, limit } },
      );
    },
    serviceNamed(name) {
      const { services } = parts.config();
      const found = services.find((service) => service.name === name);
      if (found !== undefined) return found;
      throw unknownService(
        name,
        services.map((service) => service.name),
      );
    },
  };
}

/** Throws `run.timed`: a service that runs by its schedule, or has files alone, keeps no instance. */
export function refuseTimed({ name, schedule, command }: ServiceConfig): void {
  if (schedule !== undefined || command.length === 0)
    throw new Refusal("run.timed", ({ refused }) => refused.run.timed(name));
}
