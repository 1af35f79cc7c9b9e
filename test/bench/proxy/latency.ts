// Latency at a steady rate, far below what any of the proxies can carry: what one hop adds to a request.
// Open loop: requests are due by the clock, whatever became of the earlier ones; each is timed from its own sending.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const CLIENT = fileURLToPath(new URL("./latency-client.ts", import.meta.url));

export interface Latency {
  readonly n: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
}

/** Sends `perS` GET a second to `port` for `seconds`, from `core`. */
export function latencyAt(port: number, perS: number, seconds: number, core: number): Latency {
  const command = ["-c", String(core), process.execPath, CLIENT, String(port), String(perS), String(seconds)];
  return JSON.parse(execFileSync("taskset", command).toString()) as Latency;
}
