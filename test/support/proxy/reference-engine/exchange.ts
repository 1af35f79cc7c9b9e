// One request and its answer in the reference engine. The client's body is read only once the upstream is connected,
// so nothing has to be kept for a retry.

import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type AnswerReason, isFailure } from "../../../../supervisor/proxy/answers.ts";
import { forwardingFlat, requestIdOf } from "../../../../supervisor/proxy/core/forwarding.ts";
import { keptLines } from "../../../../supervisor/proxy/core/head-view.ts";
import { scanRequest } from "../../../../supervisor/proxy/core/request-head.ts";
import { hasNoBody, isCleanReason, scanResponse } from "../../../../supervisor/proxy/core/response-head.ts";
import { hostName, pathOf } from "../../../../supervisor/proxy/core/route-match.ts";
import { Dispatch } from "../../../../supervisor/proxy/dispatch.ts";
import type { EngineDeps } from "../../../../supervisor/proxy/engine.ts";
import { RESPONSE_HEADER_BYTES } from "../../../../supervisor/proxy/limits.ts";
import { plainAddress } from "../../../../supervisor/proxy/trust.ts";
import { openTunnel, switchingHead } from "../../../../supervisor/proxy/tunnel.ts";
import type { MovableStream, Upstream } from "../../../../supervisor/proxy/upstreams.ts";
import { recordAccess } from "./access.ts";
import { connectUpstream } from "./connect.ts";
import { keptFlat, viewOf } from "./flat-heads.ts";
import type { IdlePool } from "./idle-pool.ts";
import { answerRaw, lingeringClose, sendHead, trailersOf, writeInformation } from "./own-answers.ts";
import { type StallWatch, watchStalls } from "./stall-watch.ts";
import { openConnection, type UpstreamConnection } from "./upstream-connection.ts";

export interface ExchangeDeps {
  readonly deps: EngineDeps;
  readonly pool: IdlePool;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly expectContinue: boolean;
  readonly scheme: "http" | "https";
  readonly isDraining: () => boolean;
  /** The request was refused: nothing more is taken from its connection. */
  readonly refused: () => void;
  /** An upgrade was asked for: the raw socket and what came behind the head. */
  readonly upgrade: { readonly socket: Socket; readonly head: Buffer } | null;
}

export class HttpExchange implements MovableStream {
  readonly #d: ExchangeDeps;
  #dispatch: Dispatch | null = null;
  #out: ClientRequest | null = null;
  #cancelConnect: (() => void) | null = null;
  #requestId = "";
  #status = 0;
  /** Declared length of the request's body; null: chunked. */
  #bodyBytes: number | null = 0;
  #bytesIn = 0;
  #bytesOut = 0;
  #stalls: StallWatch | null = null;
  #over = false;

  constructor(d: ExchangeDeps) {
    this.#d = d;
  }

