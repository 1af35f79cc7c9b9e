// The look taken before a restart or a reload replaces anything: what preflight fails refuses it, what it warns of is
// told. Invariant: a refusal comes before anything is written or started.

import type { Config, ServiceConfig } from "../../config/config.ts";
import type { PreflightLine } from "../../config/control-api.ts";
import { assessBudget, OWN_CONNECTIONS } from "../core/connection-budget.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import type { Preflight } from "../ports.ts";
import type { Journal } from "../rollouts/journal.ts";

interface Clearance {
  /**
   * Notes for the rollout, one a warning, in the language of the record. Throws `preflight.failed` naming what failed,
   * with its command.
   */
  ask(config: Config): Promise<readonly string[]>;
}

export function createClearance(preflight: Preflight, journal: Journal, record: Text): Clearance {
  return {
    async ask(config) {
      const judged = await preflight.quick(config);
      const lines = judged(record);
      if (lines.some(isFailure)) throw refusal(judged, lines.filter(isFailure));
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

const isFailure = ({ verdict }: PreflightLine): boolean => verdict === "FAIL";

function refusal(judged: (text: Text) => readonly PreflightLine[], lines: readonly PreflightLine[]): Refusal {
  const commands = [...new Set(lines.map(({ command }) => command))].join("; ");
  return new Refusal(
    "preflight.failed",
    (text) => {
      const said = judged(text)
        .filter(isFailure)
        .map(({ check, found }) => `${check}: ${found}`);
      return text.refused.preflight(text.list(said), commands);
    },
    { data: { lines } },
  );
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
  throw new Refusal(
    "budget.exceeded",
    // A verdict of `fail` knows its limit.
    ({ refused }) => refused.overBudget(budget.steady, OWN_CONNECTIONS, budget.limit ?? 0),
    { data: { steady: budget.steady, limit: budget.limit } },
  );
}
