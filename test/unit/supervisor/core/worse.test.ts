// When the answers of new instances count as worse than those of the old ones, and when that is only noise.

import { expect, test } from "vitest";
import type { UpstreamCounters } from "../../../../config/proxy-feed.ts";
import { en } from "../../../../supervisor/core/text/text.ts";
import { answersWorse } from "../../../../supervisor/core/worse.ts";

const LIMITS = { errorShare: 0.05, p95Factor: 3 };

function counters(answers: number, errors: number, ms: 2 | 100 | 500): UpstreamCounters {
  const latency = Object.fromEntries(
    [2, 100, 500, "+Inf"].map((bound) => [bound, Number(bound) >= ms || bound === "+Inf" ? answers : 0]),
  );
  const responses = { "1xx": 0, "2xx": answers - errors, "3xx": 0, "4xx": 0, "5xx": errors };
  const rest = { connectFailures: 0, retries: 0, inFlight: 0, streams: 0, bytesIn: 0, bytesOut: 0 };
  return { id: "web-1", requests: answers, responses, latency, ...rest };
}

test.each([
  ["one in ten fails", counters(1_000, 0, 2), counters(40, 4, 2), /^10 % of 40 answers/],
  ["the old ones failed as often", counters(1_000, 80, 2), counters(40, 4, 2), null],
  ["two errors are noise", counters(1_000, 0, 2), counters(20, 2, 2), null],
  ["too few answers", counters(1_000, 0, 2), counters(19, 15, 2), null],
  ["nothing but errors", counters(1_000, 0, 2), counters(4, 4, 2), /^100 % of 4 answers/],
  ["every answer is broken off", counters(1_000, 0, 2), { ...counters(8, 4, 2), brokenOff: 4 }, /^100 % of 4 answers/],
  ["three errors and nothing else are noise", counters(1_000, 0, 2), counters(3, 3, 2), null],
  ["half a second instead of 2 ms", counters(1_000, 0, 2), counters(100, 0, 500), /480 ms .* in 2 ms/],
  ["slow from the start", counters(1_000, 0, 500), counters(100, 0, 500), null],
  ["too few for a percentile, but all of them slow", counters(1_000, 0, 2), counters(20, 0, 500), /ms .* in 2 ms/],
  ["too few to tell anything", counters(1_000, 0, 2), counters(19, 0, 500), null],
  ["nothing is known of the old ones", counters(0, 0, 2), counters(1_000, 0, 500), null],
])("%s", (_, old, fresh, expected) => {
  if (old.responses["5xx"] + fresh.responses["5xx"] === 0)
    expect(answersWorse([old], [fresh], [], 0, LIMITS)).toBeNull();
  const found = answersWorse([old], [fresh], [fresh.latency], 0, LIMITS)?.say(en.recorded) ?? null;
  if (expected === null) expect(found).toBeNull();
  else expect(found).toMatch(expected);
});

test("what the machine itself is late by is no fault of the new ones", () => {
  const [old, fresh] = [counters(1_000, 0, 2), counters(100, 0, 500)];
  expect(answersWorse([old], [fresh], [fresh.latency], 150, LIMITS)).toBeNull();
  expect(answersWorse([old], [fresh], [fresh.latency], 50, LIMITS)).not.toBeNull();
});
