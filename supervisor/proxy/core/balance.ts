// Least in flight, ties in rotation; marked upstreams only when no other is left.

import { isMarked, type Mark } from "./upstream-marks.ts";

interface Candidate {
  readonly inFlight: number;
  readonly mark: Mark | null;
}

/**
 * Index of the upstream to take, or -1 when all were tried. `from` is the rotation: the index after the last pick.
 * `now` in monotonic ms.
 */
export function pickIndex<C extends Candidate>(
  candidates: readonly C[],
  tried: readonly C[] | null,
  from: number,
  now: number,
): number {
  const count = candidates.length;
  let best = -1;
  let bestInFlight = 0;
  let bestMarked = true;
  for (let step = 0; step < count; step++) {
    const index = (from + step) % count;
    const candidate = candidates[index];
    if (candidate === undefined || tried?.includes(candidate)) continue;
    const marked = candidate.mark !== null && isMarked(candidate.mark, now);
    const better = best < 0 || (bestMarked && !marked) || (bestMarked === marked && candidate.inFlight < bestInFlight);
    if (!better) continue;
    best = index;
    bestInFlight = candidate.inFlight;
    bestMarked = marked;
  }
  return best;
}
