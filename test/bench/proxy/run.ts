// npm run bench -- proxy [--rounds N] [--seconds N] [--streams N] [--requests N] [--only NAME,NAME]: Owl's proxy
// against nginx, HAProxy, http-proxy and @fastify/http-proxy (those that are there; names: "owl", …).
// "nginx fresh" opens a connection to the upstream for each request, as Owl does for those that may write: how far
// "owl" is from it is Owl's own cost, the rest of its distance from "nginx" is the price of that rule.
// Interleaved rounds in turning order; ratios per round and their medians; CPU per request is the steady figure.
// Writes JSON and Markdown into .build/bench/. Needs wrk and taskset. `--requests 0`, `--streams 0`: left out.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../config/system-time.ts";
import { scaled } from "../figures.ts";
import { type Latency, latencyAt } from "./latency.ts";
import { NGINX_NAMES, startHaproxy, startNginx, startNpmPeers } from "./peers.ts";
import { cpuMicros, type Measured, residentBytes, startOwl, startUpstream } from "./programs.ts";
import { report } from "./report.ts";

const PROXY_CORE = 0;
const LOAD_CORE = 1;
const UPSTREAM_PORT = 18_189;
/** Requests a second at which the added latency is measured. */
export const STEADY_PER_S = 2_000;

interface Case {
  readonly name: string;
  readonly path: string;
  readonly connections: number;
  readonly postBytes: number;
}

const CASES: readonly Case[] = [
  { name: "GET 200 B", path: "/", connections: 64, postBytes: 0 },
  { name: "POST 2 KiB", path: "/", connections: 64, postBytes: 2_048 },
  { name: "1 MiB answer", path: "/large", connections: 16, postBytes: 0 },
];

export interface Figure {
  readonly requestsPerS: number;
  readonly cpuMicrosPerRequest: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
}

/** Runs the benchmark with `args`; prints the table, returns when all is written. */
export async function benchProxy(args: readonly string[]): Promise<void> {
  const option = (name: string, fallback: number) => {
    const at = args.indexOf(`--${name}`);
    return at < 0 ? fallback : Number(args[at + 1]);
  };
  const rounds = option("rounds", scaled(5, 1));
  const seconds = option("seconds", scaled(3, 1));
  const only = args.includes("--only") ? (args[args.indexOf("--only") + 1] ?? "").split(",") : null;
  const wanted = (name: string) => only === null || only.includes(name);
  const dir = mkdtempSync(join(tmpdir(), "owl-bench-"));
  const stop: (() => void)[] = [() => rmSync(dir, { recursive: true, force: true })];
  try {
    const upstream = await startUpstream(dir, LOAD_CORE, UPSTREAM_PORT);
    stop.unshift(upstream.stop);
    const measured = await startAll(dir, wanted, stop);
    // First, while no heap has slack left from a load: growth then is what the streams cost.
    const count = option("streams", scaled(2_000, 200));
    const streams: Record<string, number> = {};
    if (count > 0) for (const one of measured) streams[one.name] = await bytesPerStream(one, count);
    for (const one of measured) load(dir, one, CASES[0] as Case, 2);

    const results: Record<string, Record<string, Figure[]>> = {};
    for (const bench of CASES) {
      results[bench.name] = await rounded(rounds, measured, (one) => load(dir, one, bench, seconds));
    }
    const direct = { name: "direct", port: UPSTREAM_PORT };
    const latency: Record<string, Latency[]> = await rounded(rounds, [direct, ...measured], ({ port }) =>
      latencyAt(port, STEADY_PER_S, seconds, LOAD_CORE),
    );
    const owl = measured.find(({ name }) => name === "owl");
    const requests = option("requests", scaled(1_000_000, 50_000));
    const growth = owl === undefined || requests === 0 ? null : heapGrowth(dir, owl, requests);
    report({ rounds, seconds, streams: count, results, latency, bytesPerStream: streams, growth });
  } finally {
    for (const run of stop) run();
  }
}

