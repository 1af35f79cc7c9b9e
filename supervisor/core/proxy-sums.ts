// Counters of several proxy processes as one. Pure. Invariant: a sum never falls when a process goes, given its last
// counters were retired.

import type { ProxyCounters, UpstreamCounters } from "../../config/proxy-feed.ts";

export const NO_COUNTERS: ProxyCounters = {
  requests: 0,
  inFlight: 0,
  retries: 0,
  failures: 0,
  connections: 0,
  streamsMoved: 0,
  refused: {},
  retryReasons: {},
  upstreams: [],
};

/** The sum of all, upstream by upstream. */
export function sumCounters(all: readonly ProxyCounters[]): ProxyCounters {
  return all.reduce(addCounters, NO_COUNTERS);
}

/** What remains of a process that is gone: its totals, without what was open at the moment. */
export function retireCounters(counters: ProxyCounters): ProxyCounters {
  return {
    ...counters,
    inFlight: 0,
    connections: 0,
    upstreams: counters.upstreams.map((upstream) => ({ ...upstream, inFlight: 0, streams: 0 })),
  };
}

function addCounters(left: ProxyCounters, right: ProxyCounters): ProxyCounters {
  const upstreams = new Map(left.upstreams.map((upstream) => [upstream.id, upstream]));
  for (const upstream of right.upstreams) {
    const known = upstreams.get(upstream.id);
    upstreams.set(upstream.id, known ? addUpstreams(known, upstream) : upstream);
  }
  return {
    requests: left.requests + right.requests,
    inFlight: left.inFlight + right.inFlight,
    retries: left.retries + right.retries,
    failures: left.failures + right.failures,
    connections: left.connections + right.connections,
    streamsMoved: left.streamsMoved + right.streamsMoved,
    refused: addRecords(left.refused, right.refused),
    retryReasons: addRecords(left.retryReasons, right.retryReasons),
    upstreams: [...upstreams.values()],
  };
}

function addUpstreams(left: UpstreamCounters, right: UpstreamCounters): UpstreamCounters {
  const sum = (pick: (counters: UpstreamCounters) => number): number => pick(left) + pick(right);
  const responses = (key: keyof UpstreamCounters["responses"]): number => left.responses[key] + right.responses[key];
  return {
    id: left.id,
    requests: sum((counters) => counters.requests),
    responses: {
      "1xx": responses("1xx"),
      "2xx": responses("2xx"),
      "3xx": responses("3xx"),
      "4xx": responses("4xx"),
      "5xx": responses("5xx"),
    },
    connectFailures: sum((counters) => counters.connectFailures),
    brokenOff: sum((counters) => counters.brokenOff ?? 0),
    retries: sum((counters) => counters.retries),
    inFlight: sum((counters) => counters.inFlight),
    streams: sum((counters) => counters.streams),
    bytesIn: sum((counters) => counters.bytesIn),
    bytesOut: sum((counters) => counters.bytesOut),
    latency: addRecords(left.latency, right.latency),
  };
}

function addRecords(
  left: Readonly<Record<string, number>>,
  right: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const sum: Record<string, number> = { ...left };
  for (const [key, value] of Object.entries(right)) sum[key] = (sum[key] ?? 0) + value;
  return sum;
}
