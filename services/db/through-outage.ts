// A running job's statement, tried again while the database is away, read-only, full or locked: what passes by itself must
// not fail the job.
// Invariant: the statement is fenced by its attempt, so that a claim lost meanwhile is answered by 0 rows, not by harm.

import type { Clock } from "../../config/time.ts";
import { mayPassLater } from "./database-errors.ts";

const FOR_MS = 120_000;

/** What `run` gives; what may pass is waited out for two minutes, or until the signal aborts. */
export async function throughOutage<T>(
  waiter: { readonly clock: Clock; readonly signal: AbortSignal },
  run: () => Promise<T>,
): Promise<T> {
  const untilMs = waiter.clock.monotonicMs() + FOR_MS;
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      if (!mayPassLater(error) || waiter.clock.monotonicMs() >= untilMs) throw error;
      await waiter.clock.sleep(Math.min(2_000, 100 * 2 ** tries), waiter.signal);
    }
  }
}
