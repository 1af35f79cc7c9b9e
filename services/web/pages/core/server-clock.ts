// How far the server's clock is ahead of this device's. Pure.

/** Less than this is the header's own coarseness and the way of the answer. */
const TOO_LITTLE_MS = 2_000;

/** By the `Date` of an answer and the device's time around it; null: the header says nothing. */
export function aheadOf(dateHeader: string | null, askedAtMs: number, answeredAtMs: number): number | null {
  const at = Date.parse(dateHeader ?? "");
  if (Number.isNaN(at)) return null;
  // Whole seconds, cut off; and it was said somewhere between the question and the answer.
  const aheadMs = at + 500 - (askedAtMs + answeredAtMs) / 2;
  return Math.abs(aheadMs) < TOO_LITTLE_MS + (answeredAtMs - askedAtMs) / 2 ? 0 : Math.round(aheadMs);
}
