// The passing of time in components.

import { useEffect, useState } from "preact/hooks";
import { browserClock } from "../browser-time.ts";

/** Wall time in ms, renewed every `everyMs` while the component is there and `running`. */
export function useNow(everyMs: number, running = true): number {
  const [now, setNow] = useState(browserClock.now());
  useEffect(() => {
    if (!running) return;
    const stop = new AbortController();
    void (async () => {
      for await (const _ of browserClock.every(everyMs, stop.signal)) setNow(browserClock.now());
    })();
    return () => stop.abort();
  }, [everyMs, running]);
  return now;
}
