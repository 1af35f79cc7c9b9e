// Brings the database up beside everything else. Invariant: while instances run, a database that does not start is
// tried again for ever and said loudly; with nothing running it ends owld with its sentence instead.

import { retryOutage } from "../../config/running.ts";
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
  const pauseMs = (error: Error): number | null => {
    if (!parts.isAnyRunning()) return null;
    parts.warn((text) => text.warnings.database(wordsOf(error, text).sentence));
    return RETRY_MS;
  };
  try {
    await retryOutage(parts.clock, signal, () => parts.database.start(parts.say, signal), pauseMs);
    parts.warn(null);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
