// Notices an endpoint that says nothing any more. Nothing for a minute, while no tool of ours is at work, means that
// nothing will come.

import type { Clock } from "../../config/time.ts";

interface SilenceWatch {
  /** Aborted when the endpoint was silent for too long. */
  readonly signal: AbortSignal;
  heard(): void;
  stop(): void;
}

export function watchSilence(clock: Clock, silenceMs: number, runningTools: () => number): SilenceWatch {
  const silence = new AbortController();
  let heardAt = clock.monotonicMs();
  let cancel: () => void = () => undefined;
  const watch = () => {
    if (runningTools() > 0) heardAt = clock.monotonicMs();
    const leftMs = heardAt + silenceMs - clock.monotonicMs();
    if (leftMs <= 0) silence.abort();
    else cancel = clock.after(leftMs, watch, { unref: true });
  };
  watch();
  return {
    signal: silence.signal,
    heard() {
      heardAt = clock.monotonicMs();
    },
    stop: () => cancel(),
  };
}
