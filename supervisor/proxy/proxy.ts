// One proxy process put together: listener, engine, table, feed, succession, drain.

import type { Socket } from "node:net";
import type { ListenAddress, ProxyConfig } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import {
  addressName,
  type FromProxy,
  filesSocket,
  listenAddresses,
  type ProxySettings,
  type RoutingTable,
  type ToProxy,
} from "../../config/proxy-feed.ts";
import { type Clock, isoTime, type Random } from "../../config/time.ts";
import { connectionCap } from "./core/connection-cap.ts";
import { Counters } from "./counters.ts";
import type { AccessEntry, Engine, EngineDeps } from "./engine.ts";
import type { Files } from "./files.ts";
import { createListener } from "./listener.ts";
import type { Log } from "./log.ts";
import { moveStreams } from "./streams.ts";
import { startKeeper, startSuccessor } from "./succession.ts";
import { createTableFeed } from "./table-feed.ts";
import { traceLine } from "./trace-line.ts";
import { createTrust } from "./trust.ts";
import { Upstreams } from "./upstreams.ts";

const DRAIN_LOOK_MS = 50;
const NOWHERE: ListenAddress = { host: "", port: 0 };

interface ProxyDeps {
  readonly settings: ProxySettings;
  /** Inherited listening descriptors, or null. */
  readonly descriptors: readonly (number | null)[] | null;
  /** A successor accepts only once it has a table. */
  readonly awaitTable: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How many files this process may have open; null: not known. */
  readonly descriptorLimit: number | null;
  readonly pid: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly writeAccess: (line: string) => void;
  readonly createEngine: (deps: EngineDeps) => Engine | Promise<Engine>;
}

export interface Proxy {
  start(): Promise<void>;
  /** Stops accepting and drains; `stopped` resolves at the end. Twice is harmless. */
  drain(): void;
  /** Ends at once. */
  stop(): void;
  readonly stopped: Promise<void>;
}

