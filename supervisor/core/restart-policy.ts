// When a place whose process crashed, hung or grew too big is filled again, and when it is crash-looping. Pure.
// Invariants: it is never given up; the pause only grows to its ceiling; each place has a budget of its own, so that
// ten killed at once all come back at once; the flag of a loop stays until the place has stood.

import type { MonotonicMs } from "../../config/time.ts";
import type { Instance } from "./instance.ts";
import type { Recorded } from "./text/text.ts";

const CEILING_MS = 30_000;
/** Ready for so long, and the pause starts at 0 again. */
const CALM_MS = 60_000;
/** So long, and the flag of a loop goes, when nothing crashed since somebody asked for another try. */
const REPAIRED_MS = 10_000;
const LOOP_CRASHES = 5;
const LOOP_WINDOW_MS = 60_000;

/** What a place remembers beyond the life of one process: handed from each instance to the one that follows it. */
type PlaceRecord = Pick<Instance, "attempt" | "crashedMs" | "looping">;

export const CALM_PLACE: PlaceRecord = { attempt: 0, crashedMs: [], looping: false };

interface RestartVerdict {
  readonly delayMs: number;
  readonly place: PlaceRecord;
  /** How soon and why: the end of a sentence. */
  readonly reason: (text: Recorded) => string;
}

/** What follows a crash of `one`, or its replacement because it hung or was over its memory limit. */
export function afterCrash(one: PlaceRecord & Pick<Instance, "readyMs">, nowMs: MonotonicMs): RestartVerdict {
  const calm = one.readyMs !== null && nowMs - one.readyMs >= CALM_MS;
  const crashedMs = [...one.crashedMs, nowMs].filter((at) => nowMs - at <= LOOP_WINDOW_MS && at <= nowMs).slice(-20);
  const before = calm ? 0 : one.attempt;
  const looping = crashedMs.length >= LOOP_CRASHES || (one.looping && !calm);
  const atCeiling = crashedMs.length >= LOOP_CRASHES || (looping && before >= LOOP_CRASHES);
  const delayMs = atCeiling ? CEILING_MS : before === 0 ? 0 : Math.min(CEILING_MS, 1_000 * 2 ** (before - 1));
  const reason = ({ instance }: Recorded): string => {
    const why = crashedMs.length >= LOOP_CRASHES ? instance.crashes(LOOP_CRASHES) : instance.attempt(before + 1);
    return delayMs === 0 ? instance.restartedAtOnce(why) : instance.restartedIn(delayMs / 1_000, why);
  };
  return { delayMs, place: { attempt: before + 1, crashedMs, looping }, reason };
}

/** Five crashes within a minute, and it has not stood since. */
export function isCrashLooping(one: Instance, nowMs: MonotonicMs): boolean {
  if (!one.looping || one.wanted === "down") return false;
  const calmMs = one.crashedMs.length === 0 ? REPAIRED_MS : CALM_MS;
  return one.state !== "ready" || one.readyMs === null || nowMs - one.readyMs < calmMs;
}
