// Server-sent events over stored rows: resumable by id, woken by NOTIFY, ended by the server after the last event.
// Invariants: an event is written once per connection, in order; a stream never outlives `endAll` by more than its spread.

import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock, Random } from "../../config/time.ts";
import type { Channel, Listener } from "../db/listen.ts";
import { createAccountGate } from "./account-limits.ts";

export interface StreamEvent {
  /** Absent: the event cannot be resumed after (it repeats a state). */
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

export interface StreamSource {
  /** Woken by this channel's notification with this payload (and by every reconnect of the listener). */
  readonly channel: Channel;
  readonly payload: string;
  /** The stored events after `lastId` ("" at first); `done`: nothing will follow them; `more`: not all were read. */
  read(
    lastId: string,
  ): Promise<{ readonly events: readonly StreamEvent[]; readonly done: boolean; readonly more?: boolean }>;
  /** `read` depends on nothing but its argument: streams of one channel and payload may read together. */
  readonly shared?: boolean;
  /** Reads again after this long without a wake-up (default 15 s). */
  readonly pollMs?: number;
}

export interface EventStreams {
  /**
   * Answers the request with the source's events until it is done, the client leaves or the process drains. Throws
   * `limit.eventStreams` (429) when the account has too many.
   */
  open(request: FastifyRequest, reply: FastifyReply, source: StreamSource): Promise<void>;
  /** Reads again for the streams of that channel and payload, as a notification would. */
  wake(channel: Channel, payload: string): void;
  /** Ends every stream, spread over min(5 s, streams / 200 per second); new ones are ended at once. */
  endAll(): Promise<void>;
  readonly size: number;
}

interface OpenStream {
  wake(): void;
  end(): void;
}

const HEARTBEAT_MS = 15_000;

const frames = new WeakMap<StreamEvent, Buffer>();

/** As it is sent: one copy, however many streams that read together wait for their clients to take it. */
function frame(event: StreamEvent): Buffer {
  const known = frames.get(event);
  if (known !== undefined) return known;
  const id = event.id === undefined ? "" : `id: ${event.id}\n`;
  const made = Buffer.from(`${id}event: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`);
  frames.set(event, made);
  return made;
}

/** Last-Event-ID of the request: the header, or `?lastEventId=` for a first connection that already has a snapshot. */
function lastEventId(request: FastifyRequest): string {
  const header = request.headers["last-event-id"];
  if (typeof header === "string") return header;
  const query = request.query as Record<string, unknown>;
  return typeof query.lastEventId === "string" ? query.lastEventId : "";
}

/** The streams of one web process, all fed by its one listener; `most` for each account. */
export function createEventStreams(deps: {
  readonly clock: Clock;
  readonly random: Random;
  readonly listener: Listener;
  readonly most: number;
}): EventStreams {
  const { clock, listener } = deps;
  const byKey = new Map<string, Set<OpenStream>>();
  // Streams of one thing that stand at the same event read together. A wake-up begins new reads: what is on its way
  // may not have seen what we were woken for.
  const reads = new Map<string, Map<string, ReturnType<StreamSource["read"]>>>();
  const open = new Set<OpenStream>();
  const watched = new Set<Channel>();
  const gate = createAccountGate("eventStreams", deps.most);
  let draining = false;

  function readTogether(key: string, source: StreamSource, lastId: string): ReturnType<StreamSource["read"]> {
    if (!source.shared) return source.read(lastId);
    const shared = reads.get(key) ?? new Map<string, ReturnType<StreamSource["read"]>>();
    const known = shared.get(lastId);
    if (known) return known;
    const reading = source.read(lastId).finally(() => {
      shared.delete(lastId);
      if (shared.size === 0 && reads.get(key) === shared) reads.delete(key);
    });
    shared.set(lastId, reading);
    reads.set(key, shared);
    return reading;
  }

  const wakeAll = () => {
    reads.clear();
    for (const stream of open) stream.wake();
  };
  listener.onReconnect(wakeAll);
  // A worker that was killed may have stored what it did not come to notify.
  listener.on("owl_worker_gone", wakeAll);

  function watch(channel: Channel): void {
    if (watched.has(channel)) return;
    watched.add(channel);
    listener.on(channel, (payload) => wake(channel, payload));
  }

  function wake(channel: Channel, payload: string): void {
    for (const stream of byKey.get(`${channel} ${payload}`) ?? []) stream.wake();
  }

  function register(key: string, stream: OpenStream): () => void {
    const set = byKey.get(key) ?? new Set();
    set.add(stream);
    byKey.set(key, set);
    open.add(stream);
    return () => {
      open.delete(stream);
      set.delete(stream);
      if (set.size === 0) byKey.delete(key);
    };
  }

  const follow: EventStreams["open"] = async (request, reply, source) => {
    let lastId = lastEventId(request);
    const late = draining;
    const key = `${source.channel} ${source.payload}`;
    // Read before the head is sent: a source that throws is still an ordinary problem document.
    let next = await readTogether(key, source, lastId);
    reply.hijack();
    const response = reply.raw;
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) response.setHeader(name, value);
    }
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    response.write("retry: 1000\n\n");

    const ended = new AbortController();
    let wakeUp: (() => void) | null = null;
    let woken = false;
    const stream: OpenStream = {
      wake() {
        woken = true;
        wakeUp?.();
      },
      end() {
        ended.abort();
        wakeUp?.();
      },
    };
    watch(source.channel);
    const leave = register(key, stream);
    response.on("close", () => stream.end());
    response.on("error", () => stream.end());
    // What was stored between the first read and the registration is found by reading once more.
    woken = true;
    try {
      while (!ended.signal.aborted) {
        for (const event of next.events) {
          response.write(frame(event));
          if (event.id !== undefined) lastId = event.id;
        }
        if (next.done || late) break;
        if (response.writableNeedDrain) await drained(response, ended.signal);
        if (!woken && !next.more) {
          const idleMs = Math.min(source.pollMs ?? HEARTBEAT_MS, HEARTBEAT_MS);
          await new Promise<void>((resolve) => {
            const cancel = clock.after(idleMs, resolve, { unref: true });
            wakeUp = () => {
              cancel();
              resolve();
            };
          });
          wakeUp = null;
          if (!woken && !ended.signal.aborted) response.write(": still here\n\n");
        }
        woken = false;
        if (!ended.signal.aborted) next = await readTogether(key, source, lastId);
      }
    } catch (error) {
      // The database is away: end the stream, the browser comes back with its last id.
      request.log.warn({ err: error }, "event stream ended early");
    } finally {
      leave();
      response.end();
    }
  };

  return {
    wake,
    get size() {
      return open.size;
    },
    open: (request, reply, source) => gate.within(request.account?.id ?? "", () => follow(request, reply, source)),
    async endAll() {
      draining = true;
      const all = [...open];
      const spreadMs = Math.min(5_000, (all.length / 200) * 1_000);
      await Promise.all(
        all.map(async (stream, index) => {
          await clock.sleep((spreadMs * index) / Math.max(all.length, 1));
          stream.end();
        }),
      );
    },
  };
}

function drained(response: NodeJS.WritableStream, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    response.once("drain", resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
