// One connection to an upstream: llhttp frames its answers, the current exchange gets them.
// Invariant: it is reusable only when the answer ended exactly where its framing says, the request was sent whole,
// and both sides agreed to keep it open; in every other case it is destroyed.

import { connect as netConnect, type OnReadOpts, type Socket } from "node:net";
import { hasNoBody, isCleanReason, type ResponseScan, scanResponse } from "../core/response-head.ts";
import type { ConnectFailure } from "../core/retry-table.ts";
import { RESPONSE_HEADER_BYTES } from "../limits.ts";
import type { Upstream } from "../upstreams.ts";
import { type HeadJudge, type HeadVerdict, MessageParser } from "./llhttp.ts";
import { BULK_BYTES, dropBuffer, SHARED_BUFFER, takeBuffer } from "./read-buffers.ts";

/** Who is told of an answer. */
export interface AnswerTaker {
  readonly method: string;
  /** 1xx other than 101. */
  information(head: MessageParser, scan: ResponseScan): void;
  /** 101: what came behind the head is in bytes[from, to). The socket is the taker's from here on. */
  switched(head: MessageParser, scan: ResponseScan, first: Buffer): void;
  head(head: MessageParser, scan: ResponseScan, noBody: boolean): void;
  /**
   * Body parts of `bytes` (start, end, ...), which is reused after the call unless `owned`. `done`: the last.
   * Returns whether everything written so far is out; false: no reading until `resume`.
   */
  body(bytes: Buffer, parts: readonly number[], owned: boolean, done: boolean, message: MessageParser | null): boolean;
  /** The answer is over and taken; `reusable`: the connection may serve another request. */
  released(connection: UpstreamConnection, reusable: boolean): void;
  /** After `released`. */
  done(): void;
  failed(detail: string, responseBytes: boolean, malformed: boolean): void;
}

/** Takes an answer to compress it: it also says when reading goes on, and ends with the connection. */
export interface CodedAnswer extends AnswerTaker {
  resume(): void;
  stop(): void;
}

/** Who waits for a connection being made; exactly one of the two is called, unless it is destroyed before. */
export interface ConnectionWaiter {
  opened(connection: UpstreamConnection): void;
  connectFailed(failure: ConnectFailure, detail: string): void;
}

type Mode = "connecting" | "idle" | "head" | "counted" | "chunked" | "untilClose" | "tunnel";

const NO_PARTS: readonly number[] = [];

/** Parsers without a connection: every request that may write has a connection of its own, so they are made often. */
const spareParsers: MessageParser[] = [];
const MOST_SPARE_PARSERS = 256;

function takeParser(judge: HeadJudge): MessageParser {
  const parser = spareParsers.pop();
  if (parser === undefined) return new MessageParser("response", RESPONSE_HEADER_BYTES, judge);
  parser.restart(judge);
  return parser;
}

function giveParser(parser: MessageParser): void {
  if (spareParsers.length >= MOST_SPARE_PARSERS) parser.close();
  else {
    parser.rest();
    spareParsers.push(parser);
  }
}

export class UpstreamConnection implements HeadJudge {
  readonly upstream: Upstream;
  /** While connecting: monotonic ms at which that is given up. While idle: coarse monotonic ms until which it stays. */
  untilMs = 0;
  /** The list of idle ones it is in. */
  idleIn: UpstreamConnection[] | null = null;
  /** Seconds the upstream said it keeps an idle connection, or null. */
  idleS: number | null = null;
  /** The request went out whole. */
  requestSent = false;

  readonly socket: Socket;
  #waiter: ConnectionWaiter | null;
  #taker: AnswerTaker | null = null;
  #coded: CodedAnswer | null = null;
  #mode: Mode = "connecting";
  #remaining = 0;
  #parser: MessageParser | null = null;
  #scan: ResponseScan | null = null;
  #own: Buffer | null = null;
  #tunnel: ((chunk: Buffer) => void) | null = null;
  #answering = false;
  #over = false;
  readonly #parts: number[] = [0, 0];
  readonly #settled: (connection: UpstreamConnection) => void;

