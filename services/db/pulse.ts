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

/** What a beat needs of a connection. */
export type PulseClient = Pick<pg.Client, "query" | "end">;

interface PulseOptions {
  readonly url: string;
  /** Tests: how a connection is made. */
  readonly connect?: () => Promise<PulseClient>;
  readonly clock: Clock;
  readonly intervalMs: number;
  /** No success for this long, or a beat that took so long, is a break: we, or the database, were frozen or cut off. */
  readonly breakAfterMs: number;
  readonly beat: (client: PulseClient) => Promise<void>;
  readonly onError: (error: Error) => void;
}

/** Starts beating with the first beat done; `start` throws when that one fails. */
export function createPulse(options: PulseOptions): Pulse {
  const { clock, intervalMs, breakAfterMs } = options;
  const stopping = new AbortController();
  let client: PulseClient | null = null;
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
    client ??= await (options.connect ?? connect)();
    const startedAt = clock.monotonicMs();
    await options.beat(client);
    const doneAt = clock.monotonicMs();
    // Trusted from the attempt's start: what happened while it was on its way is not known.
    if (healthySince === null || lastOkAt === null || doneAt - lastOkAt > breakAfterMs) healthySince = doneAt;
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
    nudge: () => {
      // With a reason, since making the default one costs a stack trace for each job.
      if (!nudged.signal.aborted) nudged.abort("nudged");
    },
    healthyForMs() {
      const now = clock.monotonicMs();
      if (healthySince === null || lastOkAt === null || now - lastOkAt > breakAfterMs) return 0;
      return now - healthySince;
    },
  };
}
