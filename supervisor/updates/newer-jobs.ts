// Waiting jobs in a format that no code of the running release claims (a rollback leaves them): asked once a minute and
// said among the warnings of `status`. Invariant: a question without an answer leaves what was said before.

import { createLoop, type Running } from "../../config/running.ts";
import type { Clock } from "../../config/time.ts";
import type { Sentence } from "../core/text/text.ts";

const EVERY_MS = 60_000;
const KEY = "newerJobs";

interface NewerJobsParts {
  readonly clock: Clock;
  readonly warnings: Map<string, Sentence>;
  /** How many wait; null: the release does not say which formats it knows, or there is no database to ask. */
  readonly count: () => Promise<number | null>;
  readonly failed: (error: Error) => void;
}

export function createNewerJobs({ clock, warnings, count, failed }: NewerJobsParts): Running {
  return createLoop({
    clock,
    everyMs: EVERY_MS,
    atOnce: true,
    failed,
    async runOnce(signal) {
      // A database that hangs does not keep owld from stopping: its answer is then nobody's.
      const ended = Promise.withResolvers<null>();
      signal.addEventListener("abort", () => ended.resolve(null), { once: true });
      const waiting = await Promise.race([count(), ended.promise]);
      if (waiting === null) return;
      if (waiting > 0) warnings.set(KEY, (text) => text.warnings.newerJobs(waiting));
      else warnings.delete(KEY);
    },
  });
}
