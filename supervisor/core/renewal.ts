// When a certificate is ordered next. Pure. Invariant: however often owld starts, reloads or fails, an authority gets no
// more orders than it bears: what was begun is on record, and what is on record is counted.

import type { WallMs } from "../../config/time.ts";

export interface OrderRecord {
  /** Whose certificate: authority and names. */
  readonly subject: string;
  readonly at: WallMs;
  /** `begun`: its end was not seen; it counts as failed. */
  readonly outcome: "begun" | "issued" | "failed";
  /** 0 to 1: thrown once for each order, so that what follows from it stays the same. */
  readonly jitter: number;
  /** Why it failed. */
  readonly why?: string;
}

interface HeldCertificate {
  readonly fromMs: WallMs;
  readonly untilMs: WallMs;
  /** By this authority, for all these names. */
  readonly fits: boolean;
}

interface RenewalFacts {
  readonly subject: string;
  /** null: none, or one that only stands in. */
  readonly held: HeldCertificate | null;
  /** Oldest first. */
  readonly orders: readonly OrderRecord[];
  readonly nowMs: WallMs;
}

export interface NextOrder {
  readonly atMs: WallMs;
  /** Failures in a row. */
  readonly failures: number;
}

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
const FIRST_PAUSE_MS = 300_000;
const LONGEST_PAUSE_MS = 12 * HOUR_MS;
/** An authority bears 5 failures an hour for a name, and 5 certificates a week for the same names: one stays for a person. */
const MOST_AN_HOUR = 4;
const MOST_ISSUED_A_WEEK = 4;
const MOST_A_WEEK = 40;
/** More than any of the bounds above looks at. */
const KEPT = 60;

/** A third of its life is left for renewing it; a part of that is waited at most, so that not all come at once. */
export function renewAtMs({ fromMs, untilMs }: Pick<HeldCertificate, "fromMs" | "untilMs">, jitter: number): WallMs {
  return untilMs - (untilMs - fromMs) * (1 / 3 - jitter / 30);
}

export function nextOrder({ subject, held, orders, nowMs }: RenewalFacts): NextOrder {
  // A clock that was set back must not hold up what is due.
  const past = orders.map((order) => ({ ...order, at: Math.min(order.at, nowMs) }));
  const own = past.filter((order) => order.subject === subject);
  const failures = own.length - 1 - own.findLastIndex(({ outcome }) => outcome === "issued");
  const last = own.at(-1);
  const dueMs = held?.fits === true ? renewAtMs(held, last?.jitter ?? 0) : 0;
  const pauseMs = failures === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
  const paused = last === undefined || failures === 0 ? 0 : last.at + pauseMs * (1 + last.jitter / 4);
  const issued = own.filter(({ outcome }) => outcome === "issued");
  const bounds = [
    roomAtMs(past, MOST_AN_HOUR, HOUR_MS),
    roomAtMs(past, MOST_A_WEEK, WEEK_MS),
    roomAtMs(issued, MOST_ISSUED_A_WEEK, WEEK_MS),
  ];
  return { atMs: Math.max(dueMs, paused, ...bounds), failures };
}

/** When fewer than `most` of them lie within the last `windowMs`. */
function roomAtMs(orders: readonly OrderRecord[], most: number, windowMs: number): WallMs {
  const oldest = orders.at(-most);
  return oldest === undefined ? 0 : oldest.at + windowMs;
}

/** With one more at its end, or another outcome of that one. */
export function withOrder(orders: readonly OrderRecord[], order: OrderRecord): readonly OrderRecord[] {
  const before = orders.at(-1)?.at === order.at && orders.at(-1)?.outcome === "begun" ? orders.slice(0, -1) : orders;
  return [...before, order].slice(-KEPT);
}
