// A bounded number of places; who finds none waits in line. Invariant: a place is given back once.

export interface Places {
  /** Waits for a place; the answer gives it back. Throws the signal's reason when aborted while waiting. */
  enter(signal: AbortSignal): Promise<() => void>;
  /** Nobody has a place or waits for one. */
  readonly isEmpty: boolean;
}

export function createPlaces(most: number): Places {
  const waiting = new Set<() => void>();
  let inUse = 0;

  function place(): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const [next] = waiting;
      if (next) next();
      else inUse -= 1;
    };
  }

  return {
    get isEmpty() {
      return inUse === 0;
    },
    async enter(signal) {
      signal.throwIfAborted();
      if (inUse < most) {
        inUse += 1;
        return place();
      }
      await new Promise<void>((resolve, reject) => {
        const given = () => {
          waiting.delete(given);
          signal.removeEventListener("abort", refused);
          resolve();
        };
        const refused = () => {
          waiting.delete(given);
          reject(signal.reason);
        };
        waiting.add(given);
        signal.addEventListener("abort", refused, { once: true });
      });
      return place();
    },
  };
}
