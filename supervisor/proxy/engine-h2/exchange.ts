// One stream of an HTTP/2 connection: its request goes to an upstream over HTTP/1.1, as every other one does.
// Invariant: the client's body is read only once the upstream is connected, and one that broke off never looks whole.

import { constants, type ServerHttp2Stream } from "node:http2";
import { type AnswerContext, type AnswerReason, isFailure } from "../answers.ts";
import { forwardingLines, requestIdOf } from "../core/forwarding.ts";
import { findValue, keptLines } from "../core/head-view.ts";
import { type ListedHead, listOfHead, trailersOfList } from "../core/http2-head.ts";
import type { RequestScan } from "../core/request-head.ts";
import { droppedTrailers, type ResponseScan } from "../core/response-head.ts";
import type { ConnectFailure } from "../core/retry-table.ts";
import { hostName, pathOf } from "../core/route-match.ts";
import { type Attempting, Dispatch } from "../dispatch.ts";
import { BodyRate } from "../engine-net/body-rate.ts";
import type { MessageParser } from "../engine-net/llhttp.ts";
import type { Client, NetEngineDeps } from "../engine-net/parties.ts";
import type { AnswerTaker, ConnectionWaiter, UpstreamConnection } from "../engine-net/upstream-connection.ts";
import { lengthOf, NOTHING, writeParts } from "../engine-net/wire.ts";
import { EXPECT_MS, UPSTREAM_BACKLOG } from "../limits.ts";
import type { MovableStream, Upstream } from "../upstreams.ts";
import { answerList, copyOf, giveOwnAnswer, inform, respond } from "./answer.ts";

const { NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR } = constants;
const NEVER = Number.POSITIVE_INFINITY;

/** A stream's head, judged. */
export type StreamRequest = ListedHead & { readonly scan: RequestScan };

export class StreamExchange implements Attempting, AnswerTaker, ConnectionWaiter, MovableStream {
  readonly method: string;
  readonly target: string;
  readonly requestId: string;
  readonly host: string;
  status = 0;
  bytesIn = 0;
  bytesOut = 0;
  /** The client left before it had its answer. */
  wasBrokenOff = false;

  readonly #deps: NetEngineDeps;
  readonly #client: Pick<Client, "facts" | "forwarding">;
  readonly #stream: ServerHttp2Stream;
  readonly #scan: RequestScan;
  readonly dispatch: Dispatch;
  readonly #bodyRate: BodyRate;
  readonly #asker: AnswerContext;
  #head: string;
  #trailers = "";
  #connection: UpstreamConnection | null = null;
  #reused = false;
  #connecting: UpstreamConnection | null = null;
  /** An answer's head that goes out with its first body bytes. */
  #answerHead: string[] | null = null;
  #answering = false;
  #hasTrailers = false;
  #answerTrailers: string[] = [];
  #over = false;
  /** Part of the request's body is still to come. */
  #bodyOpen: boolean;
  #bodyFlows = false;
  #stalled = false;
  #expecting: (() => void) | null = null;
  /** Coarse monotonic ms. */
  #deadlineMs = NEVER;

