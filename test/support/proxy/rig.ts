// A proxy in this process with scripted upstreams around it: what the proxy's integration tests stand on.

import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProxyConfig } from "../../../config/config.ts";
import type { FromProxy, ProxyCounters, ProxyRoute, ToProxy } from "../../../config/proxy-feed.ts";
import { systemClock, systemRandom } from "../../../config/system-time.ts";
import { createNetEngine } from "../../../supervisor/proxy/engine-net/engine.ts";
import { createProxy, type Proxy as RunningProxy } from "../../../supervisor/proxy/proxy.ts";
import { proxyConfig } from "../proxy-config.ts";
import { createHttpEngine } from "./reference-engine/engine.ts";

export type EngineName = "product" | "reference";
const ENGINES = { product: createNetEngine, reference: createHttpEngine };

/** What an upstream does with each connection: raw sockets, so that it may misbehave in any way. */
export type Script = (socket: Socket, connection: number) => void;

export interface Upstream {
  readonly id: string;
  readonly path: string;
  /** Connections accepted so far. */
  accepted: number;
  readonly open: Set<Socket>;
  /** Everything received, per connection. */
  readonly received: Buffer[];
  close(): Promise<void>;
}

export interface Rig {
  readonly port: number;
  readonly dir: string;
  readonly proxy: RunningProxy;
  readonly log: Record<string, unknown>[];
  readonly access: Record<string, unknown>[];
  readonly upstreams: Map<string, Upstream>;
  addUpstream(id: string, script: Script): Promise<Upstream>;
  /** Puts these upstreams in the table (one route, `/`), and waits for the acknowledgement. */
  route(ids: readonly string[], more?: Partial<ProxyRoute>): Promise<void>;
  routes(routes: readonly ProxyRoute[]): Promise<void>;
  routeTo(ids: readonly string[], more?: Partial<ProxyRoute>): ProxyRoute;
  send(message: ToProxy): void;
  /** The next message of that type that comes, or came since the last call. */
  next<T extends FromProxy["type"]>(type: T): Promise<Extract<FromProxy, { type: T }>>;
  counters(): Promise<ProxyCounters>;
  client(): Client;
  stop(): Promise<void>;
}

