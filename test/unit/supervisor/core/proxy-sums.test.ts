import { expect, test } from "vitest";
import type { ProxyCounters } from "../../../../config/proxy-feed.ts";
import { NO_COUNTERS, retireCounters, sumCounters } from "../../../../supervisor/core/proxy-sums.ts";

const counters = (requests: number, id: string): ProxyCounters => ({
  ...NO_COUNTERS,
  requests,
  inFlight: 2,
  connections: 3,
  refused: { badRequest: requests },
  upstreams: [
    {
      id,
      requests,
      responses: { "1xx": 0, "2xx": requests, "3xx": 0, "4xx": 0, "5xx": 1 },
      connectFailures: 1,
      retries: 0,
      inFlight: 2,
      streams: 1,
      bytesIn: 10,
      bytesOut: 20,
      latency: { "5": 1, "10": requests },
    },
  ],
});

test("counters are summed upstream by upstream", () => {
  const sum = sumCounters([counters(5, "web-1"), counters(7, "web-1"), counters(1, "web-2")]);
  expect(sum).toMatchObject({ requests: 13, inFlight: 6, connections: 9, refused: { badRequest: 13 } });
  expect(sum.upstreams.map(({ id, requests }) => [id, requests])).toEqual([
    ["web-1", 12],
    ["web-2", 1],
  ]);
  expect(sum.upstreams[0]).toMatchObject({
    inFlight: 4,
    latency: { "5": 2, "10": 12 },
    responses: { "2xx": 12, "5xx": 2 },
  });
});

test("a process that is gone leaves its totals and nothing that was open", () => {
  const sum = sumCounters([retireCounters(counters(5, "web-1")), counters(1, "web-1")]);
  expect(sum).toMatchObject({ requests: 6, inFlight: 2, connections: 3 });
  expect(sum.upstreams[0]).toMatchObject({ requests: 6, inFlight: 2, streams: 1 });
});

test("of nothing the sum is nothing", () => {
  expect(sumCounters([])).toEqual(NO_COUNTERS);
});