  /** Begins to connect. `settled`: called before the waiter, and when it is given up. */
  constructor(upstream: Upstream, waiter: ConnectionWaiter, settled: (connection: UpstreamConnection) => void) {
    this.upstream = upstream;
    this.#waiter = waiter;
    this.#settled = settled;
    const onread: OnReadOpts = {
      buffer: () => this.#own ?? SHARED_BUFFER,
      callback: (bytes, buffer) => this.#read(buffer as Buffer, bytes),
    };
    const { target } = upstream;
    this.socket =
      "socket" in target
        ? netConnect({ path: target.socket, onread })
        : netConnect({ host: target.host, port: target.port, noDelay: true, onread });
    this.socket.on("connect", () => this.#connected());
    this.socket.on("error", (error) => this.#lost(error.message));
    this.socket.on("end", () => this.#ended());
    this.socket.on("close", () => this.#lost("the upstream closed the connection"));
  }

  get isAlive(): boolean {
    return !this.#over && !this.socket.destroyed && this.socket.writable;
  }

  #connected(): void {
    const waiter = this.#waiter;
    if (waiter === null) return;
    this.#waiter = null;
    this.#mode = "idle";
    this.#settled(this);
    waiter.opened(this);
  }

  /** It took too long to connect. */
  timedOut(limitMs: number): void {
    const waiter = this.#waiter;
    this.destroy();
    waiter?.connectFailed("timedOut", `no connection within ${limitMs} ms`);
  }

  /** The next request begins. */
  begin(taker: AnswerTaker): void {
    this.#taker = taker;
    this.#coded = null;
    this.#mode = "head";
    this.#answering = false;
    this.requestSent = false;
    if (this.#parser === null) this.#parser = takeParser(this);
    else this.#parser.next();
  }

  /** After 101: where the bytes go. */
  tunnelTo(take: (chunk: Buffer) => void): void {
    this.#tunnel = take;
  }

  /** What follows the head just told goes to `coded`. */
  codeWith(coded: CodedAnswer): void {
    this.#taker = coded;
    this.#coded = coded;
  }

  /** The client takes more after its body function said `false`. */
  resume(): void {
    if (this.#coded === null) this.readOn();
    else this.#coded.resume();
  }

  readOn(): void {
    if (!this.socket.destroyed) this.socket.resume();
  }

  /** Ends it without telling anybody. */
  destroy(): void {
    this.#coded?.stop();
    this.#end();
  }

  /** Ends it before it has answered. */
  giveUp(detail: string): void {
    const taker = this.#taker;
    this.destroy();
    taker?.failed(detail, false, false);
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#waiter !== null) {
      this.#waiter = null;
      this.#settled(this);
    }
    this.#taker = null;
    this.#mode = "idle";
    const { idleIn } = this;
    if (idleIn !== null) {
      this.idleIn = null;
      const at = idleIn.indexOf(this);
      if (at >= 0) idleIn.splice(at, 1);
    }
    this.socket.destroy();
    this.#free();
  }

  #free(): void {
    if (this.#parser !== null) giveParser(this.#parser);
    this.#parser = null;
    // A write may still refer to the own buffer.
    if (this.#own !== null) dropBuffer(this.#own, false);
    this.#own = null;
  }

  /** In llhttp's callback: who frames the body. */
  judgeHead(): HeadVerdict {
    const parser = this.#parser;
    const taker = this.#taker;
    if (parser === null || taker === null) return "refuse";
    const scan = scanResponse(parser.status, parser.minor, parser);
    this.#scan = scan;
    if (!scan.ok || !isCleanReason(parser.text.substring(parser.lineStart, parser.lineEnd))) return "refuse";
    return scan.chunked && !hasNoBody(taker.method, parser.status) ? "parseBody" : "countBody";
  }

  #read(bytes: Buffer, length: number): boolean {
    const owned = bytes !== SHARED_BUFFER;
    let at = 0;
    while (at < length) {
      switch (this.#mode) {
        case "head": {
          const next = this.#readHead(bytes, at, length, owned);
          if (next === "wait") return true;
          if (next === "stop") return false;
          at = next;
          break;
        }
        case "counted": {
          const take = Math.min(this.#remaining, length - at);
          this.#remaining -= take;
          const flows = this.#pass(bytes, at, at + take, owned, this.#remaining === 0);
          at += take;
          if (this.#remaining === 0) return this.#finish(at === length, flows);
          if (!flows) return false;
          break;
        }
        case "untilClose": {
          const flows = this.#pass(bytes, at, length, owned, false);
          if (!owned && length >= BULK_BYTES) this.#readBulk();
          return flows;
        }
        case "chunked": {
          const parser = this.#parser;
          if (parser === null) return false;
          const state = parser.run(bytes, at, length);
          if (state === "failed" || state === "tooLarge") return this.#malformed(parser.failure);
          const done = state === "complete";
          const flows = this.#taker?.body(bytes, parser.body, owned, done, parser) ?? false;
          if (done) return this.#finish(parser.consumed === length, flows);
          if (!owned && length >= BULK_BYTES) this.#readBulk();
          return flows;
        }
        case "tunnel":
          this.#tunnel?.(Buffer.from(bytes.subarray(at, length)));
          return true;
        default:
          // Bytes nobody asked for: whatever they are, no later request may get them.
          this.#lost("the upstream sent bytes unasked");
          return false;
      }
    }
    return true;
  }

  #readHead(bytes: Buffer, from: number, to: number, owned: boolean): number | "wait" | "stop" {
    const parser = this.#parser;
    const taker = this.#taker;
    if (parser === null || taker === null) return "stop";
    this.#answering ||= to > from;
    const state = parser.run(bytes, from, to);
    if (state === "failed" || state === "tooLarge") {
      this.#malformed(state === "tooLarge" ? "its head is too large" : parser.failure);
      return "stop";
    }
    if (!parser.headDone) return "wait";
    const scan = this.#scan;
    if (scan === null) return "stop";
    const { status } = parser;
    if (status === 101) {
      this.#mode = "tunnel";
      this.#taker = null;
      const first = Buffer.from(bytes.subarray(parser.consumed, to));
      this.#parser = null;
      taker.switched(parser, scan, first);
      giveParser(parser);
      return "wait";
    }
    if (status < 200) {
      taker.information(parser, scan);
      const consumed = parser.consumed;
      if (this.#taker === null) return "stop";
      parser.next();
      return consumed;
    }
    const noBody = hasNoBody(taker.method, status);
    this.idleS = scan.idleS;
    taker.head(parser, scan, noBody);
    const body = this.#taker;
    if (body === null) return "stop";
    parser.forgetHead();
    if (noBody || scan.length === 0) {
      const flows = body.body(bytes, NO_PARTS, owned, true, null);
      return this.#finish(parser.consumed === to, flows) ? "wait" : "stop";
    }
    if (scan.chunked) {
      this.#mode = "chunked";
      const done = state === "complete";
      const flows = body.body(bytes, parser.body, owned, done, parser);
      if (done) return this.#finish(parser.consumed === to, flows) ? "wait" : "stop";
      return flows ? "wait" : "stop";
    }
    if (scan.length === null) {
      this.#mode = "untilClose";
    } else {
      this.#mode = "counted";
      this.#remaining = scan.length;
      if (scan.length > BULK_BYTES) this.#readBulk();
    }
    if (parser.consumed === to) body.body(bytes, NO_PARTS, owned, false, null);
    return parser.consumed;
  }

  #readBulk(): void {
    if (!this.#over) this.#own ??= takeBuffer();
  }

  #pass(bytes: Buffer, from: number, to: number, owned: boolean, done: boolean): boolean {
    this.#parts[0] = from;
    this.#parts[1] = to;
    return this.#taker?.body(bytes, this.#parts, owned, done, null) ?? false;
  }

  /** The answer is over. `exact`: nothing came behind it. `clean`: no write refers to our buffer. Reading goes on? */
  #finish(exact: boolean, clean: boolean): boolean {
    const taker = this.#taker;
    if (taker === null) return false;
    const scan = this.#scan;
    const reusable =
      exact && this.requestSent && scan?.keepAlive === true && this.isAlive && this.socket.writableLength === 0;
    this.#taker = null;
    this.#mode = "idle";
    if (this.#own !== null) dropBuffer(this.#own, clean);
    this.#own = null;
    if (!reusable) this.#end();
    taker.released(this, reusable);
    taker.done();
    return reusable;
  }

  #malformed(detail: string): false {
    const taker = this.#taker;
    this.destroy();
    taker?.failed(detail, true, true);
    return false;
  }

  #ended(): void {
    if (this.#mode === "untilClose" && this.#taker !== null) {
      this.#taker.body(SHARED_BUFFER, NO_PARTS, false, true, null);
      this.#finish(false, false);
      return;
    }
    if (this.#mode !== "tunnel") this.#lost("the upstream closed the connection");
  }

  #lost(detail: string): void {
    if (this.#mode === "tunnel" || this.#over) return;
    const waiter = this.#waiter;
    const taker = this.#taker;
    const answering = this.#answering;
    this.destroy();
    if (waiter !== null) waiter.connectFailed("refused", detail);
    else taker?.failed(detail, answering, false);
  }
}
