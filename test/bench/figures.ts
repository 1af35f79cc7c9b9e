// Figures of a benchmark: percentiles, rows of the table, and the machine they were taken on.

import { readFileSync } from "node:fs";
import { arch, cpus, loadavg, release, totalmem } from "node:os";

/** `--quick`: a minute a part, for an order of magnitude. */
export const isQuick = process.argv.includes("--quick");

/** `--cases=a,b`: of a benchmark that has cases only those whose name has one of these in it. */
export const isWantedCase = (name: string): boolean => {
  const given = process.argv.find((word) => word.startsWith("--cases="))?.slice("--cases=".length);
  return given === undefined || given.split(",").some((part) => name.includes(part));
};

/** How much of something is done: `full`, or with `--quick` so much. */
export const scaled = (full: number, quick: number): number => (isQuick ? quick : full);

export interface Summary {
  readonly n: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Nearest-rank percentiles. Throws for no samples: a figure of nothing is none. */
export function summaryOf(samples: readonly number[]): Summary {
  if (samples.length === 0) throw new Error("no samples");
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { n: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

export interface Row {
  readonly work: string;
  readonly goal: string;
  readonly measured: string;
  /** null: there is no goal, or it could not be judged. */
  readonly met: boolean | null;
  readonly unit?: string;
  readonly summary?: Summary;
  readonly note?: string;
}

export interface Bench {
  readonly name: string;
  run(log: (line: string) => void): Promise<readonly Row[]>;
}

export interface Hardware {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly node: string;
  /** Load averages as the run began: what else the machine was doing. */
  readonly load: readonly number[];
}

export function hardware(): Hardware {
  const all = cpus();
  return {
    processor: all[0]?.model.trim() ?? "?",
    cores: all.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `${release()} ${arch()}`,
    node: process.version,
    load: loadavg().map((one) => Math.round(one * 100) / 100),
  };
}

const short = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);

export function tableOf(rows: readonly Row[]): readonly string[] {
  return [
    "| work | goal | measured | met | n | p50 | p95 | p99 | max |",
    "|---|---|---|---|---|---|---|---|---|",
    ...rows.map((row) => {
      const { summary: s, unit = "" } = row;
      const values =
        s === undefined
          ? ["", "", "", "", ""]
          : [String(s.n), ...[s.p50, s.p95, s.p99, s.max].map((one) => `${short(one)} ${unit}`)];
      const met = row.met === null ? "-" : row.met ? "yes" : "**no**";
      return `| ${row.work} | ${row.goal} | ${row.measured}${row.note ? ` (${row.note})` : ""} | ${met} | ${values.join(" | ")} |`;
    }),
  ];
}

/** Resident memory in MiB. */
export function residentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1024;
}

/** CPU time so far in ms (10 ms ticks). */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
