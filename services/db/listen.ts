// The one LISTEN connection of a process. Invariant: after every (re)connect `onReconnect` runs, so that whatever was
// notified while it was away is looked up; a silent connection is noticed by its own probe within 15 s.

import pg from "pg";
import type { Clock } from "../../config/time.ts";

const CHANNELS = ["owl_jobs", "owl_stop", "owl_turn", "owl_worker_gone", "owl_observe"] as const;
/**
 * owl_jobs: a kind has new work (payload: kind). owl_stop: a stop was asked for (kind:id). owl_turn: a turn has new
 * events (turn id). owl_worker_gone: worker id. owl_observe: a batch, transcription or run moved (table:id).
 */
export type Channel = (typeof CHANNELS)[number];

export interface Listener {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Calls `run` with each payload on that channel; the returned function ends it. */
  on(channel: Channel, run: (payload: string) => void): () => void;
  /** Calls `run` after each successful connect but the first. */
  onReconnect(run: () => void): () => void;
  isListening(): boolean;
}

interface ListenerOptions {
  readonly url: string;
  readonly channels: readonly Channel[];
  readonly clock: Clock;
  readonly onError: (error: Error) => void;
  readonly probeMs?: number;
}

/** One connection of its own that listens on `channels` and heals itself. */
export function createListener(options: ListenerOptions): Listener {
  const { clock } = options;
  const probeMs = options.probeMs ?? 10_000;
  const runs = new Map<Channel, Set<(payload: string) => void>>(options.channels.map((name) => [name, new Set()]));
  const reconnects = new Set<() => void>();
  const stopping = new AbortController();
  let client: pg.Client | null = null;
  let listening = false;
  let connectedOnce = false;
  let loop: Promise<void> | null = null;

  async function connect(): Promise<pg.Client> {
    const next = new pg.Client({
      connectionString: options.url,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      query_timeout: 5_000,
    });
    next.on("error", () => undefined);
    next.on("notification", (message) => {
      for (const run of runs.get(message.channel as Channel) ?? []) run(message.payload ?? "");
    });
    try {
      await next.connect();
      await next.query(options.channels.map((name) => `LISTEN ${name}`).join("; "));
      return next;
    } catch (error) {
      await next.end().catch(() => undefined);
      throw error;
    }
  }

  /** Resolves when the connection is no longer usable, or we stop. */
  async function watch(current: pg.Client): Promise<void> {
    const ended = new AbortController();
    current.once("end", () => ended.abort());
    const signal = AbortSignal.any([ended.signal, stopping.signal]);
    for await (const _ of clock.every(probeMs, signal)) {
      try {
        await current.query("SELECT 1");
      } catch (error) {
        options.onError(error as Error);
        return;
      }
    }
  }

  async function keepListening(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        client ??= await connect();
        failures = 0;
        listening = true;
        if (connectedOnce) for (const run of reconnects) run();
        connectedOnce = true;
        await watch(client);
      } catch (error) {
        failures += 1;
        options.onError(error as Error);
      }
      listening = false;
      const old = client;
      client = null;
      // end() of a half-dead connection may wait for ever; nobody needs its answer.
      void old?.end().catch(() => undefined);
      if (stopping.signal.aborted) return;
      await clock.sleep(Math.min(5_000, 200 * 2 ** Math.min(failures, 5)), stopping.signal).catch(() => undefined);
    }
  }

  return {
    async start() {
      if (loop) return;
      client = await connect();
      listening = true;
      loop = keepListening();
    },
    async stop() {
      stopping.abort();
      await loop;
    },
    on(channel, run) {
      const set = runs.get(channel);
      if (!set) throw new Error(`This process does not listen on ${channel}.`);
      set.add(run);
      return () => set.delete(run);
    },
    onReconnect(run) {
      reconnects.add(run);
      return () => reconnects.delete(run);
    },
    isListening: () => listening,
  };
}
