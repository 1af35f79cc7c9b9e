// The proxies Owl is compared with: nginx and HAProxy (packages of the system), http-proxy and @fastify/http-proxy
// (from npm, into a temporary directory). One that is not there is left out, and the table says so by its absence.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../../config/system-time.ts";
import { installPeers, type Peers } from "../peers/install.ts";
import { type Measured, pinned, untilPort } from "./programs.ts";

const NPM_PEER = fileURLToPath(new URL("./npm-peer.ts", import.meta.url));
const NPM_PACKAGES = ["http-proxy@1.18.1", "@fastify/http-proxy@11.6.3", "fastify@5.12.8", "undici@8.13.1"];

/** What nginx does with its connections to the upstream: `fresh` is what Owl's rule asks for requests that may write. */
export type NginxUpstreams = "kept" | "fresh";
export const NGINX_NAMES = { kept: "nginx", fresh: "nginx fresh" } as const;

/** nginx with one worker and 64 KiB buffers, as the goals name it; null when it is not installed. */
export async function startNginx(
  dir: string,
  port: number,
  core: number,
  upstreams: NginxUpstreams,
): Promise<Measured | null> {
  if (!existsSync("/usr/sbin/nginx")) return null;
  const home = join(dir, `nginx-${upstreams}`);
  const isKept = upstreams === "kept";
  mkdirSync(home);
  const user = process.getuid?.() === 0 ? "user root;" : "";
  writeFileSync(
    join(home, "nginx.conf"),
    `${user} worker_processes 1; daemon off; pid ${home}/pid; error_log ${home}/error.log;
events { worker_connections 20000; }
http {
  access_log off; keepalive_requests 1000000000;
  client_body_temp_path ${home}/b; proxy_temp_path ${home}/p; fastcgi_temp_path ${home}/f; uwsgi_temp_path ${home}/u; scgi_temp_path ${home}/s;
  upstream up { server unix:${dir}/up.sock; ${isKept ? "keepalive 256; keepalive_requests 1000000000;" : ""} }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection "${isKept ? "" : "close"}"; proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Request-Id $request_id;
      proxy_buffering off; proxy_request_buffering off; proxy_buffer_size 64k; proxy_buffers 8 64k; proxy_read_timeout 600s;
    }
  }
}
`,
  );
  const child = pinned(core, ["/usr/sbin/nginx", "-c", join(home, "nginx.conf"), "-p", home]);
  await untilPort(port);
  return {
    name: NGINX_NAMES[upstreams],
    port,
    pid: await workerOf(child.pid ?? 0),
    stop: () => void child.kill("SIGTERM"),
  };
}

/** The one worker of nginx: forked a moment after the port is open. */
async function workerOf(pid: number): Promise<number> {
  for (let tries = 0; tries < 250; tries++) {
    const [first = ""] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    if (first !== "") return Number(first);
    await systemClock.sleep(20);
  }
  throw new Error("nginx has no worker");
}

/** HAProxy with one thread, reusing upstream connections; null when it is not installed. */
export async function startHaproxy(dir: string, port: number, core: number): Promise<Measured | null> {
  if (!existsSync("/usr/sbin/haproxy")) return null;
  const file = join(dir, "haproxy.cfg");
  writeFileSync(
    file,
    `global
  nbthread 1
  maxconn 9000
  tune.bufsize 65536
defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  option http-keep-alive
  option forwardfor
  http-reuse always
frontend f
  bind 127.0.0.1:${port} backlog 4096
  default_backend b
backend b
  http-request set-header X-Forwarded-Proto http
  http-request set-header X-Request-Id %[uuid()]
  server up unix@${dir}/up.sock pool-max-conn 256 pool-purge-delay 60s
`,
  );
  const child = pinned(core, ["/usr/sbin/haproxy", "-db", "-q", "-f", file]);
  await untilPort(port);
  return { name: "HAProxy", port, pid: child.pid ?? 0, stop: () => void child.kill("SIGKILL") };
}

/** The npm proxies that are `wanted` by name; none when they cannot be installed. */
export async function startNpmPeers(
  dir: string,
  port: number,
  core: number,
  wanted: (name: string) => boolean,
): Promise<{ readonly measured: readonly Measured[]; readonly peers: Peers | null }> {
  const names = ["http-proxy", "@fastify/http-proxy"].filter(wanted);
  if (names.length === 0) return { measured: [], peers: null };
  const peers = await installPeers(NPM_PACKAGES, (line) => process.stderr.write(`${line}\n`));
  if (peers === null) return { measured: [], peers };
  const measured: Measured[] = [];
  for (const [index, name] of names.entries()) {
    const at = port + index;
    const child = pinned(core, [process.execPath, NPM_PEER, name, peers.dir, join(dir, "up.sock"), String(at)]);
    await untilPort(at);
    measured.push({ name, port: at, pid: child.pid ?? 0, stop: () => void child.kill("SIGKILL") });
  }
  return { measured, peers };
}
