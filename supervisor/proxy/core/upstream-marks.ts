// Passive marking: an upstream that refused a connection is picked last for 1 s, doubling to 10 s at most.
// Invariant: a mark only orders the candidates. It never removes one, so the last upstream is always tried.

export interface Mark {
  /** Connect failures in a row. */
  readonly failures: number;
  /** Monotonic ms until which others are preferred. */
  readonly untilMs: number;
}

const FIRST_MARK_MS = 1_000;
const LONGEST_MARK_MS = 10_000;

/** The mark after one more connect failure at `now` (monotonic ms). A success clears it: null. */
export function markFailure(mark: Mark | null, now: number): Mark {
  const failures = (mark?.failures ?? 0) + 1;
  const lengthMs = Math.min(LONGEST_MARK_MS, FIRST_MARK_MS * 2 ** Math.min(failures - 1, 10));
  return { failures, untilMs: now + lengthMs };
}

/** Whether others are to be preferred at `now`. */
export function isMarked(mark: Mark | null, now: number): boolean {
  return mark !== null && now < mark.untilMs;
}
