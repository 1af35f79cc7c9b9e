// What wears out slowly and is seen coming: a disk that fills up, a database whose upkeep does not keep up. Pure.

import { formatSize } from "../../config/units.ts";
import type { Sentence } from "./text/text.ts";

/** When, and how much was free. */
export type DiskSample = readonly [atMs: number, freeBytes: number];

const DAY_MS = 86_400_000;
const SAMPLE_EVERY_MS = 2 * 3_600_000;
const SAMPLES_KEPT_MS = 14 * DAY_MS;
/** Farther away nobody can tell. */
const LONGEST_DAYS = 90;
const WARNED_DAYS = 14;
/** More than autovacuum leaves behind at its usual settings. */
const DEAD_SHARE = 0.4;
const DEAD_ROWS = 100_000;
/** Autovacuum freezes from 200 million on; at 2.1 billion the database takes no more writes. */
const XID_AGE = 500_000_000;

/** One sample every two hours, of two weeks; the same list when none is due. */
export function withSample(samples: readonly DiskSample[], now: DiskSample): readonly DiskSample[] {
  const last = samples.at(-1);
  const [nowMs] = now;
  // A clock that was set back begins anew.
  if (last !== undefined && last[0] > nowMs) return [now];
  if (last !== undefined && nowMs - last[0] < SAMPLE_EVERY_MS) return samples;
  return [...samples.filter(([atMs]) => nowMs - atMs <= SAMPLES_KEPT_MS), now];
}

/** In how many days nothing is free, as it has gone for at least a day and lately too; null: not in sight. */
export function fullInDays(samples: readonly DiskSample[]): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last[0] - first[0] < DAY_MS) return null;
  const middleMs = (first[0] + last[0]) / 2;
  // Something large that came once is in one half only.
  const perMs = Math.min(usedPerMs(samples), usedPerMs(samples.filter(([atMs]) => atMs >= middleMs)));
  if (perMs <= 0) return null;
  const days = last[1] / perMs / DAY_MS;
  return days > LONGEST_DAYS ? null : Math.round(days * 10) / 10;
}

/** The slope of the line that fits best. */
function usedPerMs(samples: readonly DiskSample[]): number {
  const count = samples.length;
  const mean = (of: (one: DiskSample) => number): number => samples.reduce((sum, one) => sum + of(one), 0) / count;
  const [atMs, freeBytes] = [mean(([at]) => at), mean(([, free]) => free)];
  const spread = mean(([at]) => (at - atMs) ** 2);
  return spread === 0 ? 0 : -mean(([at, free]) => (at - atMs) * (free - freeBytes)) / spread;
}

export interface DatabaseWear {
  readonly checksums: boolean;
  readonly xidAge: number;
  /** The table with the most dead rows. */
  readonly dead: { readonly table: string; readonly dead: number; readonly live: number } | null;
}

/** What is to be told, by the key of its warning; null: nothing of it. `managed`: the database is Owl's own. */
export function wearWarnings(facts: {
  readonly disks: readonly { readonly path: string; readonly freeBytes: number; readonly fullInDays: number | null }[];
  readonly database: DatabaseWear | null;
  readonly managed: boolean;
}): ReadonlyMap<string, Sentence | null> {
  const { database, managed } = facts;
  const filling = facts.disks.find((one) => one.fullInDays !== null && one.fullInDays <= WARNED_DAYS);
  const dead = database?.dead;
  const isBloated = dead && dead.dead > DEAD_ROWS && dead.dead > DEAD_SHARE * (dead.dead + dead.live);
  return new Map<string, Sentence | null>([
    [
      "disk forecast",
      filling === undefined
        ? null
        : ({ wear }) => wear.filling(filling.path, Math.round(filling.fullInDays ?? 0), formatSize(filling.freeBytes)),
    ],
    ["database dead rows", isBloated ? ({ wear }) => wear.deadRows(dead.table, dead.dead, dead.live) : null],
    ["database xids", database && database.xidAge > XID_AGE ? ({ wear }) => wear.xids(database.xidAge) : null],
    ["database checksums", database && managed && !database.checksums ? ({ wear }) => wear.checksums : null],
  ]);
}
