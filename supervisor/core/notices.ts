// Which matters are to be told now, and through which channel: what was told is on record, so that nothing is told twice
// and nothing forgotten. Pure. Each channel has its own account: one that fails holds back no other.
//
//   a matter:  absent -> known (told: begun) -> absent for CALM_MS: over (told: over) -> forgotten
//
// Invariants: at most MOST matters; at most one message a minute and HOURLY an hour by each channel, each with all there is.

import type { NoticeKind } from "../../config/notice-kinds.ts";
import type { QuietHours } from "../../config/notify-config.ts";
import type { WallMs } from "../../config/time.ts";
import type { Matter } from "./matters.ts";

export const CHANNELS = ["mail", "webhook"] as const;
export type Channel = (typeof CHANNELS)[number];

interface KnownMatter extends Matter {
  readonly fromMs: WallMs;
  readonly absentMs: WallMs | null;
  readonly overMs: WallMs | null;
  readonly told: Readonly<Partial<Record<Channel, "begun" | "over">>>;
}

export interface NoticeRecord {
  readonly sinceMs: WallMs;
  readonly matters: Readonly<Record<string, KnownMatter>>;
  readonly sentAtMs: Readonly<Partial<Record<Channel, readonly WallMs[]>>>;
}

/** What one message tells. */
export interface Notice {
  readonly begun: readonly KnownMatter[];
  readonly over: readonly KnownMatter[];
}

const MOST = 100;
/** Gone for so long, a matter is over: one that comes and goes is told once. */
const CALM_MS = 300_000;
const PAUSE_MS = 60_000;
const HOUR_MS = 3_600_000;
const HOURLY = 20;
/** What lasts less is nobody's matter: a first certificate takes its time, a dump on the disk is gone again. */
const PATIENCE_MS: Readonly<Partial<Record<NoticeKind, number>>> = { certificate: 600_000, disk: 60_000 };

export const beginNotices = (nowMs: WallMs): NoticeRecord => ({ sinceMs: nowMs, matters: {}, sentAtMs: {} });

/** What is no longer told of is forgotten, not over. */
export function withKinds(record: NoticeRecord, kinds: readonly NoticeKind[]): NoticeRecord {
  const kept = Object.entries(record.matters).filter(([, { kind }]) => kinds.includes(kind));
  return kept.length === Object.keys(record.matters).length ? record : { ...record, matters: Object.fromEntries(kept) };
}

/** The record after a look; the same object when nothing is new. */
export function noteMatters(
  record: NoticeRecord,
  found: readonly Matter[],
  channels: readonly Channel[],
  nowMs: WallMs,
): NoticeRecord {
  const present = new Map(found.map((one) => [one.key, one]));
  const next: Record<string, KnownMatter> = {};
  for (const known of Object.values(record.matters)) {
    const matter = present.get(known.key);
    const goesOn = matter === undefined ? whileAbsent(known, nowMs) : whilePresent(known, matter, nowMs);
    if (!isSettled(goesOn, channels)) next[known.key] = goesOn;
  }
  for (const matter of found)
    if (next[matter.key] === undefined && Object.keys(next).length < MOST) next[matter.key] = asNew(matter, nowMs);
  const isSame =
    Object.keys(next).length === Object.keys(record.matters).length &&
    Object.values(next).every((one) => record.matters[one.key] === one);
  return isSame ? record : { ...record, matters: next };
}

const asNew = (matter: Matter, nowMs: WallMs): KnownMatter => ({
  ...matter,
  fromMs: nowMs,
  absentMs: null,
  overMs: null,
  told: {},
});

function whileAbsent(known: KnownMatter, nowMs: WallMs): KnownMatter {
  if (known.absentMs === null) return { ...known, absentMs: nowMs };
  if (known.overMs !== null || nowMs - known.absentMs < CALM_MS) return known;
  return { ...known, overMs: known.absentMs };
}

function whilePresent(known: KnownMatter, matter: Matter, nowMs: WallMs): KnownMatter {
  if (known.mark !== matter.mark) return asNew(matter, nowMs);
  if (known.absentMs === null && (known.urgent || !matter.urgent)) return known;
  // Back before everybody heard that it was over: for those who did not, it never ended.
  const told = Object.fromEntries(Object.entries(known.told).filter(([, what]) => what === "begun"));
  return { ...known, urgent: known.urgent || matter.urgent, absentMs: null, overMs: null, told };
}

/** Over, and nobody waits to hear so. */
function isSettled(one: KnownMatter, channels: readonly Channel[]): boolean {
  if (one.overMs === null) return false;
  return channels.every((channel) => one.told[channel] === "over" || (!one.told[channel] && !isRipe(one, one.overMs)));
}

function isRipe({ kind, fromMs }: KnownMatter, untilMs: WallMs | null): boolean {
  return (untilMs ?? 0) - fromMs >= (PATIENCE_MS[kind] ?? 0);
}

/** null: nothing is to be told through this channel now. */
export function dueNotice(
  record: NoticeRecord,
  channel: Channel,
  { nowMs, quiet }: { readonly nowMs: WallMs; readonly quiet: boolean },
): Notice | null {
  const sent = sentWithinHour(record, channel, nowMs);
  if (sent.length >= HOURLY || sent.some((at) => nowMs - at < PAUSE_MS)) return null;
  const open = Object.values(record.matters).filter(({ urgent }) => urgent || !quiet);
  const begun = open.filter((one) => one.told[channel] === undefined && isRipe(one, one.overMs ?? nowMs));
  const over = open.filter((one) => one.told[channel] === "begun" && one.overMs !== null);
  return begun.length + over.length === 0 ? null : { begun, over };
}

/** The record once the channel has taken the message. */
export function noteTold(record: NoticeRecord, channel: Channel, notice: Notice, nowMs: WallMs): NoticeRecord {
  const matters = { ...record.matters };
  for (const { key, fromMs, overMs } of [...notice.begun, ...notice.over]) {
    const known = matters[key];
    // Another one took its place while the message was under way.
    if (known === undefined || known.fromMs !== fromMs) continue;
    matters[key] = { ...known, told: { ...known.told, [channel]: overMs === null ? "begun" : "over" } };
  }
  const sent = [...sentWithinHour(record, channel, nowMs), nowMs];
  return { ...record, matters, sentAtMs: { ...record.sentAtMs, [channel]: sent } };
}

function sentWithinHour({ sentAtMs }: NoticeRecord, channel: Channel, nowMs: WallMs): readonly WallMs[] {
  return (sentAtMs[channel] ?? []).filter((at) => at <= nowMs && nowMs - at < HOUR_MS);
}

/** How long a channel rests after so many failures in a row. */
export function restMs(failures: number): number {
  return Math.min(HOUR_MS, 30_000 * 2 ** Math.min(10, failures - 1));
}

export function isQuiet(quiet: QuietHours | null, nowMs: WallMs): boolean {
  if (quiet === null) return false;
  const format = new Intl.DateTimeFormat("en", {
    timeZone: quiet.zone,
    hour: "numeric",
    minute: "numeric",
    hourCycle: "h23",
  });
  const parts = new Map(format.formatToParts(nowMs).map(({ type, value }) => [type, Number(value)]));
  const minute = (parts.get("hour") ?? 0) * 60 + (parts.get("minute") ?? 0);
  const { fromMinute, untilMinute } = quiet;
  return fromMinute < untilMinute
    ? minute >= fromMinute && minute < untilMinute
    : minute >= fromMinute || minute < untilMinute;
}
