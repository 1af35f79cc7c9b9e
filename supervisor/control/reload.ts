// owl.yaml read again: what differs is planned or taken over, and what runs with something else then is replaced.
// Invariant: a configuration that is refused changes nothing.

import type { AppConfig, Config } from "../../config/config.ts";
import { describePlan } from "../core/rollout-plan.ts";
import type { Text } from "../core/text/text.ts";
import type { InstanceBook } from "../instances/book.ts";
import type { ProxySet } from "../ports.ts";
import type { Journal } from "../rollouts/journal.ts";
import type { Planner } from "../rollouts/planner.ts";
import type { Clearance } from "./clearance.ts";
import type { Control } from "./control.ts";
import type { Gate } from "./gate.ts";
import { compareConfigs } from "./reload-diff.ts";
import type { RolloutControl } from "./rollouts.ts";

interface ReloadControlParts {
  readonly gate: Gate;
  readonly clearance: Clearance;
  readonly planner: Planner;
  readonly rollouts: Pick<RolloutControl, "begin">;
  readonly book: Pick<InstanceBook, "all">;
  readonly proxies: Pick<ProxySet, "replace">;
  readonly journal: Pick<Journal, "write">;
  readonly config: () => Config;
  readonly app: (config: Config) => AppConfig | null;
  /** Reads owl.yaml again. Throws `config.invalid`. */
  readonly loadConfig: () => Config;
  readonly useConfig: (config: Config) => void;
  readonly connectionLimit: () => number | null;
  /** What is written down is written once, in this. */
  readonly record: Text;
  readonly failed: (error: unknown, what: string) => void;
}

export function createReloadControl(parts: ReloadControlParts): Pick<Control, "reload" | "planReload"> {
  const { gate, record } = parts;
  const compare = (next: Config) => compareConfigs(parts.config(), next, parts.book.all(), parts.app);

  return {
    async reload(text) {
      gate.refuseWhileBusy();
      const next = parts.loadConfig();
      gate.refuseWithoutDisk();
      gate.refuseOverBudget(next, (service) => service.replicas);
      const warned = compare(next).replaced.length === 0 ? [] : await parts.clearance.ask(next);
      gate.refuseWhileBusy();
      const before = parts.config();
      const { replaced, notes } = compare(next);
      parts.useConfig(next);
      parts.journal.write({ type: "config.reloaded", message: record.recorded.reloaded(notes(record)) });
      if (JSON.stringify(before.proxy) !== JSON.stringify(next.proxy)) {
        parts.proxies.replace(next.proxy).catch((error: unknown) => parts.failed(error, "the proxy was not replaced"));
      }
      const rollout = replaced.length === 0 ? null : parts.rollouts.begin(replaced, warned);
      const said = notes(text);
      return { changed: said.length > 0 || rollout !== null, notes: said, rollout };
    },
    async planReload(text) {
      const config = parts.loadConfig();
      const { replaced, notes } = compare(config);
      const said = notes(text);
      const told = parts.planner({ config, targets: replaced });
      return describePlan(told, replaced.length > 0 || said.length > 0, parts.connectionLimit(), said, text);
    },
  };
}
