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
    if (mayRun()) running += 1;
    else if (line.length < bounds.inLine) await new Promise<void>((resolve) => line.push(resolve));
    else throw refuse();
    let left = false;
    return () => {
      if (left) return;
      left = true;
      running -= 1;
      for (let next = mayRun() ? line.shift() : undefined; next; next = mayRun() ? line.shift() : undefined) {
        running += 1;
        next();
      }
    };
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
