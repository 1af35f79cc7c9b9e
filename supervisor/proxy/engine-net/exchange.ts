// One request and its answer on the fast path. It is what Dispatch drives and what the upstream's answer goes to.
// Invariant: the client's body is read only once the upstream is connected, so nothing is kept for a retry.

import type { AnswerReason } from "../answers.ts";
import { forwardingLines, linesOf, requestIdOf } from "../core/forwarding.ts";
import { keptLines } from "../core/head-view.ts";
import type { RequestScan } from "../core/request-head.ts";
import type { ResponseScan } from "../core/response-head.ts";
import type { ConnectFailure } from "../core/retry-table.ts";
import { hostName, pathOf } from "../core/route-match.ts";
import { type Attempting, Dispatch, type RequestFacts } from "../dispatch.ts";
import { EXPECT_MS, UPSTREAM_BACKLOG } from "../limits.ts";
import { openTunnel, switchingHead } from "../tunnel.ts";
import type { MovableStream, Upstream } from "../upstreams.ts";
import type { MessageParser } from "./llhttp.ts";
import type { Client, NetEngineDeps } from "./parties.ts";
import { detached } from "./read-buffers.ts";
import type { AnswerTaker, ConnectionWaiter, UpstreamConnection } from "./upstream-connection.ts";
import { lastChunk, lengthOf, NOTHING, statusLine, writeParts } from "./wire.ts";

export class Exchange implements Attempting, AnswerTaker, ConnectionWaiter, MovableStream {
  readonly method: string;
  target: string;
  requestId: string;
  status = 0;
  bytesIn = 0;
  bytesOut = 0;

  readonly #deps: NetEngineDeps;
  readonly #client: Client;
  readonly #scan: RequestScan;
  #head: string;
  readonly #facts: { -readonly [Fact in keyof RequestFacts]: RequestFacts[Fact] };
  readonly #dispatch: Dispatch;
  #connection: UpstreamConnection | null = null;
  #reused = false;
  #connecting: UpstreamConnection | null = null;
  /** The head is with the client. */
  #answering = false;
  #chunkedOut = false;
  #over = false;
  #bodyOpen = false;
  #expecting: (() => void) | null = null;
  /** Heads that go out with the first body bytes. */
  #requestHead = "";
  #answerHead = "";

