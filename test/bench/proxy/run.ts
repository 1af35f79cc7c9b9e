// npm run bench -- proxy [--rounds N] [--seconds N] [--streams N] [--requests N]: Owl's proxy against nginx.
// Interleaved rounds in turning order; ratios per round and their medians; CPU per request is the steady figure.
// Writes JSON and Markdown into .build/bench/. Needs wrk and taskset; nginx is compared when it is installed.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../config/system-time.ts";
import { cpuMicros, type Measured, residentBytes, startNginx, startOwl, startUpstream } from "./programs.ts";

const PROXY_CORE = 0;
const LOAD_CORE = 1;

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

interface Figure {
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
  const rounds = option("rounds", 5);
  const seconds = option("seconds", 3);
  const dir = mkdtempSync(join(tmpdir(), "owl-bench-"));
  const stop: (() => void)[] = [() => rmSync(dir, { recursive: true, force: true })];
  try {
    const upstream = await startUpstream(dir, LOAD_CORE);
    stop.unshift(upstream.stop);
    const measured: Measured[] = [];
    const nginx = await startNginx(dir, 18_190, PROXY_CORE);
    if (nginx !== null) measured.push(nginx);
    measured.push(await startOwl("net", dir, 18_191, PROXY_CORE));
    measured.push(await startOwl("http", dir, 18_192, PROXY_CORE));
    stop.unshift(...measured.map((one) => one.stop));
    for (const one of measured) load(dir, one, CASES[0] as Case, 2);

    const results: Record<string, Record<string, Figure[]>> = {};
    for (const bench of CASES) {
      const figures: Record<string, Figure[]> = {};
      for (let round = 0; round < rounds; round++) {
        const order = round % 2 === 0 ? measured : measured.toReversed();
        for (const one of order) {
          figures[one.name] ??= [];
          figures[one.name]?.push(load(dir, one, bench, seconds));
        }
      }
      results[bench.name] = figures;
    }
    const streams: Record<string, number> = {};
    const count = option("streams", 2_000);
    for (const one of measured) streams[one.name] = await bytesPerStream(one, count);
    const owl = measured.find(({ name }) => name === "owl net");
    const growth = owl === undefined ? null : heapGrowth(dir, owl, option("requests", 1_000_000));
    report({ rounds, seconds, streams: count, results, bytesPerStream: streams, growth });
  } finally {
    for (const run of stop) run();
  }
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

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

function report(all: {
  rounds: number;
  seconds: number;
  streams: number;
  results: Record<string, Record<string, Figure[]>>;
  bytesPerStream: Record<string, number>;
  growth: { requests: number; earlyBytes: number; lateBytes: number } | null;
}): void {
  const lines = [`# Proxy benchmark: ${all.rounds} interleaved rounds of ${all.seconds} s, medians`, ""];
  for (const [name, figures] of Object.entries(all.results)) {
    const base = figures.nginx;
    lines.push(
      `## ${name}`,
      "",
      "| proxy | req/s | x nginx | CPU us/request | x nginx, per round | p50 ms | p99 ms | errors |",
      "|---|---|---|---|---|---|---|---|",
    );
    for (const [proxy, list] of Object.entries(figures)) {
      const of = (key: keyof Figure) => median(list.map((figure) => figure[key]));
      const ratio = (key: keyof Figure) =>
        base === undefined
          ? "-"
          : median(list.map((figure, round) => figure[key] / (base[round]?.[key] ?? Number.NaN))).toFixed(2);
      const errors = list.reduce((sum, figure) => sum + figure.errors, 0);
      lines.push(
        `| ${proxy} | ${of("requestsPerS").toFixed(0)} | ${ratio("requestsPerS")} | ${of("cpuMicrosPerRequest").toFixed(1)} | ${ratio("cpuMicrosPerRequest")} | ${of("p50Ms").toFixed(2)} | ${of("p99Ms").toFixed(2)} | ${errors} |`,
      );
    }
    lines.push("");
  }
  lines.push(`## ${all.streams} idle event streams, resident bytes each`, "");
  for (const [proxy, bytes] of Object.entries(all.bytesPerStream)) lines.push(`- ${proxy}: ${bytes}`);
  if (all.growth !== null) {
    const { requests, earlyBytes, lateBytes } = all.growth;
    lines.push(
      "",
      `Resident memory after ${requests / 10} requests ${earlyBytes} bytes, after ${requests} more ${lateBytes} bytes.`,
    );
  }
  const text = `${lines.join("\n")}\n`;
  process.stdout.write(text);
  mkdirSync(".build/bench", { recursive: true });
  writeFileSync(".build/bench/proxy.md", text);
  writeFileSync(".build/bench/proxy.json", `${JSON.stringify(all, null, 2)}\n`);
}
