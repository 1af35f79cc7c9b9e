// The look taken before a restart or a reload replaces anything: what preflight fails refuses it, what it warns of is
// told. Invariant: a refusal comes before anything is written or started.

import type { Config, ServiceConfig } from "../../config/config.ts";
import type { PreflightLine } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { assessBudget } from "../core/connection-budget.ts";
import type { Journal } from "../journal.ts";
import type { Preflight } from "../ports.ts";

export interface Clearance {
  /** Notes for the rollout, one a warning. Throws `preflight.failed` naming what failed, with its command. */
  ask(config: Config): Promise<readonly string[]>;
}

export function createClearance(preflight: Preflight, journal: Journal): Clearance {
  return {
    async ask(config) {
      const lines = await preflight.quick(config);
      const failed = lines.filter(({ verdict }) => verdict === "FAIL");
      if (failed.length > 0) throw refusal(failed);
      return lines
        .filter(({ verdict }) => verdict === "WARN")
        .map(({ check, found, why, command }) => {
          const message = `${check}: ${found}. ${why}`;
          journal.write({ type: "preflight.warned", message, data: { check, command } });
          return `${message} (${command})`;
        });
    },
  };
}

function refusal(failed: readonly PreflightLine[]): OwlError {
  const said = failed.map(({ check, found }) => `${check}: ${found}`).join("; ");
  const commands = [...new Set(failed.map(({ command }) => command))].join("; ");
  return new OwlError("preflight.failed", `Preflight fails, so nothing was touched. ${said}.`, {
    next: `${commands}; then look at everything: owlctl preflight`,
    data: { lines: failed },
  });
}

/** Throws `budget.exceeded` with the figures when so many replicas declare more than `limit` (null: not known). */
export function refuseOverBudget(
  config: Config,
  replicas: (service: ServiceConfig) => number,
  limit: number | null,
): void {
  const declared = config.services.map((one) => ({
    name: one.name,
    replicas: replicas(one),
    connections: one.connections,
  }));
  const budget = assessBudget(declared, limit);
  if (budget.verdict !== "fail") return;
  throw new OwlError("budget.exceeded", budget.reason, {
    next: "Lower replicas or connections, or raise PostgreSQL's max_connections.",
    data: { steady: budget.steady, limit: budget.limit },
  });
}
