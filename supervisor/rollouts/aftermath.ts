// Watches a change for a while after it stood: one that falls apart then goes back to what held before, by itself.
// Invariant: it goes back once; a change made since, by a person, is never gone back from on its behalf.

import type { Config } from "../../config/config.ts";
import type { Rollout } from "../../config/control-api.ts";
import { createLoop, type Running } from "../../config/running.ts";
import type { Clock } from "../../config/time.ts";
import { AFTERMATH_MS, fellApart } from "../core/aftermath.ts";
import { describeExit } from "../core/exit-words.ts";
import type { Instance } from "../core/instance.ts";
import { inOrder } from "../core/rollout-plan.ts";
import type { Text } from "../core/text/text.ts";
import type { InstanceBook } from "../instances/book.ts";
import type { Definitions } from "../state/definitions.ts";
import type { Store } from "../state/store.ts";
import type { RolloutRunner } from "./record.ts";

interface AftermathParts {
  readonly clock: Clock;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly book: Pick<InstanceBook, "services">;
  readonly store: Pick<Store, "failing">;
  readonly rollouts: Pick<RolloutRunner, "running" | "get">;
  readonly definitions: Pick<Definitions, "mayGoBackFrom" | "keep" | "goBack">;
  readonly isStopping: () => boolean;
  readonly begin: (targets: readonly Instance[], why: string, config: Config) => Rollout;
  readonly failed: (what: string) => (error: unknown) => void;
}

const LOOK_MS = 250;

export function createAftermath(parts: AftermathParts): Running {
  const { clock, definitions, rollouts, record } = parts;
  return createLoop({
    clock,
    everyMs: LOOK_MS,
    runOnce() {
      const rollout = definitions.mayGoBackFrom();
      if (rollout === null || rollouts.running() !== null || parts.isStopping() || parts.store.failing() !== null)
        return;
      const stoodAt = Date.parse(rollouts.get(rollout)?.endedAt ?? "");
      // Not on record any more: it was long ago.
      if (!(clock.now() - stoodAt < AFTERMATH_MS)) return definitions.keep();
      const found = fellApart(rollout, stoodAt, parts.book.services());
      if (found === null) return;
      const how = describeExit(found.exit, record.recorded);
      const why = record.recorded.definition.fellApart(rollout, found.service, how);
      definitions.goBack(why, (config) => {
        const order = config.services.map(({ name }) => name);
        const isTarget = (one: Instance) =>
          one.rollout === rollout && one.wanted === "up" && order.includes(one.service);
        return parts.begin(inOrder(parts.book.services().filter(isTarget), order), why, config);
      });
    },
    failed: parts.failed("what stood was not watched"),
  });
}
