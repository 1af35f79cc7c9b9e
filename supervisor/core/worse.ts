// Do the new instances of a rollout answer measurably worse than the old ones did? Pure.
// Invariant: noise does not decide: a few errors, slow first answers or a moment of silence are not enough, and with too
// few requests nothing is said.

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
/** Without a single good answer so many errors do: the proxy itself spares those that fail from then on. */
const LEAST_ERRORS_ALONE = 4;
/** Errors of the newest answers alone decide when there are so many: however long all was well before. */
const LEAST_LATE_ERRORS = 10;
/** So many requests must wait while none is answered, and so long; longer while new ones are not warm yet. */
const LEAST_WAITING = 10;
const SILENT_MS = 500;
const SILENT_COLD_MS = 2_000;
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
  const isEnough = now.answers >= LEAST_ANSWERS && now.errors >= LEAST_ERRORS;
  const isNothingElse = now.errors === now.answers && now.errors >= LEAST_ERRORS_ALONE && before.answers >= LEAST_TIMED;
  if ((isEnough || isNothingElse) && now.share > before.share + limits.errorShare) {
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

/** The same of the newest answers alone, those since `earlier`: what turns bad late is not covered up by what was well. */
export function failsLately(
  old: readonly UpstreamCounters[],
  earlier: readonly UpstreamCounters[],
  fresh: readonly UpstreamCounters[],
  { errorShare }: Pick<WorseLimits, "errorShare">,
): Worse | null {
  const [now, then, before] = [errorsOf(fresh), errorsOf(earlier), errorsOf(old)];
  const [errors, answers] = [now.errors - then.errors, now.answers - then.answers];
  if (errors < LEAST_LATE_ERRORS || errors <= answers * (before.share + errorShare)) return null;
  return {
    say: ({ rollout }) => rollout.worseErrors(percent(errors / answers), answers, percent(before.share)),
    isSure: true,
  };
}

/** Whether enough requests wait for the silence of these to mean something, and the answers so far. */
export function waitingAt(fresh: readonly UpstreamCounters[]): { readonly waits: boolean; readonly answers: number } {
  const { answers } = errorsOf(fresh);
  const sent = fresh.reduce((sum, { requests }) => sum + requests, 0);
  // What is in flight may be a long answer under way, and who left without one is counted as sent for ever.
  const open = fresh.reduce((sum, { inFlight }) => sum + inFlight, 0);
  return { waits: Math.min(open, sent - answers) >= LEAST_WAITING, answers };
}

/** Requests wait and not one is answered, for `forMs` so far: longer than the old ones ever let anybody wait. */
export function staysSilent(
  old: readonly UpstreamCounters[],
  forMs: number,
  isWarm: boolean,
  lateMs: number,
  { p95Factor }: Pick<WorseLimits, "p95Factor">,
): Worse | null {
  if (errorsOf(old).answers < LEAST_TIMED) return null;
  const usual = percentileOf(
    old.map(({ latency }) => latency),
    0.95,
  );
  if (usual === null) return null;
  const mostMs = Math.max(isWarm ? SILENT_MS : SILENT_COLD_MS, usual * p95Factor) + WAITS_PER_ANSWER * lateMs;
  if (forMs < mostMs) return null;
  return { say: ({ rollout }) => rollout.worseSilent(Math.round(forMs), Math.round(usual)), isSure: true };
}

function errorsOf(all: readonly UpstreamCounters[]) {
  const errors = all.reduce((sum, { responses }) => sum + responses["5xx"], 0);
  const said = all.reduce((sum, one) => sum + Object.values(one.responses).reduce((a, b) => a + b, 0), 0);
  const answers = said - all.reduce((sum, { brokenOff = 0 }) => sum + brokenOff, 0);
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