  start(): void {
    const { deps, request, response } = this.#d;
    response.sendDate = false;
    const address = plainAddress(request.socket.remoteAddress ?? "");
    const view = viewOf(request.rawHeaders);
    const scan = scanRequest(
      {
        method: request.method ?? "",
        target: request.url ?? "",
        major: request.httpVersionMajor,
        minor: request.httpVersionMinor,
      },
      view,
      deps.isTrusted(address),
    );
    if (scan.refusal !== null) {
      deps.counters.refuse(scan.refusal);
      this.#d.refused();
      answerRaw(response, request, scan.refusal, null);
      if (!request.complete) lingeringClose(request, deps);
      return;
    }
    this.#bodyBytes = scan.bodyBytes;
    this.#requestId = requestIdOf(scan, () => deps.random.uuid());
    const headers = keptFlat(view, scan.dropped);
    headers.push(...forwardingFlat({ address, scheme: this.#d.scheme }, scan, this.#requestId));
    if (scan.bodyBytes === null) headers.push("Transfer-Encoding", "chunked");
    if (this.#d.upgrade === null) headers.push("Connection", "keep-alive");
    else headers.push("Connection", "Upgrade", "Upgrade", scan.upgrade ?? "");
    const dispatch = new Dispatch(
      deps.dispatch,
      {
        method: request.method ?? "",
        host: hostName(scan.host),
        path: pathOf(request.url ?? ""),
        requestId: this.#requestId,
        bodyBytes: scan.bodyBytes,
      },
      {
        attempt: (upstream, mayReuse) => this.#attempt(upstream, mayReuse, headers),
        answer: (reason, retryAfterS) => this.#answer(reason, retryAfterS),
        giveUp: (detail) => void this.#out?.destroy(new Error(detail)),
        cut: () => this.#cut(),
      },
    );
    this.#dispatch = dispatch;
    response.on("close", () => this.#clientClosed());
    // An answer whose head promised more before the drain began: the connection ends with it all the same.
    response.on("finish", () => {
      if (this.#d.isDraining()) request.socket.end();
    });
    response.on("error", () => this.#clientClosed());
    request.on("error", () => {});
    dispatch.start();
  }

  /** Ends an event stream where it stands, politely. */
  move(): void {
    if (this.#over) return;
    this.#d.response.end();
    this.#finish();
  }

  #attempt(upstream: Upstream, mayReuse: boolean, headers: readonly string[]): void {
    const idle = mayReuse && this.#d.upgrade === null ? this.#d.pool.take(upstream) : null;
    if (idle !== null) {
      this.#send(upstream, idle, true, headers);
      return;
    }
    const { deps } = this.#d;
    this.#cancelConnect = connectUpstream(upstream, deps.config.connectTimeoutMs, deps.clock, {
      connected: (socket) => {
        this.#cancelConnect = null;
        this.#dispatch?.connected();
        this.#send(upstream, openConnection(socket), false, headers);
      },
      failed: (failure, message) => {
        this.#cancelConnect = null;
        this.#dispatch?.connectFailed(failure, message);
      },
    });
  }

  #send(upstream: Upstream, connection: UpstreamConnection, reused: boolean, headers: readonly string[]): void {
    const { request, pool } = this.#d;
    const out = httpRequest({
      agent: connection.agent,
      method: request.method ?? "GET",
      path: request.url ?? "/",
      headers: headers as string[],
      maxHeaderSize: RESPONSE_HEADER_BYTES,
      setHost: false,
      setDefaultHeaders: false,
    });
    this.#out = out;
    const bytesBefore = connection.socket.bytesRead;
    let answering = false;
    let settled = false;
    const fail = (message: string, malformed = false) => {
      if (settled || this.#out !== out) return;
      settled = true;
      connection.close();
      this.#dispatch?.failed({
        stage: answering ? "answering" : "sent",
        reused,
        responseBytes: answering || malformed || connection.socket.bytesRead > bytesBefore,
        malformed,
        detail: message,
      });
    };
    out.on("error", (error: NodeJS.ErrnoException) => fail(error.message, error.code?.startsWith("HPE_") ?? false));
    out.on("close", () => fail("closed before an answer"));
    out.on("continue", () => {
      if (this.#d.expectContinue && !this.#d.response.headersSent) this.#d.response.writeContinue();
    });
    out.on("information", ({ statusCode, statusMessage, rawHeaders }) => {
      const { response } = this.#d;
      if (!isCleanReason(statusMessage)) fail("its reason is malformed", true);
      if (statusCode === 100 || response.headersSent || request.httpVersionMinor === 0) return;
      const view = viewOf(rawHeaders);
      writeInformation(response, statusCode, keptFlat(view, scanResponse(statusCode, 1, view).dropped));
    });
    out.on("upgrade", (answer, socket, first) => {
      if (this.#d.upgrade === null) {
        socket.destroy();
        fail("switched protocols unasked");
        return;
      }
      settled = true;
      this.#switch(this.#d.upgrade, upstream, answer, socket as Socket, first);
    });
    out.on("response", (incoming) => {
      if (settled || this.#out !== out) return;
      const { ok } = scanResponse(incoming.statusCode ?? 0, incoming.httpVersionMinor, viewOf(incoming.rawHeaders));
      if (!ok || !isCleanReason(incoming.statusMessage ?? "")) {
        fail("its framing is ambiguous", true);
        return;
      }
      answering = true;
      this.#respond(upstream, incoming, fail, () => {
        settled = true;
        const isReusable = incoming.complete && out.writableFinished && out.shouldKeepAlive;
        // Behind a body that its upstream may have ignored nobody else's request comes (CL.0).
        if (isReusable && this.#bodyBytes === 0) pool.give(upstream, connection);
        else connection.close();
      });
    });
    this.#sendBody(out, upstream);
  }

  #sendBody(out: ClientRequest, upstream: Upstream): void {
    const { request } = this.#d;
    const dispatch = this.#dispatch;
    if (request.complete && request.readableLength === 0 && request.readableEnded) {
      out.end();
      return;
    }
    let bytes = 0;
    this.#watchStalls();
    request.on("data", (chunk: Buffer) => {
      if (this.#out !== out) return;
      this.#stalls?.moved();
      bytes += chunk.length;
      this.#bytesIn += chunk.length;
      upstream.tally.bytesIn += chunk.length;
      if (dispatch !== null && bytes > dispatch.bodyLimit && !this.#d.response.headersSent) {
        dispatch.refused();
        this.#answer("bodyTooLarge");
        return;
      }
      if (!out.write(chunk)) request.pause();
    });
    out.on("drain", () => request.resume());
    request.on("end", () => {
      if (this.#out !== out) return;
      if (request.rawTrailers.length > 0) {
        out.addTrailers(trailersOf(request));
      }
      out.end();
    });
  }

  #respond(upstream: Upstream, incoming: IncomingMessage, fail: (message: string) => void, done: () => void): void {
    const { deps, request, response, isDraining } = this.#d;
    const status = incoming.statusCode ?? 502;
    this.#status = status;
    this.#dispatch?.status(status);
    const view = viewOf(incoming.rawHeaders);
    const scan = scanResponse(status, incoming.httpVersionMinor, view);
    const headers = keptFlat(view, scan.dropped);
    const bodiless = hasNoBody(request.method ?? "", status);
    const unread = !request.complete;
    // node:http reads nothing more behind an Upgrade header that was not followed.
    if (isDraining() || unread || request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    headers.push("Connection", response.shouldKeepAlive ? "keep-alive" : "close");
    if (!scan.hasRequestId) headers.push("X-Request-Id", this.#requestId);
    if (deps.hsts !== null && this.#d.scheme === "https" && !scan.hasHsts) {
      headers.push("Strict-Transport-Security", deps.hsts);
    }
    response.writeHead(status, incoming.statusMessage ?? "", headers);
    if (scan.eventStream && !bodiless) this.#dispatch?.becameStream(this);
    if (!bodiless) sendHead(response);
    incoming.on("data", (chunk: Buffer) => {
      this.#bytesOut += chunk.length;
      upstream.tally.bytesOut += chunk.length;
      if (response.write(chunk)) return;
      incoming.pause();
      this.#watchStalls();
      this.#stalls?.moved();
    });
    response.on("drain", () => {
      this.#stalls?.moved();
      incoming.resume();
    });
    incoming.on("error", (error) => fail(error.message));
    incoming.on("close", () => {
      if (!incoming.complete) fail("the answer broke off");
    });
    incoming.on("end", () => {
      if (!incoming.complete || this.#over) return;
      if (incoming.rawTrailers.length > 0 && !bodiless) {
        response.addTrailers(trailersOf(incoming));
      }
      response.end();
      this.#dispatch?.answered();
      this.#out = null;
      this.#over = true;
      this.#logAccess();
      if (unread && !request.complete) this.#linger();
      // The agent frees the connection in the same turn as 'end'; give it back after that.
      setImmediate(done);
      if (this.#d.upgrade !== null) this.#d.upgrade.socket.end();
    });
  }

  #switch(
    upgrade: { socket: Socket; head: Buffer },
    upstream: Upstream,
    answer: IncomingMessage,
    socket: Socket,
    first: Buffer,
  ): void {
    const { deps, request, response } = this.#d;
    const view = viewOf(answer.rawHeaders);
    const protocol = answer.headers.upgrade ?? request.headers.upgrade ?? "";
    this.#status = 101;
    this.#out = null;
    this.#over = true;
    this.#dispatch?.status(101);
    response.detachSocket(upgrade.socket);
    upgrade.socket.write(switchingHead(keptLines(view, scanResponse(101, 1, view).dropped), protocol), "latin1");
    const tunnel = openTunnel({
      client: upgrade.socket,
      upstream: socket,
      clock: deps.clock,
      isWebSocket: protocol.toLowerCase() === "websocket",
      firstFromClient: upgrade.head,
      firstFromUpstream: first,
      passed: (direction, bytes) => {
        if (direction === "in") {
          this.#bytesIn += bytes;
          upstream.tally.bytesIn += bytes;
        } else {
          this.#bytesOut += bytes;
          upstream.tally.bytesOut += bytes;
        }
      },
      ended: () => {
        this.#dispatch?.answered();
        this.#logAccess();
      },
    });
    this.#dispatch?.becameStream(tunnel);
  }

  #answer(reason: AnswerReason, retryAfterS?: number): void {
    const { deps, request, response } = this.#d;
    this.#abortUpstream();
    if (isFailure(reason)) deps.counters.failures++;
    else deps.counters.refuse(reason);
    this.#over = true;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    this.#status = answerRaw(response, request, reason, this.#requestId, retryAfterS, this.#d.isDraining());
    if (!request.complete) this.#linger();
    this.#logAccess();
  }

  /** The answer came before the request's end: the rest is dropped, and no further request taken. */
  #linger(): void {
    this.#d.refused();
    lingeringClose(this.#d.request, this.#d.deps);
  }

  /** From here on a client that stops, sending or taking, is given up after the idle limit. */
  #watchStalls(): void {
    const { deps, request, response } = this.#d;
    if (this.#stalls !== null || response.closed) return;
    const isWaitedFor = () => response.writableNeedDrain || (!request.complete && !request.isPaused());
    this.#stalls = watchStalls(deps.clock, deps.config.limits.idleTimeoutMs, isWaitedFor, () => {
      if (this.#over || response.headersSent) {
        request.socket.destroy();
        return;
      }
      this.#dispatch?.refused();
      this.#answer("headersTooSlow");
    });
    response.once("close", () => this.#stalls?.stop());
  }

  #cut(): void {
    this.#abortUpstream();
    this.#over = true;
    this.#d.response.destroy();
    this.#logAccess();
  }

  #clientClosed(): void {
    if (this.#over) return;
    this.#finish();
  }

  #finish(): void {
    this.#over = true;
    this.#dispatch?.cancel();
    this.#abortUpstream();
    this.#logAccess();
  }

  #abortUpstream(): void {
    const out = this.#out;
    this.#out = null;
    this.#cancelConnect?.();
    this.#cancelConnect = null;
    out?.destroy();
  }

  #logAccess(): void {
    if (this.#dispatch === null) return;
    const figures = { status: this.#status, bytesIn: this.#bytesIn, bytesOut: this.#bytesOut };
    recordAccess(this.#d.deps, this.#d.request, this.#dispatch, { requestId: this.#requestId, ...figures });
  }
}
