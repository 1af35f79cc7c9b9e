// Which copies of the database stay: those the history names, and those a failed way back left for a person.

import type { Text } from "../core/text/text.ts";
import type { DatabaseService } from "../ports.ts";
import type { ReleaseHistory } from "../release/current.ts";
import type { Journal } from "../rollouts/journal.ts";
import { keepFact, readFact } from "../state/facts.ts";
import type { Store } from "../state/store.ts";

interface CopyKeeperParts {
  readonly store: Store;
  readonly journal: Pick<Journal, "write">;
  readonly record: Text;
  readonly database: Pick<DatabaseService, "url" | "updates">;
  readonly history: Pick<ReleaseHistory, "all">;
}

export interface CopyKeeper {
  /** The way back failed: what it should have led to is a person's to use and to remove. */
  keepForRescue(rollout: string, copy: string): void;
  /** Removes every copy but those that stay and `also`. */
  prune(also: string | null): Promise<void>;
}

export function createCopyKeeper({ store, journal, record, database, history }: CopyKeeperParts): CopyKeeper {
  const rescue = (): readonly string[] => readFact(store, "copies for rescue") ?? [];
  return {
    keepForRescue(rollout, copy) {
      keepFact(store, "copies for rescue", [...new Set([...rescue(), copy])]);
      journal.write({ type: "update.copyKept", rollout, message: record.recorded.update.copyKept(copy) });
    },
    async prune(also) {
      if (database.url() === null) return;
      const named = [...history.all().map(({ copy }) => copy), ...rescue(), also];
      await database.updates().keepCopies(named.filter((path) => path !== null));
    },
  };
}