/** A proxy with the product's engine, or with the slow one that tests compare it to. */
export async function startRig(changes: Partial<ProxyConfig> = {}, engine: EngineName = "product"): Promise<Rig> {
  const dir = mkdtempSync(join(tmpdir(), "owl-proxy-"));
  const log: Record<string, unknown>[] = [];
  const access: Record<string, unknown>[] = [];
  const feedSocket = join(dir, "feed.sock");
  const proxy = await createProxy({
    settings: { id: "proxy-1", feedSocket, home: dir, proxy: proxyConfig(changes) },
    descriptors: null,
    awaitTable: false,
    env: process.env,
    descriptorLimit: null,
    pid: process.pid,
    clock: systemClock,
    random: systemRandom,
    log: {
      info: (fields, message) => log.push({ message, ...fields }),
      warn: (fields, message) => log.push({ message, ...fields }),
    },
    writeAccess: (line) => access.push(JSON.parse(line) as Record<string, unknown>),
    createEngine: ENGINES[engine],
  });
  await proxy.start();
  const feed = connect(feedSocket);
  const came: FromProxy[] = [];
  let wake: () => void = () => {};
  let rest = "";
  feed.setEncoding("utf8");
  feed.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) came.push(JSON.parse(line) as FromProxy);
    wake();
  });
  feed.on("error", () => {});
  const upstreams = new Map<string, Upstream>();
  const clients = new Set<Client>();
  let version = 0;

  async function next<T extends FromProxy["type"]>(type: T): Promise<Extract<FromProxy, { type: T }>> {
    for (;;) {
      const at = came.findIndex((message) => message.type === type);
      if (at >= 0) return came.splice(at, 1)[0] as Extract<FromProxy, { type: T }>;
      await new Promise<void>((resolve) => {
        const before = wake;
        wake = () => {
          before();
          resolve();
        };
      });
    }
  }
  const hello = await next("hello");
  const port = Number(hello.listening[0]?.split(":").pop());

  const rig: Rig = {
    port,
    dir,
    proxy,
    log,
    access,
    upstreams,
    async addUpstream(id, script) {
      const upstream = await listenUpstream(id, join(dir, `${id}.sock`), script);
      upstreams.set(id, upstream);
      return upstream;
    },
    routeTo: (ids, more = {}) => ({
      service: "web",
      host: "*",
      path: "/",
      bodyBytes: null,
      closed: null,
      upstreams: ids.map((id) => ({ id, target: { socket: join(dir, `${id}.sock`) } })),
      ...more,
    }),
    route: (ids, more) => rig.routes([rig.routeTo(ids, more)]),
    async routes(routes) {
      version++;
      rig.send({ type: "table", table: { version, routes } });
      while ((await next("ack")).version < version);
    },
    send: (message) => {
      feed.write(`${JSON.stringify(message)}\n`);
    },
    next,
    async counters() {
      rig.send({ type: "counters" });
      return (await next("counters")).counters;
    },
    client() {
      const client = new Client(port);
      clients.add(client);
      return client;
    },
    async stop() {
      for (const client of clients) client.socket.destroy();
      feed.destroy();
      proxy.stop();
      await proxy.stopped;
      await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return rig;
}

function listenUpstream(id: string, path: string, script: Script): Promise<Upstream> {
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    const number = upstream.accepted++;
    upstream.open.add(socket);
    upstream.received[number] = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      upstream.received[number] = Buffer.concat([upstream.received[number] ?? Buffer.alloc(0), chunk]);
    });
    socket.on("end", () => socket.end());
    socket.on("error", () => socket.destroy());
    socket.on("close", () => upstream.open.delete(socket));
    script(socket, number);
  });
  const upstream: Upstream = {
    id,
    path,
    accepted: 0,
    open: new Set(),
    received: [],
    close: () =>
      new Promise((resolve) => {
        for (const socket of upstream.open) socket.destroy();
        server.close(() => resolve());
      }),
  };
  return new Promise((resolve) => server.listen(path, () => resolve(upstream)));
}

/** A raw client: bytes out, bytes in. */
export class Client {
  readonly socket: Socket;
  received = "";
  ended = false;
  #wake: (() => void)[] = [];

  constructor(port: number) {
    this.socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    this.socket.setNoDelay(true);
    this.socket.on("data", (chunk) => {
      this.received += chunk.toString("latin1");
      this.#tell();
    });
    for (const event of ["end", "close", "error"]) {
      this.socket.on(event, () => {
        this.ended = true;
        if (event === "end") this.socket.end();
        this.#tell();
      });
    }
  }

  send(bytes: string | Buffer): this {
    this.socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
    return this;
  }

  /** Resolves when `condition` holds over what came; rejects when the connection ended before. */
  async until(condition: (received: string) => boolean, what = "the expected bytes"): Promise<string> {
    while (!condition(this.received)) {
      if (this.ended) throw new Error(`The connection ended before ${what}; got ${JSON.stringify(this.received)}`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
    return this.received;
  }

  /** Resolves with everything received when the proxy closed the connection. */
  async untilClosed(): Promise<string> {
    while (!this.ended) await new Promise<void>((resolve) => this.#wake.push(resolve));
    return this.received;
  }

  #tell(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}

/** Polls until `condition` holds; rejects after `ms`. */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  ms = 60_000,
): Promise<void> {
  const end = systemClock.monotonicMs() + ms;
  while (!(await condition())) {
    if (systemClock.monotonicMs() > end) throw new Error(`Not within ${ms} ms: ${what}`);
    await systemClock.sleep(5);
  }
}
