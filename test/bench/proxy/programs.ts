// What the proxy benchmark measures: nginx, Owl's two engines, and a plain upstream, as processes pinned to one core.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../../config/system-time.ts";
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

/** `core`: taskset's CPU list. */
function pinned(core: number, command: readonly string[], env: NodeJS.ProcessEnv = process.env): ChildProcess {
  const [program = "", ...args] = ["taskset", "-c", String(core), ...command];
  return spawn(program, args, { env, stdio: ["ignore", "ignore", "inherit"] });
}

async function untilPort(port: number): Promise<void> {
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

export async function startUpstream(dir: string, core: number): Promise<Started> {
  const child = pinned(core, [process.execPath, UPSTREAM, join(dir, "up.sock")]);
  for (let tries = 0; tries < 250 && !existsSync(join(dir, "up.sock")); tries++) await systemClock.sleep(20);
  return { pid: child.pid ?? 0, stop: () => void child.kill("SIGKILL") };
}

export async function startOwl(engine: "net" | "http", dir: string, port: number, core: number): Promise<Measured> {
  const settings = proxySettings(`proxy-${engine}`, dir, { engine, listen: [{ host: "127.0.0.1", port }] });
  const child = pinned(core, [process.execPath, MAIN], {
    ...process.env,
    OWL_PROXY_SETTINGS: JSON.stringify(settings),
  });
  const feed = await openFeed(settings);
  feed.send({ type: "table", table: tableOf(1, dir, ["up"]) });
  await feed.next("ack");
  return {
    name: `owl ${engine}`,
    port,
    pid: child.pid ?? 0,
    stop() {
      feed.close();
      child.kill("SIGKILL");
    },
  };
}

/** nginx with one worker and 64 KiB buffers, as the goals name it; null when it is not installed. */
export async function startNginx(dir: string, port: number, core: number): Promise<Measured | null> {
  if (!existsSync("/usr/sbin/nginx")) return null;
  const home = join(dir, "nginx");
  mkdirSync(home);
  const user = process.getuid?.() === 0 ? "user root;" : "";
  writeFileSync(
    join(home, "nginx.conf"),
    `${user} worker_processes 1; daemon off; pid ${home}/pid; error_log ${home}/error.log;
events { worker_connections 20000; }
http {
  access_log off; keepalive_requests 1000000000;
  client_body_temp_path ${home}/b; proxy_temp_path ${home}/p; fastcgi_temp_path ${home}/f; uwsgi_temp_path ${home}/u; scgi_temp_path ${home}/s;
  upstream up { server unix:${dir}/up.sock; keepalive 256; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Request-Id $request_id;
      proxy_buffering off; proxy_request_buffering off; proxy_buffer_size 64k; proxy_buffers 8 64k; proxy_read_timeout 600s;
    }
  }
}
`,
  );
  const child = pinned(core, ["/usr/sbin/nginx", "-c", join(home, "nginx.conf"), "-p", home]);
  await untilPort(port);
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ");
  return { name: "nginx", port, pid: Number(children[0]), stop: () => void child.kill("SIGTERM") };
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
