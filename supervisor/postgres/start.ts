// Brings the database up beside everything else. Invariant: while instances run, a database that does not start is
// tried again for ever and said loudly; with nothing running it ends owld with its sentence instead.

import { asError } from "../../config/errors.ts";
import type { Clock } from "../../config/time.ts";
import { wordsOf } from "../core/text/refusal.ts";
import type { Sentence } from "../core/text/text.ts";
import type { DatabaseService } from "../ports.ts";

const RETRY_MS = 5_000;

interface DatabaseStartParts {
  readonly clock: Clock;
  readonly database: DatabaseService;
  readonly say: (message: string) => void;
  /** Does anything run already? */
  readonly isAnyRunning: () => boolean;
  /** Why it is not up, or null once it is. */
  readonly warn: (message: Sentence | null) => void;
}

/** Resolves once it is up, or aborted. Rejects when it did not start and nothing runs. */
export async function startDatabase(parts: DatabaseStartParts, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await parts.database.start(parts.say, signal);
      parts.warn(null);
      return;
    } catch (caught) {
      if (signal.aborted) return;
      if (!parts.isAnyRunning()) throw asError(caught);
      parts.warn((text) => text.warnings.database(wordsOf(caught, text).sentence));
      await parts.clock.sleep(RETRY_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
    }
  }
}
