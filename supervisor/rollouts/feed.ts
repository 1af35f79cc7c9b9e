// A live feed: what is published reaches everybody who listens at that moment, in order.
// Invariant: a slow listener holds nobody up; it alone keeps what it has not read yet.

export interface Feed<T> {
  publish(item: T): void;
  /** From now on until the signal aborts. Listening begins with the call, not with the first read. */
  listen(signal: AbortSignal): AsyncIterable<T>;
}

export function createFeed<T>(): Feed<T> {
  const listeners = new Set<(item: T) => void>();
  return {
    publish(item) {
      for (const deliver of listeners) deliver(item);
    },
    listen(signal) {
      const waiting: T[] = [];
      let wake: (() => void) | null = null;
      const deliver = (item: T): void => {
        waiting.push(item);
        wake?.();
      };
      const end = (): void => {
        listeners.delete(deliver);
        wake?.();
      };
      listeners.add(deliver);
      if (signal.aborted) end();
      signal.addEventListener("abort", end, { once: true });
      return (async function* () {
        try {
          for (;;) {
            const item = waiting.shift();
            if (item !== undefined) yield item;
            else if (signal.aborted) return;
            else await new Promise<void>((resolve) => (wake = resolve));
          }
        } finally {
          signal.removeEventListener("abort", end);
          listeners.delete(deliver);
        }
      })();
    },
  };
}
