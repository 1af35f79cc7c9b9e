// How many SQL statements one account may run: so many at once (more wait), so many a minute (more are refused).

import type { Clock } from "../../config/time.ts";
import { failure } from "../core/wire/errors.ts";
import { createPlaces, type Places } from "./places.ts";

interface StatementBudget {
  /** Waits for a place; the answer gives it back. Throws `limit.statementsPerMinute`, or the signal's reason. */
  enter(accountId: string, signal: AbortSignal): Promise<() => void>;
}

const MINUTE_MS = 60_000;

export function createStatementBudget(
  limits: { readonly statements: number; readonly statementsPerMinute: number },
  clock: Clock,
): StatementBudget {
  const uses = new Map<string, { readonly places: Places; since: number; begun: number }>();

  function useOf(accountId: string) {
    const now = clock.monotonicMs();
    const use = uses.get(accountId) ?? { places: createPlaces(limits.statements), since: now, begun: 0 };
    if (now - use.since >= MINUTE_MS) {
      for (const [id, old] of uses) if (old.places.isEmpty && now - old.since >= MINUTE_MS) uses.delete(id);
      use.since = now;
      use.begun = 0;
    }
    uses.set(accountId, use);
    return { use, now };
  }

  return {
    async enter(accountId, signal) {
      const { use, now } = useOf(accountId);
      if (use.begun >= limits.statementsPerMinute) {
        const waitS = Math.ceil((use.since + MINUTE_MS - now) / 1_000);
        throw failure("limit.statementsPerMinute", { count: use.begun, seconds: waitS });
      }
      use.begun += 1;
      return use.places.enter(signal);
    },
  };
}