/** Every proxy that is wanted and there, each on the proxies' core; what ends them is put into `stop`. */
async function startAll(dir: string, wanted: (name: string) => boolean, stop: (() => void)[]): Promise<Measured[]> {
  const measured: Measured[] = [];
  const add = (one: Measured | null) => {
    if (one === null) return;
    measured.push(one);
    stop.unshift(one.stop);
  };
  if (wanted(NGINX_NAMES.kept)) add(await startNginx(dir, 18_190, PROXY_CORE, "kept"));
  if (wanted(NGINX_NAMES.fresh)) add(await startNginx(dir, 18_188, PROXY_CORE, "fresh"));
  if (wanted("HAProxy")) add(await startHaproxy(dir, 18_193, PROXY_CORE));
  if (wanted("owl")) add(await startOwl(dir, 18_191, PROXY_CORE));
  const { measured: npm, peers } = await startNpmPeers(dir, 18_194, PROXY_CORE, wanted);
  if (peers !== null) stop.push(() => rmSync(peers.dir, { recursive: true, force: true }));
  for (const one of npm) add(one);
  return measured;
}

/** `rounds` figures of each, in an order that turns with every round. */
async function rounded<T extends { readonly name: string }, F>(
  rounds: number,
  all: readonly T[],
  measure: (one: T) => F,
): Promise<Record<string, F[]>> {
  const figures: Record<string, F[]> = Object.fromEntries(all.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const one of round % 2 === 0 ? all : all.toReversed()) {
      figures[one.name]?.push(measure(one));
      // Sockets of the last one close before the next is measured.
      await systemClock.sleep(50);
    }
  }
  return figures;
}

function load(dir: string, one: Measured, bench: Case, seconds: number): Figure {
  const script = join(dir, "post.lua");
  writeFileSync(script, `wrk.method = "POST"; wrk.body = string.rep("z", ${bench.postBytes})\n`);
  const before = cpuMicros(one.pid);
  const output = execFileSync("taskset", [
    "-c",
    String(LOAD_CORE),
    "wrk",
    "-t1",
    `-c${bench.connections}`,
    `-d${seconds}`,
    "--latency",
    ...(bench.postBytes > 0 ? ["-s", script] : []),
    `http://127.0.0.1:${one.port}${bench.path}`,
  ]).toString();
  const cpu = cpuMicros(one.pid) - before;
  const requests = Number(/(\d+) requests in/.exec(output)?.[1] ?? 0);
  const errors =
    Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0) +
    [...(/Socket errors: (.*)/.exec(output)?.[1] ?? "").matchAll(/\d+/g)].reduce(
      (sum, [digits]) => sum + Number(digits),
      0,
    );
  return {
    requestsPerS: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1] ?? 0),
    cpuMicrosPerRequest: cpu / Math.max(1, requests),
    p50Ms: milliseconds(output, "50%"),
    p99Ms: milliseconds(output, "99%"),
    errors,
  };
}

function milliseconds(output: string, percentile: string): number {
  const [, value = "0", unit = "ms"] = new RegExp(`${percentile}\\s+([\\d.]+)(us|ms|s)`).exec(output) ?? [];
  return Number(value) * (unit === "us" ? 0.001 : unit === "s" ? 1_000 : 1);
}

/** Growth of resident memory for each idle event stream, its first event received. */
async function bytesPerStream(one: Measured, count: number): Promise<number> {
  const before = residentBytes(one.pid);
  const sockets: Socket[] = [];
  let started = 0;
  for (let n = 0; n < count; n++) {
    const socket = connect(one.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.once("data", () => started++);
    socket.write("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    sockets.push(socket);
    if (n % 100 === 99) await systemClock.sleep(20);
  }
  for (let tries = 0; started < count && tries < 500; tries++) await systemClock.sleep(20);
  const after = residentBytes(one.pid);
  for (const socket of sockets) socket.destroy();
  await systemClock.sleep(500);
  return started === count ? Math.round((after - before) / count) : Number.NaN;
}

/** Resident memory after a tenth of `requests` and after all of them. */
function heapGrowth(dir: string, one: Measured, requests: number) {
  const run = (wanted: number) => {
    for (let done = 0; done < wanted; ) done += load(dir, one, CASES[0] as Case, 5).requestsPerS * 5;
    return residentBytes(one.pid);
  };
  const early = run(requests / 10);
  return { requests, earlyBytes: early, lateBytes: run(requests) };
}