/** Puts the parts together and loads only those its configuration names: what is loaded stays in memory. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the process: sockets, channel, drain and stop share its state.
export async function createProxy(deps: ProxyDeps): Promise<Proxy> {
  const { settings, clock, random, log } = deps;
  const config = settings.proxy;
  const counters = new Counters();
  const upstreams = new Upstreams(clock);
  const ended = Promise.withResolvers<void>();
  let table: RoutingTable | null = null;
  let accepting: Promise<void> | null = null;
  let draining = false;
  let succeeding = false;
  let files: Files | null = null;
  let loading: Promise<void> | null = null;

  const spans =
    config.traces === undefined
      ? null
      : await (await import("./request-spans.ts")).createRequestSpans(config.traces, settings.id, deps);
  const mostConnections = connectionCap(config.limits.connections, deps.descriptorLimit);
  const engineDeps: EngineDeps = {
    config,
    upstreams,
    counters,
    clock,
    random,
    log,
    dispatch: {
      upstreams,
      counters,
      clock,
      log,
      queueTimeoutMs: config.queueTimeoutMs,
      bodyBytes: config.limits.bodyBytes,
    },
    hsts: config.tls !== null && config.tls.hstsMaxAgeS > 0 ? `max-age=${config.tls.hstsMaxAgeS}` : null,
    mostConnections,
    isTrusted: createTrust(config.trust),
    traceLine: (scan, requestId) => traceLine(scan, requestId, config.traces),
    access: config.accessLog || spans !== null ? record : null,
  };
  const engine = await deps.createEngine(engineDeps);
  const challenges = () => table?.challenges ?? [];
  const tlsModule = config.tls === null ? null : await import("./tls.ts");
  const tls =
    config.tls === null || tlsModule === null
      ? null
      : tlsModule.createTlsFront({
          cert: config.tls.cert,
          key: config.tls.key,
          offersHttp2: config.tls.http2,
          handshakeTimeoutMs: config.limits.headerTimeoutMs,
          challenges,
          clock,
          counters,
          log,
          accept: (socket) => void engine.serve(socket, "https"),
        });
  const timeoutMs = config.limits.headerTimeoutMs;
  const redirect = { port: config.listen[0]?.port ?? 443, timeoutMs, challenges, clock, counters };
  const addresses = listenAddresses(config);
  const listener = createListener({
    addresses,
    descriptors: deps.descriptors,
    mostConnections,
    counters,
    accept(socket: Socket, address: number) {
      if (tls === null || tlsModule === null) return engine.serve(socket, "http");
      if (address < config.listen.length) tls.take(socket);
      else tlsModule.redirectToTls(socket, redirect);
      return socket;
    },
  });
  const feed = createTableFeed({
    socketPath: settings.feedSocket,
    log,
    hello: () => ({
      type: "hello",
      id: settings.id,
      pid: deps.pid,
      version: upstreams.version,
      listening: listener.listening(),
      addresses: addresses.map(addressName),
    }),
    receive,
  });
  upstreams.onLeft = (upstream) => engine.dropIdle(upstream);
  upstreams.onIdle = (upstream) => feed.tell({ type: "idle", upstream });

  function accept(): Promise<void> {
    accepting ??= listener.start();
    return accepting;
  }

  function receive(message: ToProxy, reply: (answer: FromProxy) => boolean): void {
    switch (message.type) {
      case "table": {
        table = message.table;
        if (files === null && (loading !== null || table.routes.some((route) => route.files !== undefined))) {
          loading ??= loadFiles();
          void loading.then(() => use(message.table, reply));
        } else use(message.table, reply);
        return;
      }
      case "moveStreams": {
        const upstream = upstreams.find(message.upstream);
        if (upstream !== null) moveStreams([upstream], clock, counters);
        return;
      }
      case "counters":
        reply({ type: "counters", counters: counters.snapshot(upstreams.counters()) });
        return;
      case "succeed":
        void succeed(message, reply);
        return;
      case "keep": {
        const pid =
          draining || accepting === null ? null : startKeeper(message.command, listener.descriptors(), deps.env);
        if (pid !== null) reply({ type: "kept", pid });
        return;
      }
      case "drain":
        drain();
    }
  }

  function use(next: RoutingTable, reply: (answer: FromProxy) => boolean): void {
    const { version } = next;
    files?.use(next.routes);
    upstreams.apply(files?.among(next) ?? next);
    if (draining) {
      reply({ type: "ack", version });
      upstreams.tellIdle();
      return;
    }
    accept().then(
      () => {
        reply({ type: "ack", version });
        upstreams.tellIdle();
      },
      (error: unknown) => {
        log.warn({ error: asError(error).message }, "the proxy cannot listen");
        stop();
      },
    );
  }

  async function loadFiles(): Promise<void> {
    try {
      const { createFiles } = await import("./files.ts");
      files = await createFiles(filesSocket(settings.feedSocket), log);
    } catch (error) {
      log.warn({ error: asError(error).message }, "files cannot be served");
    }
    loading = null;
  }

  function record(entry: AccessEntry): void {
    if (config.accessLog)
      deps.writeAccess(`${JSON.stringify({ at: isoTime(clock.now()), access: settings.id, ...entry })}\n`);
    spans?.tell(entry);
  }

  /** Ours for the addresses it wants, in its order. */
  function descriptorsFor(successor: ProxyConfig): readonly (number | null)[] {
    const own = new Map(listener.descriptors().map((fd, index) => [addressName(addresses[index] ?? NOWHERE), fd]));
    return listenAddresses(successor).map((address) => own.get(addressName(address)) ?? null);
  }

  async function succeed(
    message: Extract<ToProxy, { type: "succeed" }>,
    reply: (answer: FromProxy) => boolean,
  ): Promise<void> {
    const { id } = message.settings;
    if (draining || succeeding) {
      reply({
        type: "successorFailed",
        id,
        reason: draining ? "this process drains already" : "another one is starting",
      });
      return;
    }
    succeeding = true;
    try {
      const successor = await startSuccessor({
        settings: message.settings,
        command: message.command,
        exitFifo: message.exitFifo ?? null,
        descriptors: descriptorsFor(message.settings.proxy),
        table,
        env: deps.env,
        clock,
      });
      log.info({ successor: id, successorPid: successor.pid }, "the successor accepts");
      // Whoever asked is gone and may never learn of it: left alone, it would serve by this table for ever.
      if (!reply({ type: "successor", id, pid: successor.pid })) successor.kill();
      else if (message.stay !== true) drain();
    } catch (error) {
      log.warn({ successor: id, error: asError(error).message }, "the successor did not start");
      reply({ type: "successorFailed", id, reason: asError(error).message });
    } finally {
      succeeding = false;
    }
  }

  function drain(): void {
    if (draining) return;
    draining = true;
    listener.close();
    engine.drain();
    moveStreams(upstreams.all(), clock, counters);
    feed.tell({ type: "draining", inFlight: counters.inFlight });
    void untilDrained();
  }

  async function untilDrained(): Promise<void> {
    const deadline = clock.monotonicMs() + config.drainTimeoutMs;
    while (engine.connections() > 0 && clock.monotonicMs() < deadline) await clock.sleep(DRAIN_LOOK_MS);
    stop();
  }

  function stop(): void {
    draining = true;
    listener.close();
    engine.stop();
    tls?.stop();
    feed.stop();
    files?.stop();
    void (spans?.stop() ?? Promise.resolve()).then(ended.resolve);
  }

  return {
    async start() {
      await feed.start();
      if (!deps.awaitTable) await accept();
      log.info({ listen: listener.listening() }, "proxy started");
      if (mostConnections < config.limits.connections) {
        const { connections } = config.limits;
        log.warn(
          { connections, accepted: mostConnections, openFiles: deps.descriptorLimit },
          "the limit on open files allows fewer connections than proxy.limits.connections",
        );
      }
    },
    drain,
    stop,
    stopped: ended.promise,
  };
}
