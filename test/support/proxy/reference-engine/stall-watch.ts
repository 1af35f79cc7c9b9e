// Whether a client that is waited for still moves. One timer, looked at late: movement only notes the time.

import type { Clock } from "../../../../config/time.ts";

export interface StallWatch {
  /** The client sent or took something. */
  moved(): void;
  stop(): void;
}

/** Calls `stalled` once, when `isWaitedFor` held for `limitMs` without a movement. */
export function watchStalls(
  clock: Clock,
  limitMs: number,
  isWaitedFor: () => boolean,
  stalled: () => void,
): StallWatch {
  let movedAtMs = clock.monotonicMs();
  let cancel = clock.after(limitMs, look, { unref: true });
  function look(): void {
    const now = clock.monotonicMs();
    if (!isWaitedFor()) movedAtMs = now;
    const still = now - movedAtMs;
    if (still >= limitMs) stalled();
    else cancel = clock.after(limitMs - still, look, { unref: true });
  }
  return {
    moved() {
      movedAtMs = clock.monotonicMs();
    },
    stop: () => cancel(),
  };
}
