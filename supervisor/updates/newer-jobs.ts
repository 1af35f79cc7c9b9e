// Waiting jobs in a format that no code of the running release claims (a rollback leaves them): asked once a minute and
// said among the warnings of `status`. Invariant: a question without an answer leaves what was said before.

import type { Clock } from "../../config/time.ts";
import type { Sentence } from "../core/text/text.ts";

const EVERY_MS = 60_000;
const KEY = "newerJobs";

interface NewerJobsParts {
  readonly clock: Pick<Clock, "every">;
  readonly warnings: Map<string, Sentence>;
  /** How many wait; null: the release does not say which formats it knows, or there is no database to ask. */
  readonly count: () => Promise<number | null>;
  readonly failed: (error: unknown) => void;
}

interface NewerJobs {
  start(): void;
  runOnce(): Promise<void>;
  stop(): Promise<void>;
}

export function createNewerJobs({ clock, warnings, count, failed }: NewerJobsParts): NewerJobs {
  const lifetime = new AbortController();
  const aborted = Promise.withResolvers<null>();
  let loop: Promise<void> | null = null;

  async function runOnce(): Promise<void> {
    try {
      // A database that hangs does not keep owld from stopping: its answer is then nobody's.
      const waiting = await Promise.race([count(), aborted.promise]);
      if (waiting === null) return;
      if (waiting > 0) warnings.set(KEY, (text) => text.warnings.newerJobs(waiting));
      else warnings.delete(KEY);
    } catch (error) {
      failed(error);
    }
  }

  async function run(): Promise<void> {
    await runOnce();
    for await (const _ of clock.every(EVERY_MS, lifetime.signal)) await runOnce();
  }

  return {
    start() {
      loop ??= run();
    },
    runOnce,
    async stop() {
      lifetime.abort();
      aborted.resolve(null);
      await loop;
    },
  };
}
