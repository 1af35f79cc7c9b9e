// The engine: net sockets on both sides, llhttp in charge of every message's framing.

import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Engine, EngineDeps } from "../engine.ts";
import { createRequestIds } from "../request-ids.ts";
import { plainAddress } from "../trust.ts";
import type { Upstream } from "../upstreams.ts";
import { ClientConnection } from "./client-connection.ts";
import type { Client, NetEngineDeps, RecordedExchange, ServedConnection } from "./parties.ts";
import { UpstreamPool } from "./upstream-pool.ts";

/** How often deadlines are looked at; they are late by at most this. */
const LONGEST_SWEEP_MS = 500;

function agreedOnHttp2(socket: Socket): socket is TLSSocket {
  return (socket as TLSSocket).alpnProtocol === "h2";
}

/** The engine; nothing is opened until a connection is served, and nothing loaded that nobody asked for. */
export async function createNetEngine(base: EngineDeps): Promise<Engine> {
  const http2 = base.config.tls?.http2 === true ? await import("../engine-h2/connection.ts") : null;
  const compress = base.config.compress ? (await import("../compression.ts")).createCompress() : null;
  const { clock, config } = base;
  const pool = new UpstreamPool(clock, config.connectTimeoutMs);
  const connections = new Set<ServedConnection>();
  const sockets = new Set<Socket>();
  let draining = false;
  let now = clock.monotonicMs();
  const sweepMs = Math.max(
    10,
    Math.min(LONGEST_SWEEP_MS, config.limits.headerTimeoutMs / 4, config.limits.idleTimeoutMs / 4),
  );

  const deps: NetEngineDeps = {
    ...base,
    pool,
    compress,
    nowMs: () => now,
    newRequestId: createRequestIds(base.random),
    isDraining: () => draining,
    left: (connection) => connections.delete(connection),
    record,
  };

  function record(exchange: RecordedExchange, client: Pick<Client, "facts">): void {
    if (base.access === null) return;
    const { dispatch } = exchange;
    base.access({
      requestId: exchange.requestId,
      method: exchange.method,
      host: exchange.host,
      target: exchange.target,
      client: client.facts.address,
      status: exchange.status,
      service: dispatch.upstream?.service ?? null,
      upstream: dispatch.upstream?.id ?? null,
      retries: Math.max(0, dispatch.attempts - 1),
      elapsedMs: clock.monotonicMs() - dispatch.startedAtMs,
      bytesIn: exchange.bytesIn,
      bytesOut: exchange.bytesOut,
    });
  }

  let cancelSweep = clock.after(sweepMs, sweep, { unref: true });
  function sweep(): void {
    now = clock.monotonicMs();
    for (const connection of connections) connection.checkDeadline(now);
    pool.sweep(now);
    cancelSweep = clock.after(sweepMs, sweep, { unref: true });
  }

  function closed(this: Socket): void {
    sockets.delete(this);
  }

  return {
    serve(accepted, scheme) {
      const facts = { address: plainAddress(accepted.remoteAddress ?? ""), scheme } as const;
      let connection: ServedConnection;
      let socket = accepted;
      if (scheme === "https" && http2 !== null && agreedOnHttp2(accepted)) {
        connection = new http2.Http2Connection(deps, accepted, facts);
      } else {
        const client = new ClientConnection(deps, accepted, facts);
        connection = client;
        socket = client.socket;
      }
      sockets.add(socket);
      socket.on("close", closed);
      connections.add(connection);
      return socket;
    },
    dropIdle: (upstream: Upstream) => pool.drop(upstream),
    drain() {
      draining = true;
      for (const connection of [...connections]) connection.drain();
    },
    connections: () => sockets.size,
    stop() {
      cancelSweep();
      for (const socket of sockets) socket.destroy();
      pool.stop();
    },
  };
}
