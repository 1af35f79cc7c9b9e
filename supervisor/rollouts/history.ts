// The rollouts on record, by number. Invariants: only the newest are kept, their events go with them; a look costs what
// it shows, however many there were.

import type { Rollout, RolloutKind, RolloutLedger } from "../../config/control-api.ts";
import type { RecordedStep } from "../core/rollout-plan.ts";
import type { Share } from "../core/world.ts";
import { keepFact, readFact } from "../state/facts.ts";
import type { Store } from "../state/store.ts";
import type { Costs } from "./costs.ts";
import { NO_ROLLOUTS, type RolloutTotals, withRollout } from "./totals.ts";

export type Estimate = NonNullable<Rollout["estimate"]>;

export interface StoredRollout {
  readonly number: number;
  readonly kind: RolloutKind;
  readonly state: Rollout["state"];
  readonly startedAt: number;
  readonly startedMs: number;
  readonly bootId: string;
  readonly endedAt: number | null;
  readonly reason: string | null;
  readonly steps: readonly RecordedStep[];
  /** Old instances in the order they go. */
  readonly targets: readonly string[];
  /** New instance -> the old one whose place it takes. */
  readonly places: Readonly<Record<string, string>>;
  readonly failure: string | null;
  readonly cancelled: boolean;
  /** Ended by the update runner alone. Absent in records of older ones: false. */
  readonly open?: boolean;
  /** How the update runner ended it, while its last figures are still being asked for. */
  readonly closing?: { readonly state: "succeeded" | "failed" | "cancelled"; readonly reason: string | null };
  readonly estimate: Estimate;
  /** How long its new instances must stand. Absent in records of older ones, and where nothing changes: 0. */
  readonly confirmMs?: number;
  /** A part of the clients goes to its first new ones for a time. */
  readonly share?: Share;
  /** Said before it started. Absent in records of older ones. */
  readonly notes?: readonly string[];
  readonly askedBy?: string;
  readonly ledger: RolloutLedger;
  /** Absent in records of older ones. */
  readonly costs?: Costs;
  /** Sum of the proxies' counters at its start, for an older owld that goes on with it. */
  readonly base: { readonly failures: number; readonly retries: number; readonly streamsMoved: number };
}

interface RolloutHistory {
  latest(): StoredRollout | null;
  /** null: none of that id is on record. */
  find(id: string): StoredRollout | null;
  /** The newest `limit` of those begun before `before` (absent: of all), newest first. */
  recent(limit: number, before?: string): readonly StoredRollout[];
  put(rollout: StoredRollout): void;
  /** Of all that ever ended, and the one that runs. */
  totals(): RolloutTotals;
}

export const idOf = ({ number }: Pick<StoredRollout, "number">): string => `r-${number}`;

/** NaN for what is no rollout's id. */
function numberOf(id: string): number {
  return /^r-\d{1,15}$/.test(id) ? Number(id.slice(2)) : Number.NaN;
}

/** `kept`: how many stay on record; the newest one always does. */
export function createRolloutHistory(store: Store, kept: () => number): RolloutHistory {
  const rollouts = new Map<number, StoredRollout>();
  for (const [number, rollout] of store.all<StoredRollout>("rollout")) rollouts.set(Number(number), rollout);
  let latest = [...rollouts.values()].at(-1) ?? null;
  // An owld of before totals were kept wrote none: then what is on record is what is known.
  let totals =
    readFact(store, "rollout totals") ??
    [...rollouts.values()].filter(({ state }) => state !== "running").reduce(withRollout, NO_ROLLOUTS);
  forget();

  function forget(): void {
    const most = Math.max(1, kept());
    if (rollouts.size <= most) return;
    store.atomically(() => {
      for (const { number } of rollouts.values()) {
        if (rollouts.size <= most) break;
        rollouts.delete(number);
        store.remove("rollout", number);
        store.removeEvents(idOf({ number }));
      }
    });
  }

  return {
    latest: () => latest,
    find: (id) => rollouts.get(numberOf(id)) ?? null,
    recent(limit, before) {
      const page: StoredRollout[] = [];
      const [oldest = 0] = rollouts.keys();
      let number = Math.min(
        before === undefined ? Number.POSITIVE_INFINITY : numberOf(before) - 1,
        latest?.number ?? 0,
      );
      for (; number >= oldest && page.length < limit; number--) {
        const rollout = rollouts.get(number);
        if (rollout !== undefined) page.push(rollout);
      }
      return page;
    },
    put(rollout) {
      const isEnd = rollout.state !== "running" && rollouts.get(rollout.number)?.state === "running";
      if (isEnd) totals = withRollout(totals, rollout);
      rollouts.set(rollout.number, rollout);
      latest = rollout;
      store.atomically(() => {
        store.put("rollout", rollout.number, rollout);
        if (isEnd) keepFact(store, "rollout totals", totals);
      });
      forget();
    },
    totals: () => (latest?.state === "running" ? withRollout(totals, latest) : totals),
  };
}
