// One client connection that speaks HTTP/2: Node's own library frames it, each of its streams is one exchange.
// Invariant: whatever the client sends, the streams, bytes and work it can keep open here are bounded.

import { constants, performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { TLSSocket } from "node:tls";
import { type AnswerReason, NO_CONTEXT } from "../answers.ts";
import { Budget } from "../core/budget.ts";
import { believedChain, type ClientFacts, type ForwardingMemo } from "../core/forwarding.ts";
import { headOfList, listBytes } from "../core/http2-head.ts";
import { scanRequest } from "../core/request-head.ts";
import type { NetEngineDeps, ServedConnection } from "../engine-net/parties.ts";
import { DRAIN_IDLE_MS, LINGER_SILENCE_MS, RESPONSE_HEADER_BYTES } from "../limits.ts";
import { giveOwnAnswer } from "./answer.ts";
import { StreamExchange, type StreamRequest } from "./exchange.ts";

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

const MOST_STREAMS = 100;
/** Request bytes of one stream that may wait here unread, and of all streams on their way. */
const STREAM_WINDOW_BYTES = 128 * 1024;
const CONNECTION_WINDOW_BYTES = 1024 * 1024;
/** Streams broken off, pings and settings: each is work that costs its sender nothing. */
const MOST_BOTHERS = 300;
const BOTHERS_PER_S = 30;
/** A notice that a connection ends names the highest stream there can be: those on their way are still served. */
const ANY_STREAM = 2 ** 31 - 1;
const NEVER = Number.POSITIVE_INFINITY;

export class Http2Connection implements ServedConnection {
  readonly facts: ClientFacts;
  readonly forwarding: ForwardingMemo = { host: null, lines: "" };

  readonly #deps: NetEngineDeps;
  readonly #socket: TLSSocket;
  readonly #session: ServerHttp2Session;
  readonly #isTrusted: boolean;
  readonly #bothers: Budget;
  readonly #exchanges = new Set<StreamExchange>();
  #streams = 0;
  #isClosing = false;
  /** Coarse monotonic ms. */
  #deadlineMs: number;

  constructor(deps: NetEngineDeps, socket: TLSSocket, facts: ClientFacts) {
    const { limits } = deps.config;
    this.#deps = deps;
    this.#socket = socket;
    this.facts = facts;
    this.#isTrusted = deps.isTrusted(facts.address);
    this.#bothers = new Budget(MOST_BOTHERS, BOTHERS_PER_S, deps.nowMs());
    this.#deadlineMs = deps.nowMs() + limits.idleTimeoutMs;
    const session = performServerHandshake(socket, {
      settings: {
        maxConcurrentStreams: MOST_STREAMS,
        initialWindowSize: STREAM_WINDOW_BYTES,
        // HTTP/2 counts 32 bytes more a header; and what is a little too large gets an answer that says so.
        maxHeaderListSize: 4 * limits.headerBytes,
        enableConnectProtocol: false,
        enablePush: false,
      },
      maxHeaderListPairs: 1_000,
      maxSettings: 16,
      maxSendHeaderBlockLength: 4 * RESPONSE_HEADER_BYTES,
      maxSessionMemory: 10,
      maxOutstandingPings: 1,
      maxSessionInvalidFrames: 20,
      maxSessionRejectedStreams: MOST_STREAMS,
      strictSingleValueFields: false,
    } as Parameters<typeof performServerHandshake>[1]);
    this.#session = session;
    const bothered = () => this.#bothered();
    session.on("stream", (stream, _headers, _flags, list?: readonly string[]) => this.#opened(stream, list ?? []));
    session.on("ping", bothered);
    session.on("remoteSettings", bothered);
    // Its streams and the session itself are closed with it; there is nobody to tell.
    session.on("error", () => undefined);
    session.on("close", () => {
      this.#isClosing = true;
      deps.left(this);
    });
    socket.on("error", () => undefined);
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    if (deps.isDraining()) this.drain();
  }

  #opened(stream: ServerHttp2Stream, list: readonly string[]): void {
    stream.on("error", () => undefined);
    const { counters } = this.#deps;
    if (this.#isClosing) {
      stream.close(NGHTTP2_REFUSED_STREAM);
      return;
    }
    // Streams reset in the same read are over for the library at once, and not for us.
    if (this.#streams >= MOST_STREAMS) {
      stream.close(NGHTTP2_REFUSED_STREAM);
      this.#bothered();
      return;
    }
    // Each may need an upstream connection of its own, as a further client connection would.
    if (this.#streams > 0 && counters.connections + counters.furtherStreams >= this.#deps.mostConnections) {
      counters.refuse("connectionCap");
      stream.close(NGHTTP2_REFUSED_STREAM);
      return;
    }
    if (this.#streams++ > 0) counters.furtherStreams++;
    if (!this.#deps.isDraining()) this.#deadlineMs = NEVER;
    const request = this.#judge(stream, list);
    const exchange = typeof request === "string" ? null : new StreamExchange(this.#deps, this, stream, request);
    stream.on("close", () => this.#closed(exchange));
    if (typeof request === "string") {
      this.#refuse(stream, request);
      return;
    }
    if (exchange === null) return;
    this.#exchanges.add(exchange);
    exchange.start();
  }

  /** The request, or why it is none. */
  #judge(stream: ServerHttp2Stream, list: readonly string[]): StreamRequest | AnswerReason {
    if (listBytes(list) > this.#deps.config.limits.headerBytes) return "headerTooLarge";
    const head = headOfList(list, stream.endAfterHeaders);
    if (head === null) return "badRequest";
    const { method, target, view } = head;
    const scan = scanRequest({ method, target, major: 1, minor: 1 }, view, this.#isTrusted);
    if (scan.refusal !== null) return scan.refusal;
    if (scan.forwardedFor !== "") scan.forwardedFor = believedChain(scan.forwardedFor, this.#deps.isTrusted);
    if (stream.endAfterHeaders && scan.bodyBytes !== 0) return "badRequest";
    return { method, target, view, scan };
  }

  #refuse(stream: ServerHttp2Stream, reason: AnswerReason): void {
    this.#deps.counters.refuse(reason);
    stream.once("finish", () => stream.close(NGHTTP2_NO_ERROR));
    giveOwnAnswer(stream, reason, NO_CONTEXT, { hsts: this.#deps.hsts, isHead: false });
  }

  #closed(exchange: StreamExchange | null): void {
    if (--this.#streams > 0) this.#deps.counters.furtherStreams--;
    if (this.#streams === 0) {
      if (this.#isClosing) this.#deadlineMs = this.#deps.nowMs() + LINGER_SILENCE_MS;
      else if (!this.#deps.isDraining()) this.#deadlineMs = this.#deps.nowMs() + this.#deps.config.limits.idleTimeoutMs;
    }
    if (exchange !== null) this.#exchanges.delete(exchange);
    if (exchange === null || exchange.wasBrokenOff) this.#bothered();
  }

  #bothered(): void {
    if (this.#isClosing || this.#bothers.spend(this.#deps.nowMs())) return;
    this.#isClosing = true;
    this.#deps.counters.refuse("http2Flood");
    this.#session.destroy(new Error("too much of it"), NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /** What is under way ends first; a client that then does not hang up is left. */
  #close(): void {
    this.#isClosing = true;
    this.#deadlineMs = this.#streams === 0 ? this.#deps.nowMs() + LINGER_SILENCE_MS : NEVER;
    this.#session.close();
  }

  /** Draining: no new streams but those on their way; those open end with their answers. */
  drain(): void {
    if (this.#isClosing) return;
    this.#session.goaway(NGHTTP2_NO_ERROR, ANY_STREAM);
    this.#deadlineMs = this.#deps.nowMs() + DRAIN_IDLE_MS;
  }

  /** Called by the sweep. `now`: coarse monotonic ms. */
  checkDeadline(now: number): void {
    for (const exchange of this.#exchanges) exchange.checkDeadline(now);
    if (now < this.#deadlineMs) return;
    if (this.#isClosing) this.#socket.destroy();
    else this.#close();
  }
}
