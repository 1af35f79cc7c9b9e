// A clock that moves only when told: timers fire in order of their instants, and what they woke runs before the next.

import type { Clock } from "../../config/time.ts";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export interface TestClock extends Clock {
  /** Moves on by `ms`, firing what falls due, each with the work it wakes. */
  advance(ms: number): Promise<void>;
  /** Moves the wall clock alone (someone set the time). */
  setWall(at: number): void;
  /** Timers that wait. */
  readonly pending: number;
}

/** Lets everything that is ready run: promises, and what they start. */
export async function settle(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
}

export function createTestClock(startWall = 1_750_000_000_000): TestClock {
  let monotonic = 1_000;
  let wallOffset = startWall - monotonic;
  let order = 0;
  const timers = new Set<Timer>();

  function after(ms: number, run: () => void): () => void {
    const timer = { at: monotonic + Math.max(0, ms), order: order++, run };
    timers.add(timer);
    return () => timers.delete(timer);
  }

  const clock: TestClock = {
    now: () => monotonic + wallOffset,
    monotonicMs: () => monotonic,
    after,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const refuse = () => {
          cancel();
          reject(signal?.reason);
        };
        const cancel = after(ms, () => {
          signal?.removeEventListener("abort", refuse);
          resolve();
        });
        signal?.addEventListener("abort", refuse, { once: true });
      }),
    async *every(ms, signal) {
      while (!signal.aborted) {
        try {
          await clock.sleep(ms, signal);
        } catch {
          return;
        }
        yield;
      }
    },
    async advance(ms) {
      const until = monotonic + ms;
      await settle();
      for (;;) {
        const due = [...timers]
          .filter((timer) => timer.at <= until)
          .sort((a, b) => a.at - b.at || a.order - b.order)[0];
        if (!due) break;
        timers.delete(due);
        monotonic = Math.max(monotonic, due.at);
        due.run();
        await settle();
      }
      monotonic = until;
    },
    setWall(at) {
      wallOffset = at - monotonic;
    },
    get pending() {
      return timers.size;
    },
  };
  return clock;
}
