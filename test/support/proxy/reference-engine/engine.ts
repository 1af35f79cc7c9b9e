// The reference engine: node:http parses the clients and the upstreams.
// Slower than `net` and independent of it: the differential tests compare the two.

import { createServer, type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type AnswerReason, NO_CONTEXT, rawAnswer } from "../../../../supervisor/proxy/answers.ts";
import type { Engine, EngineDeps } from "../../../../supervisor/proxy/engine.ts";
import { DRAIN_IDLE_MS } from "../../../../supervisor/proxy/limits.ts";
import type { Upstream } from "../../../../supervisor/proxy/upstreams.ts";
import { HttpExchange } from "./exchange.ts";
import { createIdlePool } from "./idle-pool.ts";
import { answerRaw } from "./own-answers.ts";

/** The engine; nothing is opened until a connection is served. */
export function createHttpEngine(deps: EngineDeps): Engine {
  const { limits } = deps.config;
  const pool = createIdlePool(deps.clock);
  const sockets = new Set<Socket>();
  const schemes = new WeakMap<Socket, "http" | "https">();
  let draining = false;

  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerTimeoutMs,
    requestTimeout: 0,
    keepAliveTimeout: limits.idleTimeoutMs,
    keepAliveTimeoutBuffer: 0,
    connectionsCheckingInterval: Math.min(1_000, limits.headerTimeoutMs),
    requireHostHeader: false,
    insecureHTTPParser: false,
    shouldUpgradeCallback: (request) => !/^h2c\b/i.test(request.headers.upgrade ?? ""),
    noDelay: true,
  });
  server.maxHeadersCount = 0;
  // node:http goes on dispatching what was pipelined behind a refused request: it is passed over here.
  const refused = new WeakSet<Socket>();
  const exchange = (request: IncomingMessage, response: ServerResponse, expectContinue: boolean) => {
    if (refused.has(request.socket)) return;
    new HttpExchange({
      deps,
      pool,
      request,
      response,
      expectContinue,
      scheme: schemes.get(request.socket) ?? "http",
      isDraining: () => draining,
      upgrade: null,
      refused: () => refused.add(request.socket),
    }).start();
  };
  // The server never listens itself; its watch over slow heads begins with this event.
  server.emit("listening");
  server.on("request", (request, response) => exchange(request, response, false));
  server.on("checkContinue", (request, response) => exchange(request, response, true));
  server.on("checkExpectation", (request, response) => {
    deps.counters.refuse("expectationFailed");
    answerRaw(response, request, "expectationFailed", null);
  });
  server.on("connect", (_request, socket) => refuse(socket as Socket, "connectMethod"));
  server.on("upgrade", (request, socket, head) => {
    const client = socket as Socket;
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(client);
    response.on("finish", () => client.end());
    client.on("error", () => client.destroy());
    client.on("close", () => response.emit("close"));
    const scheme = schemes.get(client) ?? "http";
    const upgrade = { socket: client, head };
    new HttpExchange({
      deps,
      pool,
      request,
      response,
      expectContinue: false,
      scheme,
      isDraining: () => draining,
      upgrade,
      refused: () => refused.add(client),
    }).start();
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!refused.has(socket as Socket)) refuse(socket as Socket, reasonOf(error.code));
  });

  function refuse(socket: Socket, reason: AnswerReason): void {
    refused.add(socket);
    deps.counters.refuse(reason);
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.end(rawAnswer(reason, NO_CONTEXT));
    deps.clock.after(1_000, () => socket.destroy(), { unref: true });
  }

  return {
    serve(socket, scheme) {
      sockets.add(socket);
      schemes.set(socket, scheme);
      socket.on("close", () => sockets.delete(socket));
      server.emit("connection", socket);
      return socket;
    },
    dropIdle: (upstream: Upstream) => pool.drop(upstream),
    drain() {
      draining = true;
      // Not at once: the first request of a connection just accepted may be on its way. It is answered, then closed.
      deps.clock.after(DRAIN_IDLE_MS, () => server.closeIdleConnections(), { unref: true });
    },
    connections: () => sockets.size,
    stop() {
      for (const socket of sockets) socket.destroy();
      pool.stop();
      server.close();
    },
  };
}

/** node:http's parse errors as reasons of ours. */
function reasonOf(code: string | undefined): AnswerReason {
  if (code === "HPE_HEADER_OVERFLOW") return "headerTooLarge";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "headersTooSlow";
  return "badRequest";
}
