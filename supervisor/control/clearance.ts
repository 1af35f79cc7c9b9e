// The look taken before a restart or a reload replaces anything: what preflight fails refuses it, what it warns of is
// told. Invariant: a refusal comes before anything is written or started.

import type { Config } from "../../config/config.ts";
import type { PreflightLine } from "../../config/control-api.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import type { Preflight } from "../ports.ts";
import type { Journal } from "../rollouts/journal.ts";

export interface Clearance {
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
