// The passing of time in components. Invariant: one timer for all that look equally often.

import { useEffect, useState } from "preact/hooks";
import { browserClock } from "../browser-time.ts";
import { createStore, type Store } from "../store.ts";

interface Ticks {
  readonly store: Store<number>;
  readers: number;
  stop: AbortController | null;
}

const ticking = new Map<number, Ticks>();

function ticksOf(everyMs: number): Ticks {
  const known = ticking.get(everyMs);
  if (known) return known;
  const made: Ticks = { store: createStore(browserClock.now()), readers: 0, stop: null };
  ticking.set(everyMs, made);
  return made;
}

async function tick({ store }: Ticks, everyMs: number, signal: AbortSignal): Promise<void> {
  for await (const _ of browserClock.every(everyMs, signal)) store.set(browserClock.now());
}

/** Wall time in ms as the server counts it, renewed every `everyMs` while the component is there and `running`. */
export function useNow(everyMs: number, running = true): number {
  const [now, setNow] = useState(browserClock.now());
  useEffect(() => {
    if (!running) return;
    const ticks = ticksOf(everyMs);
    ticks.readers += 1;
    if (ticks.stop === null) {
      ticks.stop = new AbortController();
      void tick(ticks, everyMs, ticks.stop.signal);
    }
    const leave = ticks.store.subscribe(() => setNow(ticks.store.get()));
    return () => {
      leave();
      ticks.readers -= 1;
      if (ticks.readers > 0) return;
      ticks.stop?.abort();
      ticks.stop = null;
    };
  }, [everyMs, running]);
  return now;
}