  constructor(deps: NetEngineDeps, client: Client, method: string, target: string, scan: RequestScan, kept: string) {
    this.#deps = deps;
    this.#client = client;
    this.#scan = scan;
    this.method = method;
    this.target = target;
    this.requestId = requestIdOf(scan, deps.newRequestId);
    const forwarding = forwardingLines(client.facts, scan, this.requestId, client.forwarding);
    let head = `${method} ${target} HTTP/1.1\r\n${kept}${forwarding}`;
    head += deps.traceLine(scan, this.requestId);
    if (scan.bodyBytes === null) head += "Transfer-Encoding: chunked\r\n";
    head +=
      scan.upgrade === null
        ? "Connection: keep-alive\r\n\r\n"
        : `Connection: Upgrade\r\nUpgrade: ${scan.upgrade}\r\n\r\n`;
    this.#head = head;
    this.#facts = {
      method,
      host: hostName(scan.host),
      path: pathOf(target),
      requestId: this.requestId,
      bodyBytes: scan.bodyBytes,
      head: () => this.#head,
    };
    this.#dispatch = new Dispatch(deps.dispatch, this.#facts, this);
  }

  get host(): string {
    return this.#scan.host;
  }

  get dispatch(): Dispatch {
    return this.#dispatch;
  }

  start(): void {
    this.#dispatch.start();
  }

  // ---- what Dispatch asks for

  attempt(upstream: Upstream, mayReuse: boolean): void {
    const idle = mayReuse && this.#scan.upgrade === null ? this.#deps.pool.take(upstream) : null;
    if (idle !== null) this.#send(idle, true);
    else this.#connecting = this.#deps.pool.open(upstream, this);
  }

  opened(connection: UpstreamConnection): void {
    this.#connecting = null;
    this.#dispatch.connected();
    this.#send(connection, false);
  }

  connectFailed(failure: ConnectFailure, detail: string): void {
    this.#connecting = null;
    this.#dispatch.connectFailed(failure, detail);
  }

  answer(reason: AnswerReason, retryAfterS?: number): void {
    this.#dropUpstream();
    if (this.#answering) {
      this.cut();
      return;
    }
    this.#over = true;
    this.status = this.#client.ownAnswer(reason, this, retryAfterS);
    this.#deps.record(this, this.#client);
  }

  giveUp(detail: string): void {
    this.#connection?.giveUp(detail);
  }

  cut(): void {
    this.#dropUpstream();
    this.#over = true;
    this.#deps.record(this, this.#client);
    this.#client.destroy();
  }

  // ---- the request's way

  #send(connection: UpstreamConnection, reused: boolean): void {
    this.#connection = connection;
    this.#reused = reused;
    connection.begin(this);
    if (this.#scan.bodyBytes === 0) {
      connection.requestSent = true;
      connection.socket.write(this.#head, "latin1");
      return;
    }
    this.#requestHead = this.#head;
    this.#bodyOpen = true;
    if (this.#scan.expectContinue) {
      this.#flushHead();
      this.#expecting = this.#deps.clock.after(EXPECT_MS, () => this.#stopExpecting());
      return;
    }
    this.#client.bodyMayFlow(this);
    this.#flushHead();
  }

  #flushHead(): void {
    if (this.#requestHead === "" || this.#connection === null) return;
    const head = this.#requestHead;
    this.#requestHead = "";
    this.#connection.socket.write(head, "latin1");
  }

  #stopExpecting(): void {
    if (this.#expecting === null) return;
    this.#expecting();
    this.#expecting = null;
    this.#client.bodyMayFlow(this);
  }

  /**
   * Body parts of `chunk` from the client (start, end, ...), which is reused after the call unless `owned`.
   * Returns false when the client is to be paused until `bodyMayFlow` of the client is called again.
   */
  requestBody(
    chunk: Buffer,
    parts: readonly number[],
    owned: boolean,
    done: boolean,
    message: MessageParser | null,
  ): boolean {
    const connection = this.#connection;
    if (connection === null || this.#over || !this.#bodyOpen) return true;
    const length = lengthOf(parts);
    this.bytesIn += length;
    connection.upstream.tally.bytesIn += length;
    if (this.bytesIn > this.#dispatch.bodyLimit) {
      this.#dispatch.refused();
      this.answer("bodyTooLarge");
      return true;
    }
    const { socket } = connection;
    const chunked = this.#scan.bodyBytes === null;
    const head = this.#requestHead;
    this.#requestHead = "";
    if (done) {
      this.#bodyOpen = false;
      connection.requestSent = true;
    }
    const tail = chunked && done ? lastChunk(message) : "";
    writeParts(socket, head, { bytes: chunk, parts, length, owned }, chunked, tail);
    if (done || socket.writableLength <= UPSTREAM_BACKLOG) return true;
    socket.write(NOTHING, () => {
      if (!this.#over && this.#connection === connection) this.#client.bodyMayFlow(this);
    });
    return false;
  }

  // ---- the answer's way

  information(head: MessageParser, scan: ResponseScan): void {
    if (head.status === 100) {
      if (this.#expecting !== null) {
        this.#client.write("HTTP/1.1 100 Continue\r\n\r\n");
        this.#stopExpecting();
      }
      return;
    }
    if (this.#scan.keepAlive || this.#client.minor === 1) {
      this.#client.write(`${statusLine(head)}${keptLines(head, scan.dropped)}\r\n`);
    }
  }

  head(head: MessageParser, came: ResponseScan, noBody: boolean): void {
    const { status } = head;
    if (this.#dispatch.asksOld(status)) return;
    const scan = this.#deps.compress?.(this, this.#connection, head, came, this.#head) ?? came;
    this.status = status;
    this.#dispatch.status(status);
    this.#expecting?.();
    this.#expecting = null;
    const client = this.#client;
    const isNew = client.minor === 1;
    let text = statusLine(head) + keptLines(head, scan.dropped);
    if (scan.added.length > 0) text += linesOf(scan.added);
    if (!scan.hasRequestId) text += `X-Request-Id: ${this.requestId}\r\n`;
    if (!scan.hasHsts) text += client.hstsLine;
    text += this.#dispatch.cookieLine;
    const undeclared = scan.length === null;
    if (undeclared && (!noBody || (scan.chunked && this.method === "HEAD" && isNew))) {
      if (isNew) text += "Transfer-Encoding: chunked\r\n";
      else client.keepAlive = false;
    }
    this.#chunkedOut = undeclared && !noBody && isNew;
    if (this.#bodyOpen || this.#scan.upgrade !== null) client.keepAlive = false;
    text += client.connectionLine();
    this.#answering = true;
    this.#answerHead = `${text}\r\n`;
    // From here on it is sent to nobody else.
    this.#head = "";
    client.parser.forgetHead();
    if (scan.eventStream && !noBody) {
      this.#shrink();
      this.#dispatch.becameStream(this);
    }
  }

  /** A stream lives long and is not sent again: of its head only what the access log tells is kept. */
  #shrink(): void {
    this.target = detached(this.target);
    this.requestId = detached(this.requestId);
    this.#scan.host = detached(this.#scan.host);
    this.#facts.requestId = this.requestId;
    this.#facts.host = "";
    this.#facts.path = "";
  }

  body(bytes: Buffer, parts: readonly number[], owned: boolean, done: boolean, message: MessageParser | null): boolean {
    const length = lengthOf(parts);
    const connection = this.#connection;
    if (this.#over || connection === null) return true;
    this.bytesOut += length;
    connection.upstream.tally.bytesOut += length;
    const { socket } = this.#client;
    const head = this.#answerHead;
    this.#answerHead = "";
    const tail = done && this.#chunkedOut ? lastChunk(message) : "";
    writeParts(socket, head, { bytes, parts, length, owned }, this.#chunkedOut, tail);
    const isOut = socket.writableLength === 0;
    if (!isOut && !done) {
      this.#client.stalledSince(true);
      socket.write(NOTHING, () => {
        this.#client.stalledSince(false);
        if (this.#connection === connection) connection.resume();
      });
    }
    return isOut;
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
    this.#over = true;
    this.#dispatch.answered();
    this.#deps.record(this, this.#client);
    this.#client.answered(this.#bodyOpen);
  }

  failed(detail: string, responseBytes: boolean, malformed: boolean): void {
    this.#connection = null;
    this.#expecting?.();
    this.#expecting = null;
    this.#bodyOpen = false;
    this.#dispatch.failed({
      stage: this.#answering ? "answering" : "sent",
      reused: this.#reused,
      responseBytes,
      malformed,
      detail,
    });
  }

  switched(head: MessageParser, scan: ResponseScan, first: Buffer): void {
    const connection = this.#connection;
    const { upgrade } = this.#scan;
    if (connection === null || upgrade === null) {
      const socket = connection?.socket;
      this.failed("it switched protocols unasked", true, true);
      socket?.destroy();
      return;
    }
    this.status = 101;
    this.#dispatch.status(101);
    this.#connection = null;
    this.#over = true;
    const { upstream } = connection;
    const { socket, first: firstFromClient, data: clientData } = this.#client.becomeTunnel();
    const protocol = scan.upgrade ?? upgrade;
    socket.write(switchingHead(keptLines(head, scan.dropped), protocol), "latin1");
    const tunnel = openTunnel({
      client: socket,
      upstream: connection.socket,
      clock: this.#deps.clock,
      isWebSocket: protocol.toLowerCase() === "websocket",
      firstFromClient,
      firstFromUpstream: first,
      upstreamData: (take) => connection.tunnelTo(take),
      ...(clientData === null ? {} : { clientData }),
      passed: (direction, bytes) => {
        if (direction === "in") {
          this.bytesIn += bytes;
          upstream.tally.bytesIn += bytes;
        } else {
          this.bytesOut += bytes;
          upstream.tally.bytesOut += bytes;
        }
      },
      ended: () => {
        this.#dispatch.answered();
        this.#deps.record(this, this.#client);
      },
    });
    this.#dispatch.becameStream(tunnel);
  }

  // ---- endings

  /** The client's body is malformed, or stopped coming. */
  requestFailed(reason: "badRequest" | "headersTooSlow"): void {
    if (this.#over) return;
    this.#dispatch.refused();
    this.answer(reason);
  }

  /** The client is gone: the upstream's request is aborted. */
  clientGone(): void {
    if (this.#over) return;
    this.#over = true;
    this.#dispatch.cancel();
    this.#dropUpstream();
    this.#deps.record(this, this.#client);
  }

  /** Ends an event stream where it stands, politely. */
  move(): void {
    if (this.#over) return;
    this.#over = true;
    this.#dropUpstream();
    const head = this.#answerHead;
    this.#answerHead = "";
    if (!this.#chunkedOut) this.#client.keepAlive = false;
    this.#client.write(head + (this.#chunkedOut ? "0\r\n\r\n" : ""));
    this.#dispatch.cancel();
    this.#deps.record(this, this.#client);
    this.#client.answered(false);
  }

  #dropUpstream(): void {
    this.#connecting?.destroy();
    this.#connecting = null;
    this.#expecting?.();
    this.#expecting = null;
    this.#connection?.destroy();
    this.#connection = null;
    this.#bodyOpen = false;
  }
}
