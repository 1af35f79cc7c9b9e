// One resumable event stream (GET /api/events) over fetch. Invariants: it comes back by itself with the last id it saw,
// a silent connection counts as broken after two missed heartbeats, and 401 stops it until somebody signs in.

import { createParser } from "eventsource-parser";
import type { Clock, Random } from "../../../../config/time.ts";
import { BUILD_HEADER } from "../build-header.ts";
import type { FeedEvent, FeedMessage, FeedStatus, LiveTurn } from "./messages.ts";

interface FeedDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  readonly tell: (message: FeedMessage) => void;
}

export interface Feed {
  start(): void;
  /** Connects anew at once: after signing in, or when the user asks. */
  restart(): void;
  stop(): void;
  status(): FeedStatus;
}

/** The server writes at least every 15 s. */
const STALL_MS = 33_000;
const RETRIES_MS = [100, 500, 1_000, 2_000, 5_000];

export function createFeed(deps: FeedDeps): Feed {
  const { clock } = deps;
  let status: FeedStatus = { state: "connecting", attempt: 0, nextTryAt: null, build: null };
  let lastId = "";
  let run: AbortController | null = null;
  let retryNow: (() => void) | null = null;

  /** `build` stays until another server tells its own. */
  function enter(next: Omit<FeedStatus, "build">, build = status.build): void {
    status = { ...next, build };
    deps.tell({ kind: "status", status });
  }

  /** One connection's life; returns when it is over. */
  async function once(signal: AbortSignal): Promise<"over" | "signedOut"> {
    const connection = new AbortController();
    const abort = (): void => connection.abort();
    signal.addEventListener("abort", abort, { once: true });
    let cancelStall = clock.after(STALL_MS, abort);
    try {
      const response = await deps.fetch("/api/events", {
        headers: { accept: "text/event-stream", ...(lastId ? { "last-event-id": lastId } : {}) },
        signal: connection.signal,
        cache: "no-store",
        credentials: "same-origin",
      });
      if (response.status === 401) return "signedOut";
      if (response.status === 400) lastId = "";
      if (!response.ok || !response.body) return "over";
      const parser = createParser({
        onEvent(message) {
          if (message.id !== undefined) lastId = message.id;
          const event = feedEventOf(message.event, message.data);
          if (event) deps.tell({ kind: "event", event });
        },
      });
      enter({ state: "open", attempt: 0, nextTryAt: null }, response.headers.get(BUILD_HEADER));
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return "over";
        cancelStall();
        cancelStall = clock.after(STALL_MS, abort);
        parser.feed(value);
      }
    } catch {
      return "over";
    } finally {
      cancelStall();
      signal.removeEventListener("abort", abort);
      connection.abort();
    }
  }

  async function keepConnected(signal: AbortSignal): Promise<void> {
    let attempt = 0;
    while (!signal.aborted) {
      const ended = await once(signal);
      if (signal.aborted) return;
      if (ended === "signedOut") return enter({ state: "signedOut", attempt: 0, nextTryAt: null });
      attempt = status.state === "open" ? 1 : attempt + 1;
      const base = RETRIES_MS[Math.min(attempt, RETRIES_MS.length) - 1] ?? 5_000;
      // Spread, so that a thousand browsers do not come back in the same instant.
      const waitMs = base * (0.5 + deps.random.float());
      enter({ state: "lost", attempt, nextTryAt: clock.now() + waitMs });
      await new Promise<void>((resolve) => {
        const cancel = clock.after(waitMs, resolve);
        retryNow = () => {
          cancel();
          resolve();
        };
      });
      retryNow = null;
    }
  }

  function begin(): void {
    run?.abort();
    run = new AbortController();
    void keepConnected(run.signal);
  }

  return {
    start() {
      if (!run || status.state === "signedOut") begin();
    },
    restart() {
      if (status.state === "lost" && retryNow) return retryNow();
      if (status.state === "open") return;
      begin();
    },
    stop() {
      run?.abort();
      run = null;
      retryNow?.();
      lastId = "";
      status = { state: "connecting", attempt: 0, nextTryAt: null, build: null };
    },
    status: () => status,
  };
}

const TURN_EVENTS = ["delta", "tool", "state", "rewind", "end"] as const;

/** A server-sent event as the pages know it; null for one of a kind we do not know (a newer server). */
export function feedEventOf(name: string | undefined, text: string): FeedEvent | null {
  let data: Record<string, unknown>;
  try {
    data = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
  if (name === "hello") return { kind: "hello", turns: Array.isArray(data.turns) ? (data.turns as LiveTurn[]) : [] };
  if (name === "changed" && typeof data.what === "string" && typeof data.id === "string") {
    return { kind: "changed", what: data.what, id: data.id };
  }
  const kind = TURN_EVENTS.find((one) => one === name);
  if (kind === undefined) return null;
  if (typeof data.turnId !== "string" || typeof data.seq !== "number") return null;
  const { turnId, conversationId, seq, ...rest } = data;
  return {
    kind: "turn",
    turnId,
    conversationId: String(conversationId ?? ""),
    event: { seq, kind, data: rest },
  };
}
