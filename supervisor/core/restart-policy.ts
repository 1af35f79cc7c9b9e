// When a crashed instance is started again, and when its service is crash-looping. Pure.
// Invariant: it is never given up; the pause only grows to its ceiling.

import type { MonotonicMs } from "../../config/time.ts";
import type { Recorded } from "./text/text.ts";

const CEILING_MS = 30_000;
/** Ready for so long, and the pause starts at 0 again. */
const CALM_MS = 60_000;
const LOOP_CRASHES = 5;
const LOOP_WINDOW_MS = 60_000;

interface RestartVerdict {
  readonly delayMs: number;
  /** How many tries in a row this is. */
  readonly attempt: number;
  readonly crashLooping: boolean;
  /** How soon and why: the end of a sentence. */
  readonly reason: (text: Recorded) => string;
}

/**
 * What follows a crash. `attempt`: tries in a row before this one; `readyForMs`: how long it had been ready;
 * `crashes`: instants of the service's crashes, this one included.
 */
export function afterCrash(
  attempt: number,
  readyForMs: number,
  crashes: readonly MonotonicMs[],
  nowMs: MonotonicMs,
): RestartVerdict {
  const before = readyForMs >= CALM_MS ? 0 : attempt;
  const crashLooping = isCrashLooping(crashes, nowMs);
  const delayMs = crashLooping ? CEILING_MS : before === 0 ? 0 : Math.min(CEILING_MS, 1_000 * 2 ** (before - 1));
  const reason = ({ instance }: Recorded): string => {
    const why = crashLooping ? instance.crashes(LOOP_CRASHES) : instance.attempt(before + 1);
    return delayMs === 0 ? instance.restartedAtOnce(why) : instance.restartedIn(delayMs / 1_000, why);
  };
  return { delayMs, attempt: before + 1, crashLooping, reason };
}

/** Five crashes within a minute. */
export function isCrashLooping(crashes: readonly MonotonicMs[], nowMs: MonotonicMs): boolean {
  return crashes.filter((at) => nowMs - at <= LOOP_WINDOW_MS).length >= LOOP_CRASHES;
}

/** Those crashes that may still matter; the newest twenty at most. */
export function recentCrashes(crashes: readonly MonotonicMs[], nowMs: MonotonicMs): readonly MonotonicMs[] {
  return crashes.filter((at) => nowMs - at <= LOOP_WINDOW_MS && at <= nowMs).slice(-20);
}