  constructor(
    deps: NetEngineDeps,
    client: Pick<Client, "facts" | "forwarding">,
    stream: ServerHttp2Stream,
    { method, target, view, scan }: StreamRequest,
  ) {
    this.#deps = deps;
    this.#client = client;
    this.#stream = stream;
    this.#scan = scan;
    this.method = method;
    this.target = target;
    this.host = scan.host;
    this.#bodyRate = new BodyRate(deps.config.limits);
    this.#bodyOpen = scan.bodyBytes !== 0;
    this.requestId = requestIdOf(scan, deps.newRequestId);
    this.#asker = {
      accept: findValue(view, "accept"),
      acceptLanguage: findValue(view, "accept-language"),
      requestId: this.requestId,
    };
    const framing = scan.bodyBytes === null ? "Transfer-Encoding: chunked\r\n" : "";
    const forwarding = forwardingLines(client.facts, scan, this.requestId, client.forwarding);
    this.#head = `${method} ${target} HTTP/1.1\r\n${keptLines(view, scan.dropped)}${forwarding}${deps.traceLine(scan, this.requestId)}${framing}Connection: keep-alive\r\n\r\n`;
    this.dispatch = new Dispatch(
      deps.dispatch,
      {
        method,
        host: hostName(scan.host),
        path: pathOf(target),
        requestId: this.requestId,
        bodyBytes: scan.bodyBytes,
        head: () => this.#head,
      },
      this,
    );
    // They may come before the upstream is there.
    if (scan.bodyBytes === null)
      stream.on("trailers", (_headers, _flags, list?: readonly string[]) => this.#keepTrailers(list ?? []));
    stream.on("close", () => this.#closed());
    if (!this.#bodyOpen) stream.resume();
  }

  start(): void {
    this.dispatch.start();
  }

  attempt(upstream: Upstream, mayReuse: boolean): void {
    const idle = mayReuse ? this.#deps.pool.take(upstream) : null;
    if (idle !== null) this.#send(idle, true);
    else this.#connecting = this.#deps.pool.open(upstream, this);
  }

  opened(connection: UpstreamConnection): void {
    this.#connecting = null;
    this.dispatch.connected();
    this.#send(connection, false);
  }

  connectFailed(failure: ConnectFailure, detail: string): void {
    this.#connecting = null;
    this.dispatch.connectFailed(failure, detail);
  }

  answer(reason: AnswerReason, retryAfterS?: number): void {
    this.#dropUpstream();
    if (this.#answering) {
      this.cut();
      return;
    }
    const { counters, hsts } = this.#deps;
    if (isFailure(reason)) counters.failures++;
    else counters.refuse(reason);
    const context = { ...this.#asker, ...(retryAfterS === undefined ? {} : { retryAfterS }) };
    this.status = giveOwnAnswer(this.#stream, reason, context, { hsts, isHead: this.method === "HEAD" });
    this.#finish();
  }

  giveUp(detail: string): void {
    this.#connection?.giveUp(detail);
  }

  cut(): void {
    this.#dropUpstream();
    this.#over = true;
    this.#deps.record(this, this.#client);
    this.#stream.close(NGHTTP2_INTERNAL_ERROR);
  }

  #send(connection: UpstreamConnection, reused: boolean): void {
    this.#connection = connection;
    this.#reused = reused;
    connection.begin(this);
    connection.socket.write(this.#head, "latin1");
    if (this.#scan.bodyBytes === 0) {
      connection.requestSent = true;
      return;
    }
    if (this.#scan.expectContinue) this.#expecting = this.#deps.clock.after(EXPECT_MS, () => this.#stopExpecting());
    else this.#bodyMayFlow();
  }

  #stopExpecting(): void {
    if (this.#expecting === null) return;
    this.#expecting();
    this.#expecting = null;
    this.#bodyMayFlow();
  }

  #bodyMayFlow(): void {
    if (this.#over || !this.#bodyOpen) return;
    this.#deadlineMs = this.#bodyRate.begin(this.#deps.nowMs());
    const stream = this.#stream;
    if (this.#bodyFlows) {
      stream.resume();
      return;
    }
    this.#bodyFlows = true;
    stream.on("data", (chunk: Buffer) => this.#requestBody(chunk));
    stream.on("end", () => this.#requestEnd());
  }

  #requestBody(chunk: Buffer): void {
    const connection = this.#connection;
    if (connection === null || this.#over) return;
    const { length } = chunk;
    const parts = [0, length];
    this.bytesIn += length;
    connection.upstream.tally.bytesIn += length;
    if (this.bytesIn > this.dispatch.bodyLimit) {
      this.dispatch.refused();
      this.answer("bodyTooLarge");
      return;
    }
    this.#deadlineMs = this.#bodyRate.came(parts, this.#deps.nowMs());
    const { socket } = connection;
    writeParts(socket, "", { bytes: chunk, parts, length, owned: true }, this.#scan.bodyBytes === null, "");
    if (socket.writableLength <= UPSTREAM_BACKLOG) return;
    this.#stream.pause();
    this.#deadlineMs = NEVER;
    socket.write(NOTHING, () => {
      if (this.#connection === connection) this.#bodyMayFlow();
    });
  }

  /** Also where a stream was reset: only what its client ended itself is a whole body. */
  #requestEnd(): void {
    const connection = this.#connection;
    const { bodyBytes } = this.#scan;
    if (connection === null || this.#over || this.#stream.state.remoteClose !== 1) return;
    if (bodyBytes !== null && bodyBytes !== this.bytesIn) {
      this.#requestFailed("badRequest");
      return;
    }
    this.#bodyOpen = false;
    this.#deadlineMs = NEVER;
    connection.requestSent = true;
    if (bodyBytes === null) connection.socket.write(`0\r\n${this.#trailers}\r\n`, "latin1");
  }

  #keepTrailers(list: readonly string[]): void {
    const view = trailersOfList(list);
    if (view === null) this.#requestFailed("badRequest");
    else this.#trailers = keptLines(view, droppedTrailers(view));
  }

  // ---- the answer's way

  information(head: MessageParser, scan: ResponseScan): void {
    const { status } = head;
    if (status === 100 && this.#expecting === null) return;
    inform(this.#stream, status, status === 100 ? [] : listOfHead(head, scan.dropped));
    if (status === 100) this.#stopExpecting();
  }

  head(head: MessageParser, came: ResponseScan, noBody: boolean): void {
    if (this.dispatch.asksOld(head.status)) return;
    const scan = this.#deps.compress?.(this, this.#connection, head, came, this.#head) ?? came;
    this.status = head.status;
    this.dispatch.status(head.status);
    this.#expecting?.();
    this.#expecting = null;
    this.#answerHead = answerList(head, scan, {
      requestId: this.requestId,
      hsts: this.#deps.hsts,
      cookieLine: this.dispatch.cookieLine,
    });
    this.#answering = true;
    this.#hasTrailers = scan.chunked && !noBody;
    // From here on it is sent to nobody else.
    this.#head = "";
    if (scan.eventStream && !noBody) this.dispatch.becameStream(this);
  }

  body(
    bytes: Buffer,
    parts: readonly number[],
    _owned: boolean,
    done: boolean,
    message: MessageParser | null,
  ): boolean {
    const connection = this.#connection;
    if (this.#over || connection === null) return true;
    const length = lengthOf(parts);
    this.bytesOut += length;
    connection.upstream.tally.bytesOut += length;
    const trailers = done ? (message?.trailers ?? null) : null;
    if (trailers !== null) this.#answerTrailers = listOfHead(trailers, droppedTrailers(trailers));
    const stream = this.#stream;
    const head = this.#answerHead;
    if (head !== null) {
      this.#answerHead = null;
      const isWhole = done && length === 0 && this.#answerTrailers.length === 0;
      if (!respond(stream, head, isWhole, this.#hasTrailers && !isWhole ? () => this.#answerTrailers : null)) {
        this.#dropUpstream();
        this.#answering = false;
        this.failed("its head cannot be said in HTTP/2", true, true);
        return true;
      }
      if (isWhole) return true;
    }
    const copy = length === 0 ? null : copyOf(bytes, parts, length);
    if (done) {
      if (copy === null) stream.end();
      else stream.end(copy);
      return true;
    }
    if (copy === null || stream.write(copy)) return true;
    this.#stall(true);
    stream.once("drain", () => {
      this.#stall(false);
      if (this.#connection === connection) connection.resume();
    });
    return false;
  }

  /** The client does not take its answer (true), or does again. */
  #stall(stalled: boolean): void {
    if (this.#over) return;
    this.#stalled = stalled;
    this.#deadlineMs = stalled ? this.#deps.nowMs() + this.#deps.config.limits.idleTimeoutMs : NEVER;
  }

  released(connection: UpstreamConnection, reusable: boolean): void {
    if (!reusable) return;
    // An upstream that took no notice of a body takes it for the next request: nobody else's comes behind it (CL.0).
    if (this.#scan.bodyBytes === 0) this.#deps.pool.give(connection, this.#deps.nowMs());
    else connection.destroy();
  }

  done(): void {
    if (this.#over) return;
    this.#connection = null;
    this.dispatch.answered();
    this.#finish();
  }

  failed(detail: string, responseBytes: boolean, malformed: boolean): void {
    this.#connection = null;
    this.#expecting?.();
    this.#expecting = null;
    this.dispatch.failed({
      stage: this.#answering ? "answering" : "sent",
      reused: this.#reused,
      responseBytes,
      malformed,
      detail,
    });
  }

  switched(): void {
    const socket = this.#connection?.socket;
    this.failed("it switched protocols unasked", true, true);
    socket?.destroy();
  }

  /** The answer is with the stream, which has the idle time to be taken. What is left of the body is not read. */
  #finish(): void {
    this.#over = true;
    this.#deps.record(this, this.#client);
    this.#deadlineMs = this.#deps.nowMs() + this.#deps.config.limits.idleTimeoutMs;
    const stream = this.#stream;
    if (!this.#bodyOpen || stream.destroyed) return;
    if (stream.writableFinished) stream.close(NGHTTP2_NO_ERROR);
    else stream.once("finish", () => stream.close(NGHTTP2_NO_ERROR));
  }

  #requestFailed(reason: "badRequest" | "headersTooSlow"): void {
    if (this.#over) return;
    this.dispatch.refused();
    this.answer(reason);
  }

  /** The stream is over; before its answer was: the upstream's request is aborted. */
  #closed(): void {
    if (this.#over) return;
    this.#over = true;
    this.wasBrokenOff = true;
    this.dispatch.cancel();
    this.#dropUpstream();
    this.#deps.record(this, this.#client);
  }

  /** Ends an event stream where it stands, politely. */
  move(): void {
    if (this.#over) return;
    this.#dropUpstream();
    const head = this.#answerHead;
    this.#answerHead = null;
    if (head === null || respond(this.#stream, head, false, null)) this.#stream.end();
    this.dispatch.cancel();
    this.#finish();
  }

  #dropUpstream(): void {
    this.#connecting?.destroy();
    this.#connecting = null;
    this.#expecting?.();
    this.#expecting = null;
    this.#connection?.destroy();
    this.#connection = null;
  }

  /** Called by the sweep. `now`: coarse monotonic ms. */
  checkDeadline(now: number): void {
    if (now < this.#deadlineMs) return;
    this.#deadlineMs = NEVER;
    if (!this.#over && !this.#stalled && this.#bodyOpen) this.#requestFailed("headersTooSlow");
    else {
      // Destroyed as well: a client that reads nothing would never let the reset out.
      this.#stream.close(NGHTTP2_INTERNAL_ERROR);
      this.#stream.destroy();
    }
  }
}
