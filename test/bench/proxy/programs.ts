// Programs of the proxy benchmark: Owl's two engines and a plain upstream, as processes pinned to one core.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../../config/system-time.ts";
import { PROXY_NODE_OPTIONS } from "../../../supervisor/proxies/launch.ts";
import { openFeed, proxySettings, tableOf } from "../../support/proxy/process.ts";

const MAIN = fileURLToPath(new URL("../../../supervisor/proxy/main.ts", import.meta.url));
const UPSTREAM = fileURLToPath(new URL("./upstream.ts", import.meta.url));

export interface Measured {
  readonly name: string;
  readonly port: number;
  /** The process whose CPU counts. */
  readonly pid: number;
  stop(): void;
}

export interface Started {
  readonly pid: number;
  stop(): void;
}

/** A child process on one core. `core`: taskset's CPU list. */
export function pinned(core: number, command: readonly string[], env: NodeJS.ProcessEnv = process.env): ChildProcess {
  const [program = "", ...args] = ["taskset", "-c", String(core), ...command];
  return spawn(program, args, { env, stdio: ["ignore", "ignore", "inherit"] });
}

/** Resolves when somebody listens on `port` of the loopback; throws after 5 s. */
export async function untilPort(port: number): Promise<void> {
  for (let tries = 0; tries < 250; tries++) {
    const up = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (up) return;
    await systemClock.sleep(20);
  }
  throw new Error(`Nobody listens on port ${port}`);
}

/** On `dir`/up.sock, and on `port` for those who ask it directly. */
export async function startUpstream(dir: string, core: number, port: number): Promise<Started> {
  const child = pinned(core, [process.execPath, UPSTREAM, join(dir, "up.sock"), String(port)]);
  for (let tries = 0; tries < 250 && !existsSync(join(dir, "up.sock")); tries++) await systemClock.sleep(20);
  return { pid: child.pid ?? 0, stop: () => void child.kill("SIGKILL") };
}

export async function startOwl(dir: string, port: number, core: number): Promise<Measured> {
  const settings = proxySettings("proxy-1", dir, { listen: [{ host: "127.0.0.1", port }] });
  const child = pinned(core, [process.execPath, ...PROXY_NODE_OPTIONS, MAIN], {
    ...process.env,
    OWL_PROXY_SETTINGS: JSON.stringify(settings),
  });
  const feed = await openFeed(settings);
  feed.send({ type: "table", table: tableOf(1, dir, ["up"]) });
  await feed.next("ack");
  return {
    name: "owl",
    port,
    pid: child.pid ?? 0,
    stop() {
      feed.close();
      child.kill("SIGKILL");
    },
  };
}

/** CPU of a process so far, in microseconds (10 ms ticks). */
export function cpuMicros(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Resident memory in bytes. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
}
