// Positions in PostgreSQL's log and the pieces of it in a backup directory: their names, and which of them make a chain.
// A piece holds the bytes from `from` up to `to`, never across a segment's end. Pure.

import { OwlError } from "../../../../config/errors.ts";

/** A byte position in the log. */
export type Lsn = bigint;

/** One line of history: PostgreSQL's timeline, and how often an older database was put in its place by hand. */
interface Line {
  readonly epoch: number;
  readonly timeline: number;
}

export interface WalPiece extends Line {
  readonly from: Lsn;
  readonly to: Lsn;
  /** Of the file as it is stored. */
  readonly sha256: string;
}

const NAME = /^([0-9A-F]{4})-([0-9A-F]{8})-([0-9A-F]{16})-([0-9A-F]{16})-([0-9a-f]{64})\.wal$/;

/** `16/B374D848` as PostgreSQL writes it. */
export function parseLsn(text: string): Lsn {
  const [, high, low] = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/.exec(text) ?? [];
  if (high === undefined || low === undefined)
    throw new OwlError("backup.position", `${text} is no position in the log.`);
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

export function formatLsn(lsn: Lsn): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffffffffn).toString(16)}`.toUpperCase();
}

export function pieceName({ epoch, timeline, from, to, sha256 }: WalPiece): string {
  return `${hex(BigInt(epoch), 4)}-${hex(BigInt(timeline), 8)}-${hex(from, 16)}-${hex(to, 16)}-${sha256}.wal`;
}

/** null: a file that is no finished piece. */
export function parsePiece(name: string): WalPiece | null {
  const [, epoch, timeline, from, to, sha256] = NAME.exec(name) ?? [];
  if (!epoch || !timeline || !from || !to || !sha256) return null;
  const line = { epoch: Number.parseInt(epoch, 16), timeline: Number.parseInt(timeline, 16) };
  return { ...line, from: BigInt(`0x${from}`), to: BigInt(`0x${to}`), sha256 };
}

export const isSameLine = (a: Line, b: Line): boolean => a.epoch === b.epoch && a.timeline === b.timeline;

/** `a` began after `b`. */
export const isLaterLine = (a: Line, b: Line): boolean =>
  a.epoch > b.epoch || (a.epoch === b.epoch && a.timeline > b.timeline);

/** PostgreSQL's own name of the segment that holds `lsn`. */
export function segmentName(timeline: number, lsn: Lsn, segmentBytes: bigint): string {
  const number = lsn / segmentBytes;
  const perId = 0x1_0000_0000n / segmentBytes;
  return hex(BigInt(timeline), 8) + hex(number / perId, 8) + hex(number % perId, 8);
}

export const segmentStart = (lsn: Lsn, segmentBytes: bigint): Lsn => lsn - (lsn % segmentBytes);

/**
 * The pieces that lead on from `from` without a gap, in order. Of two that begin at one place the longer one counts: a
 * cut merge leaves a whole segment and what it was made of.
 */
export function chainFrom(pieces: readonly WalPiece[], line: Line, from: Lsn): readonly WalPiece[] {
  const sorted = pieces
    .filter((one) => isSameLine(one, line) && one.to > from)
    .sort((a, b) =>
      a.from === b.from ? Number(b.to - a.to > 0n) - Number(b.to - a.to < 0n) : a.from < b.from ? -1 : 1,
    );
  const chain: WalPiece[] = [];
  let at = from;
  for (const piece of sorted) {
    if (piece.from > at) break;
    if (piece.to <= at) continue;
    chain.push(piece);
    at = piece.to;
  }
  return chain;
}

/** Whole segments that still lie in several pieces; each list is one segment's, in order. */
export function mergeable(pieces: readonly WalPiece[], segmentBytes: bigint): readonly (readonly WalPiece[])[] {
  const bySegment = new Map<string, WalPiece[]>();
  for (const piece of pieces) {
    const key = `${piece.epoch} ${segmentName(piece.timeline, piece.from, segmentBytes)}`;
    bySegment.set(key, [...(bySegment.get(key) ?? []), piece]);
  }
  return [...bySegment.values()].filter((own) => {
    const [first] = own;
    if (first === undefined || own.length < 2) return false;
    const start = segmentStart(first.from, segmentBytes);
    return chainFrom(own, first, start).at(-1)?.to === start + segmentBytes;
  });
}

function hex(value: bigint, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, "0");
}
