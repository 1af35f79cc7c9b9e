// One client connection on the fast path: llhttp frames its requests, one after the other, answered in order.
// Invariant: after a request that was refused nothing more is parsed; whatever was pipelined behind it stays unread.

import type { OnReadOpts, Socket } from "node:net";
import { type AnswerReason, answerFor, endsConnection, isFailure } from "../answers.ts";
import { believedChain, type ClientFacts, type ForwardingMemo } from "../core/forwarding.ts";
import { findValue, keptLines } from "../core/head-view.ts";
import { type RequestScan, scanRequest } from "../core/request-head.ts";
import { DRAIN_IDLE_MS, LINGER_MS, LINGER_SILENCE_MS, MOST_HELD, MOST_UNSENT } from "../limits.ts";
import type { TunnelEnd } from "../tunnel.ts";
import { BodyRate } from "./body-rate.ts";
import { Exchange } from "./exchange.ts";
import { type HeadJudge, type HeadVerdict, MessageParser } from "./llhttp.ts";
import { withOwnReads } from "./own-reads.ts";
import type { Client, NetEngineDeps, ServedConnection } from "./parties.ts";
import { BULK_BYTES, enterBulk, kept, leaveBulk, READ_BYTES, SHARED_BUFFER } from "./read-buffers.ts";

export class ClientConnection implements HeadJudge, Client, ServedConnection {
  readonly socket: Socket;
  readonly facts: ClientFacts;
  readonly forwarding: ForwardingMemo = { host: null, lines: "" };
  readonly hstsLine: string;
  /** Of the present request. */
  minor = 1;
  keepAlive = true;

  readonly #deps: NetEngineDeps;
  readonly #trusted: boolean;
  readonly #ownReads: boolean;
  /** Of its requests. */
  readonly parser: MessageParser;
  #state: "head" | "busy" | "closing" | "over" = "head";
  #scan: RequestScan | null = null;
  #method = "";
  #exchange: Exchange | null = null;
  /** Bytes not looked at yet. */
  #held: Buffer | null = null;
  #bulk = false;
  #tunnel: ((chunk: Buffer) => void) | null = null;
  /** Body parts of a chunk parsed before its upstream was there. */
  #heldBody: { readonly chunk: Buffer; readonly parts: readonly number[]; readonly done: boolean } | null = null;
  /** Body bytes still to come; null: chunked. */
  #bodyLeft: number | null = 0;
  #bodyOpen = false;
  #bodyFlows = false;
  readonly #bodyRate: BodyRate;
  #paused = false;
  #stalled = false;
  #advancing = false;
  /** Closing, and the answer is out: until when the rest of the request is dropped. */
  #lingerUntilMs = Number.POSITIVE_INFINITY;
  /** Coarse monotonic ms; Infinity: none. */
  #deadlineMs: number;

