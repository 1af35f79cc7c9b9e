// What every load of a chaos run is given, and how it is ended.

import type { Caller } from "../caller.ts";
import type { SeededRandom } from "../plan/seeded-random.ts";
import type { Timeline } from "../timeline.ts";

export interface LoadContext {
  readonly caller: Caller;
  readonly random: SeededRandom;
  readonly timeline: Timeline;
  /** Aborted when no new work is to be begun. */
  readonly ending: AbortSignal;
  /** Instant after which nobody waits any longer (far in the future until the run's end is known). */
  giveUpAt(): number;
}

/** A load: `done` resolves when its last piece of work has ended or was given up. */
export interface Load<T> {
  readonly records: readonly T[];
  readonly done: Promise<void>;
}

/** Runs `piece` in `lanes` lanes, one after the other in each, until `ending`. */
export async function inLanes(context: LoadContext, lanes: number, piece: (n: number) => Promise<void>): Promise<void> {
  let n = 0;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (!context.ending.aborted) {
        n += 1;
        await piece(n);
      }
    }),
  );
}
