// When the next backup is due, which ones stay, and what of the log and of the uploads these still need. Pure.
// Invariant: the newest backup always stays, with all of the log after it.

import type { BackupManifest } from "./manifest.ts";
import { isLaterLine, isSameLine, parseLsn, segmentStart, type WalPiece } from "./wal.ts";

export interface Keep {
  readonly hourly: number;
  readonly daily: number;
  readonly weekly: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FIRST_RETRY_MS = 30_000;
const LONGEST_RETRY_MS = 3_600_000;
/** So much a clock may lag behind the newest backup: two machines are never of one mind. */
const CLOCK_SLACK_MS = 60_000;

/** Milliseconds until the next backup is due; 0: now. `failures`: tries in a row that came to nothing. */
export function untilNextMs(facts: {
  readonly nowMs: number;
  readonly newestMs: number | null;
  readonly everyMs: number;
  readonly failures: number;
  readonly lastTryMs: number | null;
}): number {
  const { nowMs, newestMs, everyMs, failures, lastTryMs } = facts;
  if (failures > 0 && lastTryMs !== null) return Math.max(0, lastTryMs + retryMs(failures) - nowMs);
  return newestMs === null ? 0 : Math.max(0, newestMs + everyMs - nowMs);
}

/** 30 s, 1 min, 2 min ... 1 h. */
function retryMs(failures: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(20, Math.max(0, failures - 1)));
}

/** A clock behind the newest backup would give a name that is taken, and keep the wrong ones. */
export function isClockBehind(nowMs: number, newestMs: number | null): boolean {
  return newestMs !== null && nowMs + CLOCK_SLACK_MS < newestMs;
}

/**
 * Those that stay: the newest one of each of the last hours, days and weeks that have one. `times` by id. Within an hour
 * each line of history has its own: a restored home must not take away at once what led to it.
 */
export function keptBackups(
  times: ReadonlyMap<string, number>,
  keep: Keep,
  lineOf: (id: string) => string = () => "",
): { readonly all: ReadonlySet<string>; readonly hourly: ReadonlySet<string> } {
  const newestFirst = [...times].sort(([, a], [, b]) => b - a);
  const newestOfEach = (spanMs: number, count: number, line = (_: string) => ""): string[] => {
    const spans = new Map<string, string>();
    for (const [id, ms] of newestFirst) {
      const span = `${Math.floor(ms / spanMs)} ${line(id)}`;
      if (!spans.has(span) && spans.size < count) spans.set(span, id);
    }
    return [...spans.values()];
  };
  const hourly = new Set(newestOfEach(HOUR_MS, Math.max(1, keep.hourly), lineOf));
  const [newest] = newestFirst;
  if (newest) hourly.add(newest[0]);
  const others = [...newestOfEach(DAY_MS, keep.daily), ...newestOfEach(7 * DAY_MS, keep.weekly)];
  return { all: new Set([...hourly, ...others]), hourly };
}

/**
 * Pieces of the log nobody needs. Back to the oldest hourly backup every moment can be restored; an older one only to
 * its own end, so just what lies within it stays.
 */
export function idleWal(
  pieces: readonly WalPiece[],
  kept: readonly BackupManifest[],
  hourly: ReadonlySet<string>,
): readonly WalPiece[] {
  if (kept.length === 0) return [];
  const spans = kept.map(({ id, postgres }) => ({
    epoch: postgres.epoch,
    timeline: postgres.timeline,
    from: segmentStart(parseLsn(postgres.start), BigInt(postgres.segmentBytes)),
    to: hourly.has(id) ? null : parseLsn(postgres.end),
  }));
  const isNeeded = (piece: WalPiece): boolean =>
    spans.some(
      (span) =>
        // A line of history that has no backup yet is what the next one begins in.
        isLaterLine(piece, span) ||
        (isSameLine(piece, span) && piece.to > span.from && (span.to === null || piece.from < span.to)),
    );
  return pieces.filter((piece) => !isNeeded(piece));
}

/** Stored uploads that no kept backup lists, that lie here no more, and that came before the oldest restorable moment. */
export function idleUploads(facts: {
  readonly stored: readonly { readonly name: string; readonly id: string; readonly atMs: number }[];
  readonly living: ReadonlySet<string>;
  readonly kept: readonly BackupManifest[];
  readonly hourly: ReadonlySet<string>;
}): readonly string[] {
  const { stored, living, kept, hourly } = facts;
  const listed = new Set(kept.flatMap(({ uploads }) => uploads));
  const windows = kept.filter(({ id }) => hourly.has(id)).map(({ startedAt }) => Date.parse(startedAt));
  const oldestMs = windows.length === 0 ? 0 : Math.min(...windows);
  return stored
    .filter(({ name, id, atMs }) => !listed.has(name) && !living.has(id) && atMs < oldestMs)
    .map(({ name }) => name);
}

/** The backup to restore for that moment: the newest that had ended by then; null time: the newest of all. */
export function backupFor(backups: readonly BackupManifest[], atMs: number | null): BackupManifest | null {
  const fit = backups.filter(({ endedAt }) => atMs === null || Date.parse(endedAt) <= atMs);
  return fit.reduce<BackupManifest | null>(
    (best, one) => (best === null || one.endedAt > best.endedAt ? one : best),
    null,
  );
}

/** Whether a drill is due, and what is to be said of the last one. `firstMs`: since when there is something to restore. */
export function judgeDrill(facts: {
  readonly nowMs: number;
  readonly firstMs: number;
  readonly last: { readonly at: string; readonly passed: boolean } | null;
  readonly everyMs: number;
}): { readonly isDue: boolean; readonly warning: "failed" | "missing" | null } {
  const { nowMs, firstMs, last, everyMs } = facts;
  const sinceMs = nowMs - (last === null ? firstMs : Date.parse(last.at));
  // The first one soon, so that a newcomer has a proof; a failed one is tried again the day after.
  const afterMs = last === null ? Math.min(everyMs, HOUR_MS) : last.passed ? everyMs : Math.min(everyMs, DAY_MS);
  const warning = last !== null && !last.passed ? "failed" : sinceMs > 2 * everyMs ? "missing" : null;
  return { isDue: sinceMs >= afterMs, warning };
}
