// Do the new instances of a rollout answer measurably worse than the old ones did? Pure.
// Invariant: noise does not decide: a few errors or slow first answers are not enough, and with too few requests nothing
// is said.

import type { UpstreamCounters } from "../../config/proxy-feed.ts";
import type { Recorded } from "./text/text.ts";

interface WorseLimits {
  readonly errorShare: number;
  readonly p95Factor: number;
}

interface Worse {
  readonly say: (text: Recorded) => string;
  /** Answer times alone may be a moment's: they decide when they stay so. */
  readonly isSure: boolean;
}

/** Below so many answers of the new ones nothing is said. */
const LEAST_ANSWERS = 20;
const LEAST_ERRORS = 3;
/** A high percentile needs more answers: with fewer, half of them must be slower. Less slower harms nobody. */
const LEAST_TIMED = 100;
const LEAST_SLOWER_MS = 50;
/** An answer waits for a turn on the processor several times: in the client, the proxy, the process, and on the way back. */
const WAITS_PER_ANSWER = 5;

/** Answer times by the histogram's bounds, counted up. */
type Latency = UpstreamCounters["latency"];

/**
 * The reason, or null: as good as before, or not known yet. All of one service; `warm`: times since the new ones are so;
 * `lateMs`: how late the machine lets any process run meanwhile.
 */
export function answersWorse(
  old: readonly UpstreamCounters[],
  fresh: readonly UpstreamCounters[],
  warm: readonly Latency[],
  lateMs: number,
  limits: WorseLimits,
): Worse | null {
  const now = errorsOf(fresh);
  const before = errorsOf(old);
  if (now.answers >= LEAST_ANSWERS && now.errors >= LEAST_ERRORS && now.share > before.share + limits.errorShare) {
    return {
      say: ({ rollout }) => rollout.worseErrors(percent(now.share), now.answers, percent(before.share)),
      isSure: true,
    };
  }
  const timed = warm.reduce((sum, latency) => sum + (latency["+Inf"] ?? 0), 0);
  if (timed < LEAST_ANSWERS || before.answers < LEAST_TIMED) return null;
  const slow = percentileOf(warm, timed < LEAST_TIMED ? 0.5 : 0.95);
  const usual = percentileOf(
    old.map(({ latency }) => latency),
    0.95,
  );
  if (slow === null || usual === null) return null;
  if (slow <= usual * limits.p95Factor || slow - usual < LEAST_SLOWER_MS + WAITS_PER_ANSWER * lateMs) return null;
  return { say: ({ rollout }) => rollout.worseTime(Math.round(slow), Math.round(usual)), isSure: false };
}

function errorsOf(all: readonly UpstreamCounters[]) {
  const errors = all.reduce((sum, { responses }) => sum + responses["5xx"], 0);
  const answers = all.reduce((sum, one) => sum + Object.values(one.responses).reduce((a, b) => a + b, 0), 0);
  return { errors, answers, share: answers === 0 ? 0 : errors / answers };
}

/** Within its bucket of the histogram by proportion; null: nothing was timed. */
function percentileOf(all: readonly Latency[], part: number): number | null {
  const bounds = [...new Set(all.flatMap((latency) => Object.keys(latency)))]
    .map((name) => ({ name, ms: name === "+Inf" ? Number.POSITIVE_INFINITY : Number(name) }))
    .toSorted((a, b) => a.ms - b.ms);
  const upTo = (name: string): number => all.reduce((sum, latency) => sum + (latency[name] ?? 0), 0);
  const total = upTo("+Inf");
  if (total === 0) return null;
  const wanted = total * part;
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
