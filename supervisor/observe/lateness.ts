// How late the machine lets a process run: that of owld's own timers, while somebody wants to know.
// Invariant: nothing is measured, and no timer runs, outside of begin and end.

import { monitorEventLoopDelay } from "node:perf_hooks";

export interface Lateness {
  /** Begins to measure; again while it does changes nothing. */
  begin(): void;
  end(): void;
  /** In ms, at the 95th percentile since `begin`; 0 when nothing was measured. */
  p95Ms(): number;
}

const EVERY_MS = 10;

export function createLateness(): Lateness {
  let delays: ReturnType<typeof monitorEventLoopDelay> | null = null;
  return {
    begin() {
      if (delays !== null) return;
      delays = monitorEventLoopDelay({ resolution: EVERY_MS });
      delays.enable();
    },
    end() {
      delays?.disable();
      delays = null;
    },
    p95Ms: () => (delays === null || delays.count === 0 ? 0 : Math.max(0, delays.percentile(95) / 1e6 - EVERY_MS)),
  };
}