  /** `accepted` is not to be used any more: `socket` has taken its place. */
  constructor(deps: NetEngineDeps, accepted: Socket, facts: ClientFacts) {
    this.#deps = deps;
    this.facts = facts;
    this.hstsLine = deps.hsts !== null && facts.scheme === "https" ? `Strict-Transport-Security: ${deps.hsts}\r\n` : "";
    this.#trusted = deps.isTrusted(facts.address);
    this.#bodyRate = new BodyRate(deps.config.limits);
    this.parser = new MessageParser("request", deps.config.limits.headerBytes, this);
    this.#deadlineMs = deps.nowMs() + deps.config.limits.idleTimeoutMs;
    const own = facts.scheme === "http" ? withOwnReads(accepted, this.#reads()) : null;
    const socket = own ?? accepted;
    this.socket = socket;
    this.#ownReads = own !== null;
    if (own === null) socket.on("data", (chunk: Buffer) => this.#data(chunk, chunk.length, true));
    const gone = () => this.#gone();
    socket.on("end", gone);
    socket.on("error", gone);
    socket.on("close", gone);
  }

  // ---- reading

  #reads(): OnReadOpts {
    return {
      // A large body comes in buffers that go on to the upstream as they are, everything else in the shared one.
      buffer: () => (this.#bulk ? Buffer.allocUnsafeSlow(READ_BYTES) : SHARED_BUFFER),
      callback: (length, buffer) => {
        this.#data(buffer as Buffer, length, buffer !== SHARED_BUFFER);
        this.#readBulk(length >= BULK_BYTES && this.#bodyOpen && this.#state === "busy");
        return true;
      },
    };
  }

  #readBulk(wanted: boolean): void {
    if (wanted === this.#bulk || (wanted && !enterBulk())) return;
    this.#bulk = wanted;
    if (!wanted) leaveBulk();
  }

  /** chunk[0, length); reused after the call unless `owned`. */
  #data(chunk: Buffer, length: number, owned: boolean): void {
    switch (this.#state) {
      case "head":
        this.#parse(chunk, length, owned);
        return;
      case "busy":
        if (this.#bodyOpen && this.#bodyFlows && this.#held === null) this.#pumpBody(chunk, length, owned);
        else this.#hold(chunk, 0, length, owned);
        return;
      case "closing":
        if (this.#lingerUntilMs < Number.POSITIVE_INFINITY)
          this.#deadlineMs = Math.min(this.#lingerUntilMs, this.#deps.nowMs() + LINGER_SILENCE_MS);
        return;
      default:
        this.#tunnel?.(kept(chunk, 0, length, owned));
    }
  }

  /** Keeps chunk[from, to) for later, when there is anything. */
  #hold(chunk: Buffer, from: number, to: number, owned: boolean): void {
    if (from === to) return;
    const bytes = kept(chunk, from, to, owned);
    this.#held = this.#held === null ? bytes : Buffer.concat([this.#held, bytes]);
    if (this.#held.length > MOST_HELD) this.#pause();
  }

  #pause(): void {
    this.#paused = true;
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    this.socket.pause();
  }

  #unpause(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.socket.resume();
  }

  /** In llhttp's callback. */
  judgeHead(): HeadVerdict {
    const parser = this.parser;
    const { text, lineStart, lineEnd } = parser;
    // llhttp passes over empty lines before the method and further spaces behind it.
    this.#method = text.substring(0, lineStart).trim();
    this.minor = parser.minor;
    const line = {
      method: this.#method,
      target: text.substring(lineStart, lineEnd),
      major: parser.major,
      minor: this.minor,
    };
    const scan = scanRequest(line, parser, this.#trusted);
    if (scan.forwardedFor !== "") scan.forwardedFor = believedChain(scan.forwardedFor, this.#deps.isTrusted);
    this.#scan = scan;
    this.keepAlive = scan.keepAlive;
    // llhttp frames no body behind an upgrade, also one we do not follow.
    if (scan.refusal === null && parser.isUpgrade && scan.bodyBytes === null) scan.refusal = "badRequest";
    if (scan.refusal !== null) return "refuse";
    return scan.bodyBytes === null ? "parseBody" : "countBody";
  }

  #parse(chunk: Buffer, length: number, owned: boolean): void {
    const parser = this.parser;
    const wasInHead = parser.inHead;
    const state = parser.run(chunk, 0, length);
    if (state === "failed" || state === "tooLarge") {
      this.#refuse(state === "tooLarge" ? "headerTooLarge" : (this.#scan?.refusal ?? "badRequest"));
      return;
    }
    if (!parser.headDone) {
      if (!wasInHead) this.#deadlineMs = this.#deps.nowMs() + this.#deps.config.limits.headerTimeoutMs;
      return;
    }
    const scan = this.#scan;
    if (scan === null) return;
    this.#state = "busy";
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    const { consumed } = parser;
    if (scan.bodyBytes === null) {
      const done = state === "complete";
      this.#bodyLeft = null;
      this.#bodyOpen = true;
      this.#heldBody = { chunk: kept(chunk, 0, length, owned), parts: parser.body.slice(), done };
    } else {
      this.#bodyLeft = scan.bodyBytes;
      this.#bodyOpen = scan.bodyBytes > 0;
    }
    this.#bodyFlows = false;
    this.#hold(chunk, consumed, length, owned);
    const target = parser.text.substring(parser.lineStart, parser.lineEnd);
    const exchange = new Exchange(this.#deps, this, this.#method, target, scan, keptLines(parser, scan.dropped));
    this.#exchange = exchange;
    exchange.start();
  }

  /** The upstream takes body bytes now: those held first, then those to come. */
  bodyMayFlow(exchange: object): void {
    if (exchange !== this.#exchange || this.#state !== "busy") return;
    this.#bodyFlows = true;
    if (this.#bodyOpen) this.#deadlineMs = this.#bodyRate.begin(this.#deps.nowMs());
    const held = this.#heldBody;
    if (held !== null) {
      this.#heldBody = null;
      this.#passBody(held.chunk, held.parts, true, held.done);
    }
    if (this.#bodyOpen && this.#bodyFlows && this.#held !== null) {
      const bytes = this.#held;
      this.#held = null;
      this.#pumpBody(bytes, bytes.length, true);
    }
    if (this.#bodyFlows || this.#held === null) this.#unpause();
  }

  #pumpBody(chunk: Buffer, length: number, owned: boolean): void {
    if (this.#bodyLeft !== null) {
      const take = Math.min(this.#bodyLeft, length);
      this.#bodyLeft -= take;
      this.#hold(chunk, take, length, owned);
      this.#passBody(chunk, [0, take], owned, this.#bodyLeft === 0);
      return;
    }
    const parser = this.parser;
    const state = parser.run(chunk, 0, length);
    if (state === "failed" || state === "tooLarge") {
      this.#bodyOpen = true;
      this.#exchange?.requestFailed("badRequest");
      return;
    }
    this.#hold(chunk, parser.consumed, length, owned);
    this.#passBody(chunk, parser.body, owned, state === "complete");
  }

  #passBody(chunk: Buffer, parts: readonly number[], owned: boolean, done: boolean): void {
    if (done) this.#bodyOpen = false;
    const exchange = this.#exchange;
    const flows = exchange?.requestBody(chunk, parts, owned, done, this.parser) ?? true;
    // The exchange may have ended in there.
    if (this.#exchange !== exchange || this.#state !== "busy") return;
    this.#deadlineMs = done ? Number.POSITIVE_INFINITY : this.#bodyRate.came(parts, this.#deps.nowMs());
    if (!flows && !done) {
      this.#bodyFlows = false;
      this.#pause();
    }
  }

  // ---- answering

  /** The Connection line of the answer under way; decides whether the connection lives on. */
  connectionLine(): string {
    if (!this.keepAlive || this.#deps.isDraining()) {
      this.keepAlive = false;
      return "Connection: close\r\n";
    }
    return this.minor === 0 ? "Connection: keep-alive\r\n" : "";
  }

  write(text: string): void {
    if (text !== "" && this.socket.writable) this.socket.write(text, "latin1");
  }

  /** The proxy's own answer to the present request; returns its status. */
  ownAnswer(reason: AnswerReason, exchange: { readonly requestId: string } | null, retryAfterS?: number): number {
    const { counters } = this.#deps;
    if (isFailure(reason)) counters.failures++;
    else counters.refuse(reason);
    const parser = this.parser;
    const seen = parser.headDone ? parser : null;
    const answer = answerFor(reason, {
      accept: seen === null ? null : findValue(seen, "accept"),
      acceptLanguage: seen === null ? null : findValue(seen, "accept-language"),
      requestId: exchange?.requestId ?? null,
      ...(retryAfterS === undefined ? {} : { retryAfterS }),
    });
    if (endsConnection(reason) || this.#bodyOpen) this.keepAlive = false;
    let head = `HTTP/1.1 ${answer.status} ${answer.phrase}\r\n`;
    for (let at = 0; at < answer.headers.length; at += 2)
      head += `${answer.headers[at]}: ${answer.headers[at + 1]}\r\n`;
    head += `${this.hstsLine}${this.connectionLine()}\r\n`;
    const body = this.#method === "HEAD" && this.#scan !== null ? "" : answer.body.toString("latin1");
    this.write(head + body);
    this.answered(this.#bodyOpen);
    return answer.status;
  }

  #refuse(reason: AnswerReason): void {
    this.#state = "busy";
    this.#bodyOpen = true;
    this.ownAnswer(reason, null);
  }

  /** The answer is with the socket. `bodyOpen`: part of the request is still unread. */
  answered(bodyOpen: boolean): void {
    this.#exchange = null;
    this.#heldBody = null;
    if (this.#state === "over") return;
    if (!this.keepAlive || bodyOpen || this.#bodyOpen || this.#deps.isDraining()) {
      this.#close();
      return;
    }
    this.#state = "head";
    this.#scan = null;
    this.parser.next();
    this.#deadlineMs = this.#deps.nowMs() + this.#deps.config.limits.idleTimeoutMs;
    if (this.#held !== null) this.#advance();
    else this.#unpause();
  }

  /** Takes the next pipelined request; a loop, so that many short ones do not nest. */
  #advance(): void {
    if (this.#advancing) return;
    this.#advancing = true;
    while (this.#state === "head" && this.#held !== null) {
      if (this.socket.writableLength > MOST_UNSENT) {
        this.socket.once("drain", () => this.#advance());
        break;
      }
      const bytes = this.#held;
      this.#held = null;
      this.#parse(bytes, bytes.length, true);
    }
    this.#advancing = false;
    if (this.#held === null || this.#held.length <= MOST_HELD) this.#unpause();
  }

  // ---- endings

  /** No further request; what still arrives is dropped for a moment, so that the answer can be read. */
  #close(): void {
    this.#state = "closing";
    this.#held = null;
    this.#deadlineMs = this.#deps.nowMs() + this.#deps.config.limits.idleTimeoutMs;
    this.socket.once("finish", () => {
      if (this.#state !== "closing") return;
      this.#lingerUntilMs = this.#deps.nowMs() + LINGER_MS;
      this.#deadlineMs = this.#deps.nowMs() + LINGER_SILENCE_MS;
    });
    this.socket.end();
    this.#unpause();
  }

  #gone(): void {
    if (this.#state === "over") return;
    const exchange = this.#exchange;
    const wasClosing = this.#state === "closing" && !this.socket.writableFinished && !this.socket.destroyed;
    if (wasClosing) return;
    this.#leave();
    exchange?.clientGone();
    this.socket.destroy();
  }

  destroy(): void {
    const exchange = this.#exchange;
    this.#leave();
    exchange?.clientGone();
    this.socket.destroy();
  }

  #leave(): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#exchange = null;
    this.#held = null;
    this.#heldBody = null;
    this.#readBulk(false);
    this.parser.close();
    this.#deps.left(this);
  }

  /** Hands the socket over to a tunnel, with the bytes that came behind the request. */
  becomeTunnel(): TunnelEnd {
    const first = this.#held;
    this.socket.removeAllListeners("data").removeAllListeners("end").removeAllListeners("error");
    this.#leave();
    const data = (take: (chunk: Buffer) => void) => {
      this.#tunnel = take;
    };
    return { socket: this.socket, first, data: this.#ownReads ? data : null };
  }

  /**
   * Draining: a busy connection ends with its answer, an idle one soon. Not now: the first request of a connection just
   * accepted, or the next one of a busy client, may be on its way; it is answered with `Connection: close`.
   */
  drain(): void {
    if (this.#state !== "head" || this.parser.inHead) return;
    this.#deadlineMs = Math.min(this.#deadlineMs, this.#deps.nowMs() + DRAIN_IDLE_MS);
  }

  /** The client does not take its answer (true), or does again. */
  stalledSince(stalled: boolean): void {
    this.#stalled = stalled;
    if (stalled) this.#deadlineMs = this.#deps.nowMs() + this.#deps.config.limits.idleTimeoutMs;
    else if (this.#state === "busy") this.#deadlineMs = Number.POSITIVE_INFINITY;
  }

  /** Called by the sweep. `now`: coarse monotonic ms. */
  checkDeadline(now: number): void {
    if (now < this.#deadlineMs) return;
    if (this.#state === "head" && this.parser.inHead) this.#refuse("headersTooSlow");
    else if (this.#state === "busy" && this.#bodyOpen && !this.#stalled && this.#exchange !== null)
      this.#exchange.requestFailed("headersTooSlow");
    else this.destroy();
  }
}
