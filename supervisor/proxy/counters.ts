// The figures of one proxy process. Plain numbers, bumped on the hot path, copied out when owld asks.

import type { ProxyCounters, UpstreamCounters } from "../../config/proxy-feed.ts";

/** Upper bounds of the latency histogram in ms; beyond the last: `+Inf`. */
const LATENCY_BOUNDS_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 60_000] as const;

const CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;

/** Mutable figures of one upstream. */
export interface UpstreamTally {
  requests: number;
  /** Index 0: 1xx ... 4: 5xx. */
  readonly responses: number[];
  connectFailures: number;
  brokenOff: number;
  retries: number;
  bytesIn: number;
  bytesOut: number;
  /** One more slot than bounds: the last is everything slower. */
  readonly latency: number[];
}

/** Figures at zero. */
export function createUpstreamTally(): UpstreamTally {
  return {
    requests: 0,
    responses: [0, 0, 0, 0, 0],
    connectFailures: 0,
    brokenOff: 0,
    retries: 0,
    bytesIn: 0,
    bytesOut: 0,
    latency: new Array<number>(LATENCY_BOUNDS_MS.length + 1).fill(0),
  };
}

/** Notes a response's status. */
export function countStatus(tally: UpstreamTally, status: number): void {
  const index = Math.min(Math.floor(status / 100), CLASSES.length) - 1;
  tally.responses[index] = (tally.responses[index] ?? 0) + 1;
}

/** Notes how long a request took, in ms. */
export function countLatency(tally: UpstreamTally, elapsedMs: number): void {
  let slot = 0;
  while (slot < LATENCY_BOUNDS_MS.length && elapsedMs > (LATENCY_BOUNDS_MS[slot] ?? 0)) slot++;
  tally.latency[slot] = (tally.latency[slot] ?? 0) + 1;
}

/** Sums of the whole process. */
export class Counters {
  requests = 0;
  inFlight = 0;
  retries = 0;
  failures = 0;
  connections = 0;
  /** Streams of HTTP/2 under way beyond the first of their connection. */
  furtherStreams = 0;
  streamsMoved = 0;
  readonly refused: Record<string, number> = {};
  readonly retryReasons: Record<string, number> = {};

  refuse(reason: string): void {
    this.refused[reason] = (this.refused[reason] ?? 0) + 1;
  }

  retryReason(reason: string): void {
    this.retryReasons[reason] = (this.retryReasons[reason] ?? 0) + 1;
  }

  /** A copy for the feed, with the given upstreams' own. */
  snapshot(upstreams: readonly UpstreamCounters[]): ProxyCounters {
    return {
      requests: this.requests,
      inFlight: this.inFlight,
      retries: this.retries,
      failures: this.failures,
      connections: this.connections,
      streamsMoved: this.streamsMoved,
      refused: { ...this.refused },
      retryReasons: { ...this.retryReasons },
      upstreams,
    };
  }
}

/** One upstream's figures as owld reads them. */
export function upstreamCounters(
  id: string,
  tally: UpstreamTally,
  inFlight: number,
  streams: number,
): UpstreamCounters {
  const responses = { "1xx": 0, "2xx": 0, "3xx": 0, "4xx": 0, "5xx": 0 };
  CLASSES.forEach((name, index) => {
    responses[name] = tally.responses[index] ?? 0;
  });
  const latency: Record<string, number> = {};
  let sum = 0;
  tally.latency.forEach((count, slot) => {
    sum += count;
    latency[String(LATENCY_BOUNDS_MS[slot] ?? "+Inf")] = sum;
  });
  const { requests, connectFailures, brokenOff, retries, bytesIn, bytesOut } = tally;
  return {
    id,
    requests,
    responses,
    connectFailures,
    brokenOff,
    retries,
    inFlight,
    streams,
    bytesIn,
    bytesOut,
    latency,
  };
}
