// A few at once, a few more in line, the others refused at once. Invariants: a place is given back once; who waits is
// served in order.

interface WaitingLine {
  /** Waits for a place; the answer gives it back. Throws what `refuse` makes where the line is full. */
  enter(): Promise<() => void>;
  /** Runs `work` in a place of its own. */
  within<T>(work: () => Promise<T>): Promise<T>;
  readonly isEmpty: boolean;
}

export function createWaitingLine(
  bounds: { readonly atOnce: number | (() => number); readonly inLine: number },
  refuse: () => Error,
): WaitingLine {
  const line: (() => void)[] = [];
  let running = 0;
  const mayRun = () => running < (typeof bounds.atOnce === "number" ? bounds.atOnce : bounds.atOnce());

  async function enter(): Promise<() => void> {
    if (line.length >= bounds.inLine && !mayRun()) throw refuse();
    await new Promise<void>((resolve) => {
      line.push(resolve);
      admit();
    });
    let left = false;
    return () => {
      if (left) return;
      left = true;
      running -= 1;
      admit();
    };
  }

  function admit(): void {
    while (line.length > 0 && mayRun()) {
      running += 1;
      line.shift()?.();
    }
  }

  return {
    enter,
    async within(work) {
      const leave = await enter();
      try {
        return await work();
      } finally {
        leave();
      }
    },
    get isEmpty() {
      return running === 0;
    },
  };
}
