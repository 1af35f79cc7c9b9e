// Do the new instances of a rollout answer measurably worse than the old ones did? Pure.
// Invariant: noise does not decide: a few errors or a slow first request are not enough, and with too few requests
// nothing is said.

import type { UpstreamCounters } from "../../config/proxy-feed.ts";
import type { Recorded } from "./text/text.ts";

interface WorseLimits {
  readonly errorShare: number;
  readonly p95Factor: number;
}

/** Below so many answers of the new ones nothing is said. */
const LEAST_ANSWERS = 20;
const LEAST_ERRORS = 3;
/** A percentile needs more, of both; and what is slower by less is no harm to anyone. */
const LEAST_TIMED = 100;
const LEAST_SLOWER_MS = 50;

/** The reason, or null: as good as before, or not known yet. Both lists are of one service. */
export function answersWorse(
  old: readonly UpstreamCounters[],
  fresh: readonly UpstreamCounters[],
  limits: WorseLimits,
): ((text: Recorded) => string) | null {
  const now = errorsOf(fresh);
  const before = errorsOf(old);
  if (now.answers >= LEAST_ANSWERS && now.errors >= LEAST_ERRORS && now.share > before.share + limits.errorShare) {
    return ({ rollout }) => rollout.worseErrors(percent(now.share), now.answers, percent(before.share));
  }
  const [slow, usual] = [p95Of(fresh), p95Of(old)];
  if (slow === null || usual === null) return null;
  if (slow <= usual * limits.p95Factor || slow - usual < LEAST_SLOWER_MS) return null;
  return ({ rollout }) => rollout.worseTime(Math.round(slow), Math.round(usual));
}

function errorsOf(all: readonly UpstreamCounters[]) {
  const errors = all.reduce((sum, { responses }) => sum + responses["5xx"], 0);
  const answers = all.reduce((sum, one) => sum + Object.values(one.responses).reduce((a, b) => a + b, 0), 0);
  return { errors, answers, share: answers === 0 ? 0 : errors / answers };
}

/** Within its bucket of the histogram by proportion; null: too few requests. */
function p95Of(all: readonly UpstreamCounters[]): number | null {
  const bounds = [...new Set(all.flatMap(({ latency }) => Object.keys(latency)))]
    .map((name) => ({ name, ms: name === "+Inf" ? Number.POSITIVE_INFINITY : Number(name) }))
    .toSorted((a, b) => a.ms - b.ms);
  const upTo = (name: string): number => all.reduce((sum, { latency }) => sum + (latency[name] ?? 0), 0);
  const total = upTo("+Inf");
  if (total < LEAST_TIMED) return null;
  const wanted = total * 0.95;
  let [below, lowMs] = [0, 0];
  for (const { name, ms } of bounds) {
    const count = upTo(name);
    if (count >= wanted)
      return ms === Number.POSITIVE_INFINITY ? lowMs : lowMs + ((ms - lowMs) * (wanted - below)) / (count - below);
    [below, lowMs] = [count, ms];
  }
  return lowMs;
}

function percent(share: number): number {
  return Math.round(share * 1_000) / 10;
}
