// What is wrong with a kind's jobs, from its figures, and which kind is looked at first. Pure.

import type { JobKind } from "../../config/config.ts";

export interface KindFigures {
  readonly kind: JobKind;
  readonly queued: number;
  readonly running: number;
  readonly failedLastDay: number;
  /** How long the one that waits longest has waited (items of paused batches wait by intention); null: none waits. */
  readonly oldestWaitingMs: number | null;
  readonly longestRunningMs: number | null;
  /** Running, and no living worker holds them. */
  readonly withoutWorker: number;
  /** How long the last ones that succeeded ran; null: none yet. */
  readonly p95Ms: number | null;
  /** From how many of them that was measured. */
  readonly measured: number;
}

interface JobWarning {
  readonly what: "waitsLong" | "runsLong" | "withoutWorker";
  /** How many jobs without a worker; else null. */
  readonly count: number | null;
  readonly ms: number | null;
  /** What `ms` is over. */
  readonly limitMs: number | null;
}

interface JobLimits {
  readonly claimMs: number;
  /** A turn's limit; the other kinds have none. */
  readonly turnLimitMs: number;
}

/** Fewer than so many say nothing about how long is long. */
const ENOUGH = 20;
/** Three times a second is still no matter for anybody. */
const SHORT_MS = 60_000;

/** From how long on a running job of this kind is slow; null while nothing is known. */
export function slowAfterMs(figures: KindFigures, limits: JobLimits): number | null {
  const known: number[] = figures.kind === "chat" ? [limits.turnLimitMs] : [];
  if (figures.p95Ms !== null && figures.measured >= ENOUGH) known.push(Math.max(SHORT_MS, 3 * figures.p95Ms));
  return known.length === 0 ? null : Math.min(...known);
}

/** The warnings of one kind, the gravest first. */
export function jobWarnings(figures: KindFigures, limits: JobLimits): readonly JobWarning[] {
  const warnings: JobWarning[] = [];
  const { withoutWorker, oldestWaitingMs, longestRunningMs } = figures;
  const slowMs = slowAfterMs(figures, limits);
  if (withoutWorker > 0) warnings.push({ what: "withoutWorker", count: withoutWorker, ms: null, limitMs: null });
  if (oldestWaitingMs !== null && oldestWaitingMs > limits.claimMs)
    warnings.push({ what: "waitsLong", count: null, ms: oldestWaitingMs, limitMs: limits.claimMs });
  if (longestRunningMs !== null && slowMs !== null && longestRunningMs > slowMs)
    warnings.push({ what: "runsLong", count: null, ms: longestRunningMs, limitMs: slowMs });
  return warnings;
}

interface KindReport extends KindFigures {
  readonly warnings: readonly JobWarning[];
}

/** Every kind with its warnings: those with a warning first, then those with failures, then what waits longest. */
export function problemsFirst(figures: readonly KindFigures[], limits: JobLimits): readonly KindReport[] {
  const rank = (one: KindReport): readonly number[] => [
    one.warnings.length,
    one.failedLastDay,
    one.oldestWaitingMs ?? -1,
  ];
  return figures
    .map((one) => ({ ...one, warnings: jobWarnings(one, limits) }))
    .toSorted((left, right) => {
      const [a, b] = [rank(left), rank(right)];
      return a.map((value, at) => (b[at] ?? 0) - value).find((difference) => difference !== 0) ?? 0;
    });
}
