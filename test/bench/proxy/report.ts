// The tables of the proxy benchmark: medians over the rounds, ratios taken round by round.

import { mkdirSync, writeFileSync } from "node:fs";
import type { Latency } from "./latency.ts";
import { type Figure, STEADY_PER_S } from "./run.ts";

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** Prints the tables and writes them, with every figure, into .build/bench/. */
export function report(all: {
  rounds: number;
  seconds: number;
  streams: number;
  results: Record<string, Record<string, Figure[]>>;
  /** `direct`: without a proxy in between. */
  latency: Record<string, Latency[]>;
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
  lines.push(...latencyTable(all.latency));
  if (all.streams > 0) lines.push(`## ${all.streams} idle event streams, resident bytes each`, "");
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

function latencyTable(latency: Record<string, Latency[]>): string[] {
  const { direct = [] } = latency;
  const lines = [
    `## GET 200 B at ${STEADY_PER_S} requests/s`,
    "",
    "| proxy | p50 ms | added | p95 ms | p99 ms | added | failed or late |",
    "|---|---|---|---|---|---|---|",
  ];
  for (const [name, list] of Object.entries(latency)) {
    const of = (key: keyof Latency) => median(list.map((one) => one[key])).toFixed(3);
    const added = (key: keyof Latency) =>
      name === "direct" ? "-" : median(list.map((one, round) => one[key] - (direct[round]?.[key] ?? 0))).toFixed(3);
    const failed = list.reduce((sum, one) => sum + one.failed, 0);
    lines.push(
      `| ${name} | ${of("p50Ms")} | ${added("p50Ms")} | ${of("p95Ms")} | ${of("p99Ms")} | ${added("p99Ms")} | ${failed} |`,
    );
  }
  return [...lines, ""];
}
