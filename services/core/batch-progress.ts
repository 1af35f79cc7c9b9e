// How far a batch is and when it will be over. Pure: facts of one query in, figures out.
// Invariants: progress is 0..1 and 1 only when nothing is left; an ETA is null or above 0, never NaN; only active time
// (not paused) counts.

import { invariant } from "../../config/errors.ts";

export const ITEM_STATES = ["queued", "running", "done", "failed", "cancelled"] as const;
export type ItemState = (typeof ITEM_STATES)[number];
export type BatchCounts = Readonly<Record<ItemState, number>>;

export const BATCH_STATES = ["running", "paused", "done", "failed", "cancelled"] as const;
export type BatchState = (typeof BATCH_STATES)[number];

export interface BatchFacts {
  readonly state: BatchState;
  readonly counts: BatchCounts;
  /** Summed shares (0..1 each) of queued and running items that are already transcribed. */
  readonly partial: number;
  /** Time the batch was running until now, ms. */
  readonly activeMs: number;
  /** Active time at which the last items were done or failed, ms, newest first; at most `RECENT + 1` of them. */
  readonly marks: readonly number[];
}

interface BatchProgress {
  readonly progress: number;
  /** Items a second over the last finished ones, null before the first. */
  readonly throughput: number | null;
  readonly etaSeconds: number | null;
  /** The same by the recent and by the overall speed, whichever is sooner and later; null with etaSeconds. */
  readonly etaRangeSeconds: { readonly from: number; readonly to: number } | null;
}

/** How many of the last finished items speak for the present speed, at most. */
export const RECENT = 50;

function totalOf(counts: BatchCounts): number {
  return ITEM_STATES.reduce((sum, state) => sum + counts[state], 0);
}

/** Progress, throughput and ETA of a batch at one instant. */
export function batchProgress(facts: BatchFacts): BatchProgress {
  const { counts, activeMs, marks } = facts;
  const total = totalOf(counts);
  const left = counts.queued + counts.running;
  const partial = Math.min(Math.max(facts.partial, 0), left);
  invariant(marks.length <= RECENT + 1, "at most RECENT + 1 marks are looked at");
  const progress = total === 0 ? (facts.state === "running" ? 0 : 1) : capped((total - left + partial) / total, left);

  const finished = counts.done + counts.failed;
  const recent = recentRate(finished, activeMs, marks);
  const throughput = recent === null ? null : recent * 1_000;
  const early = finished < 3 && !(finished > 0 && progress >= 0.05);
  if (facts.state !== "running" || left === 0 || recent === null || early) {
    return { progress, throughput, etaSeconds: null, etaRangeSeconds: null };
  }
  const remaining = Math.max(left - partial, 0.01);
  const overall = finished / Math.max(activeMs, 1);
  const seconds = (rate: number) => Math.max(1, Math.round(remaining / rate / 1_000));
  const both = [seconds(recent), seconds(overall)] as const;
  return {
    progress,
    throughput,
    etaSeconds: both[0],
    etaRangeSeconds: { from: Math.min(...both), to: Math.max(...both) },
  };
}

/** Never 1 while something is left. */
function capped(progress: number, left: number): number {
  return left === 0 ? 1 : Math.min(Math.max(progress, 0), 0.9999);
}

/**
 * Items a millisecond over the last quarter of the finished (5 to RECENT). Measured up to now, not up to the last end:
 * when nothing ends any more, the speed falls and the ETA grows.
 */
function recentRate(finished: number, activeMs: number, marks: readonly number[]): number | null {
  if (finished === 0 || marks.length === 0) return null;
  const wanted = Math.min(RECENT, Math.max(5, Math.ceil(finished / 4)));
  const count = Math.min(wanted, marks.length, finished);
  const sinceMs = count < marks.length ? (marks[count] ?? 0) : 0;
  return count / Math.max(activeMs - sinceMs, 1);
}
