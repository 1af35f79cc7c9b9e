// A sign of life on a connection of its own: beats every interval, and knows since when it has beaten without a break.
// Invariant: a beat never waits on the pool, so that a busy pool never looks like a dead process.

import pg from "pg";
import type { Clock } from "../../config/time.ts";

export interface Pulse {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Beats soon, without waiting for the interval. */
  nudge(): void;
  /** How long every beat has succeeded, ms; 0 while they fail. */
  healthyForMs(): number;
}

export interface PulseOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly intervalMs: number;
  /** A success later than this after the one before is a break (we were frozen, or cut off). */
  readonly breakAfterMs: number;
  readonly beat: (client: pg.Client) => Promise<void>;
  readonly onError: (error: Error) => void;
}

/** Starts beating with the first beat done; `start` throws when that one fails. */
export function createPulse(options: PulseOptions): Pulse {
  const { clock, intervalMs, breakAfterMs } = options;
  const stopping = new AbortController();
  let client: pg.Client | null = null;
  let healthySince: number | null = null;
  let lastOkAt: number | null = null;
  let nudged = new AbortController();
  let loop: Promise<void> | null = null;

  async function connect(): Promise<pg.Client> {
    const next = new pg.Client({
      connectionString: options.url,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      keepAlive: true,
    });
    next.on("error", () => undefined);
    try {
      await next.connect();
      return next;
    } catch (error) {
      await next.end().catch(() => undefined);
      throw error;
    }
  }

  async function beatOnce(): Promise<void> {
    client ??= await connect();
    const startedAt = clock.monotonicMs();
    await options.beat(client);
    if (healthySince === null || lastOkAt === null || startedAt - lastOkAt > breakAfterMs) healthySince = startedAt;
    lastOkAt = startedAt;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const waitMs = healthySince === null ? Math.min(1_000, intervalMs) : intervalMs;
      await clock.sleep(waitMs, AbortSignal.any([stopping.signal, nudged.signal])).catch(() => undefined);
      if (stopping.signal.aborted) return;
      // Changes come in bunches: one beat tells them all.
      if (nudged.signal.aborted) await clock.sleep(Math.min(200, intervalMs), stopping.signal).catch(() => undefined);
      nudged = new AbortController();
      if (stopping.signal.aborted) return;
      try {
        await beatOnce();
      } catch (error) {
        healthySince = null;
        const old = client;
        client = null;
        void old?.end().catch(() => undefined);
        options.onError(error as Error);
      }
    }
  }

  return {
    async start() {
      if (loop) return;
      await beatOnce();
      loop = run();
    },
    async stop() {
      stopping.abort();
      await loop;
      const old = client;
      client = null;
      // A server that hangs never answers the goodbye.
      if (old) await Promise.race([old.end().catch(() => undefined), clock.sleep(1_000)]);
    },
    nudge: () => nudged.abort(),
    healthyForMs: () => (healthySince === null ? 0 : clock.monotonicMs() - healthySince),
  };
}
