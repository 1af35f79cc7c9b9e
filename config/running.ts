// What lives long: one contract for it, one loop, one retry of an outage.
// Invariant: whoever was stopped does nothing any more; no failure is lost.

import { asError } from "./errors.ts";
import type { Clock } from "./time.ts";

export interface Running {
  /** Resolves when it runs; a second call changes nothing. */
  start(): Promise<void>;
  /** Resolves when all of it is over. Tolerates never started, and twice. */
  stop(): Promise<void>;
  /** Resolves once it was stopped. */
  readonly stopped: Promise<void>;
}

interface LoopParts {
  readonly clock: Clock;
  readonly everyMs: number;
  /** One round; tests call it themselves. The signal: the loop is being stopped. */
  readonly runOnce: (signal: AbortSignal) => void | Promise<void>;
  /** A round failed; the next one comes all the same. */
  readonly failed: (error: Error) => void;
  /** The first round comes at the start, not one interval later. */
  readonly atOnce?: boolean;
}

/** Runs `runOnce` every so often until it is stopped, never two rounds at a time. */
export function createLoop(parts: LoopParts): Running {
  const lifetime = new AbortController();
  const stopped = Promise.withResolvers<void>();
  let running: Promise<void> | null = null;

  async function round(): Promise<void> {
    try {
      await parts.runOnce(lifetime.signal);
    } catch (error) {
      if (!lifetime.signal.aborted) parts.failed(asError(error));
    }
  }

  async function run(): Promise<void> {
    if (parts.atOnce) await round();
    for await (const _ of parts.clock.every(parts.everyMs, lifetime.signal)) await round();
  }

  return {
    async start() {
      if (!lifetime.signal.aborted) running ??= run();
    },
    async stop() {
      lifetime.abort();
      await running;
      stopped.resolve();
    },
    stopped: stopped.promise,
  };
}

/**
 * Tries until it succeeds. `pauseMs`: how long to wait after the failure that many in a row, this one included; null:
 * it is thrown. Rejects with the signal's reason when aborted.
 */
export async function retryOutage<T>(
  clock: Clock,
  signal: AbortSignal,
  attempt: () => Promise<T>,
  pauseMs: (error: Error, failures: number) => number | null,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (caught) {
      signal.throwIfAborted();
      const error = asError(caught);
      const pause = pauseMs(error, failures);
      if (pause === null) throw error;
      await clock.sleep(pause, signal);
    }
  }
}
