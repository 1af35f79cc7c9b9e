// Real proxy processes for tests: started as owld starts them, fed over their socket, ended by pid.

import { type ChildProcess, spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProxyConfig } from "../../../config/config.ts";
import type { FromProxy, ProxySettings, RoutingTable, ToProxy } from "../../../config/proxy-feed.ts";
import { systemClock } from "../../../config/system-time.ts";
import { proxyConfig } from "../proxy-config.ts";

const MAIN = fileURLToPath(new URL("../../../supervisor/proxy/main.ts", import.meta.url));
export const PROXY_COMMAND: readonly [string, string] = [process.execPath, MAIN];

export interface Feed {
  readonly port: number;
  readonly pid: number;
  send(message: ToProxy): void;
  next<T extends FromProxy["type"]>(type: T): Promise<Extract<FromProxy, { type: T }>>;
  readonly closed: Promise<void>;
  close(): void;
}

/** Settings of a proxy in `dir`. */
export function proxySettings(id: string, dir: string, changes: Partial<ProxyConfig> = {}): ProxySettings {
  return { id, feedSocket: join(dir, `${id}.sock`), home: dir, proxy: proxyConfig(changes) };
}

/** Starts the program; `errors` collects its log lines. */
export function startProcess(settings: ProxySettings, errors: string[]): ChildProcess {
  const child = spawn(PROXY_COMMAND[0], [PROXY_COMMAND[1]], {
    env: { ...process.env, OWL_PROXY_SETTINGS: JSON.stringify(settings) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.stderr?.on("data", (chunk: Buffer) => errors.push(chunk.toString()));
  return child;
}

/** Connects to its feed, trying until it is up. */
export async function openFeed(settings: ProxySettings): Promise<Feed> {
  for (let tries = 0; ; tries++) {
    const socket = connect(settings.feedSocket);
    const connected = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    if (connected) return feedOver(socket);
    if (tries > 500) throw new Error(`No feed at ${settings.feedSocket}`);
    await systemClock.sleep(20);
  }
}

async function feedOver(socket: Socket): Promise<Feed> {
  const came: FromProxy[] = [];
  let wakes: (() => void)[] = [];
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("error", () => {});
  socket.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) came.push(JSON.parse(line) as FromProxy);
    const waking = wakes;
    wakes = [];
    for (const wake of waking) wake();
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  async function next<T extends FromProxy["type"]>(type: T): Promise<Extract<FromProxy, { type: T }>> {
    for (;;) {
      const at = came.findIndex((message) => message.type === type);
      if (at >= 0) return came.splice(at, 1)[0] as Extract<FromProxy, { type: T }>;
      await new Promise<void>((resolve) => wakes.push(resolve));
    }
  }
  const hello = await next("hello");
  return {
    port: Number(hello.listening[0]?.split(":").pop() ?? 0),
    pid: hello.pid,
    send: (message) => {
      socket.write(`${JSON.stringify(message)}\n`);
    },
    next,
    closed,
    close: () => socket.destroy(),
  };
}

/** One route, `/`, to these sockets. */
export function tableOf(version: number, dir: string, ids: readonly string[]): RoutingTable {
  return {
    version,
    routes: [
      {
        service: "web",
        host: "*",
        path: "/",
        bodyBytes: null,
        closed: null,
        upstreams: ids.map((id) => ({ id, target: { socket: join(dir, `${id}.sock`) } })),
      },
    ],
  };
}
