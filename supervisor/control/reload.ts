// owl.yaml read again: what differs is planned or taken over, and what runs with something else then is replaced.
// Invariants: a configuration that is refused changes nothing; one that replaces what runs comes into force only when
// the new instances have stood.

import type { AppConfig, Config } from "../../config/config.ts";
import type { Clock, WallMs } from "../../config/time.ts";
import { judgeCertificate } from "../core/certificate.ts";
import { describePlan } from "../core/rollout-plan.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import type { InstanceBook } from "../instances/book.ts";
import type { ProxySet } from "../ports.ts";
import { readCertificate } from "../preflight/certificate.ts";
import type { Journal } from "../rollouts/journal.ts";
import type { Planner } from "../rollouts/planner.ts";
import type { Definitions } from "../state/definitions.ts";
import type { Clearance } from "./clearance.ts";
import type { Control } from "./control.ts";
import type { Gate } from "./gate.ts";
import { compareConfigs } from "./reload-diff.ts";
import type { RolloutControl } from "./rollouts.ts";

interface ReloadControlParts {
  readonly gate: Gate;
  readonly clock: Clock;
  readonly clearance: Clearance;
  readonly planner: Planner;
  readonly rollouts: Pick<RolloutControl, "begin">;
  readonly book: Pick<InstanceBook, "services">;
  readonly proxies: Pick<ProxySet, "settled">;
  readonly journal: Pick<Journal, "write">;
  readonly config: () => Config;
  readonly app: (config: Config) => AppConfig | null;
  readonly definitions: Definitions;
  readonly connectionLimit: () => number | null;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
}

export function createReloadControl(parts: ReloadControlParts): Pick<Control, "reload" | "planReload"> {
  const { gate, record, definitions, clock } = parts;
  const compare = (next: Config) => compareConfigs(parts.config(), next, parts.book.services(), parts.app);

  return {
    async reload(text) {
      gate.refuseWhileBusy();
      gate.refuseWithoutDisk();
      const definition = definitions.read();
      const { config } = definition;
      const warned = await definitions.clear(definition, async () => {
        gate.refuseOverBudget(config, (service) => service.replicas);
        refuseBadCertificate(config, clock.now());
        return compare(config).replaced.length === 0 ? [] : await parts.clearance.ask(config);
      });
      gate.refuseWhileBusy();
      const { replaced, added, notes } = compare(config);
      const said = notes(text);
      const awaited = added.length === 0 ? {} : { added: { names: added, standMs: config.rollout.confirmMs } };
      parts.journal.write({ type: "config.reloaded", message: record.recorded.reloaded(notes(record)) });
      if (replaced.length === 0) {
        definitions.take(definition);
        // It is in force; a proxy that cannot follow keeps the former one and is tried again by the loop.
        await parts.proxies.settled();
        return { changed: said.length > 0, notes: said, rollout: null, ...awaited };
      }
      const { confirmMs } = config.rollout;
      const confirms = confirmMs === 0 ? [] : [record.recorded.rollout.confirms(confirmMs / 1_000)];
      const rollout = definitions.tryOut(definition, () =>
        parts.rollouts.begin(replaced, [...warned, ...confirms], { config, confirmMs }),
      );
      return { changed: true, notes: said, rollout, ...awaited };
    },
    async planReload(text) {
      const config = definitions.look();
      const { replaced, notes } = compare(config);
      const said = notes(text);
      const told = parts.planner({ config, targets: replaced, confirmMs: config.rollout.confirmMs });
      return describePlan(told, replaced.length > 0 || said.length > 0, parts.connectionLimit(), said, text);
    },
  };
}

/** Its files may have changed though owl.yaml has not: the proxy reads them by itself, and keeps what it has when it cannot. */
function refuseBadCertificate(config: Config, nowMs: WallMs): void {
  const facts = readCertificate(config);
  if (facts === null) return;
  const { verdict, found } = judgeCertificate(facts, nowMs);
  if (verdict === "FAIL")
    throw new Refusal("proxy.badCertificate", ({ refused, preflight }) => refused.certificate(found(preflight)));
}
