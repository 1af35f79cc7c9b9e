// What follows a deploy: what came into force is noted, what nobody needs any more goes.

import type { Config } from "../../../config/config.ts";
import { type Clock, isoTime } from "../../../config/time.ts";
import { outdatedReleases } from "../../core/own-release.ts";
import type { Text } from "../../core/text/text.ts";
import type { InstanceBook } from "../../instances/book.ts";
import type { TimedRuns } from "../../instances/schedules/timed-runs.ts";
import type { Journal } from "../../rollouts/journal.ts";
import type { RolloutRunner } from "../../rollouts/record.ts";
import type { Definitions } from "../../state/definitions.ts";
import type { OwnReleases } from "./folder.ts";

interface KeeperParts {
  readonly clock: Clock;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly journal: Pick<Journal, "write">;
  readonly book: Pick<InstanceBook, "all">;
  readonly timed: Pick<TimedRuns, "all">;
  readonly rollouts: Pick<RolloutRunner, "watch">;
  readonly definitions: Pick<Definitions, "releases" | "usedReleases" | "isTrying">;
  readonly releases: OwnReleases;
  readonly config: () => Config;
}

const LOOK_MS = 200;

/** Resolves when that rollout (null: none) is over and all is cleared up. Rejects when `ends` aborts meanwhile. */
export function createKeeper(parts: KeeperParts): (rollout: string | null, ends: AbortSignal) => Promise<void> {
  const { clock, definitions, releases } = parts;

  async function noteStood(): Promise<void> {
    const inForce = Object.entries(definitions.releases());
    for (const { id, stood } of await releases.all()) {
      const fresh = inForce.filter(([name, release]) => release === id && !(name in stood)).map(([name]) => name);
      if (fresh.length > 0) await releases.noteStood(id, fresh, isoTime(clock.now()));
    }
  }

  async function prune(): Promise<void> {
    const living = parts.book.all().flatMap(({ release, state }) => (state === "exited" ? [] : [release]));
    const used = new Set([
      ...living,
      ...parts.timed.all().map(({ release }) => release),
      ...definitions.usedReleases(),
    ]);
    const all = await releases.all();
    const gone = outdatedReleases(all, parts.config().deploy.keep, definitions.releases(), used);
    for (const id of gone) await releases.remove(id);
    const message = parts.record.recorded.deploy.removed(gone.join(", "));
    if (gone.length > 0) parts.journal.write({ type: "deploy.pruned", message });
  }

  return async (rollout, ends) => {
    if (rollout !== null) for await (const _ of parts.rollouts.watch(rollout, ends));
    ends.throwIfAborted();
    // The loop settles the definition in the turn in which it ends the rollout, or in the next.
    while (definitions.isTrying()) await clock.sleep(LOOK_MS, ends);
    await noteStood();
    await prune();
  };
}
