import { expect, test } from "vitest";
import {
  chainFrom,
  formatLsn,
  mergeable,
  parseLsn,
  parsePiece,
  pieceName,
  segmentName,
  type WalPiece,
} from "../../../../../../supervisor/postgres/backups/core/wal.ts";

const SEGMENT = 16n * 2n ** 20n;
const SHA = "a".repeat(64);
const LINE = { epoch: 0, timeline: 1 };
const piece = (from: bigint, to: bigint, change: Partial<WalPiece> = {}): WalPiece => ({
  ...LINE,
  from,
  to,
  sha256: SHA,
  ...change,
});

test("a position reads as PostgreSQL writes it", () => {
  expect(parseLsn("16/B374D848")).toBe(0x16b374d848n);
  expect(formatLsn(0x16b374d848n)).toBe("16/B374D848");
  expect(() => parseLsn("16-B3")).toThrow("no position");
});

test("a segment has PostgreSQL's own name", () => {
  expect(segmentName(1, 0x1_0000_0000n + 3n * SEGMENT + 5n, SEGMENT)).toBe("000000010000000100000003");
  expect(segmentName(10, 0n, SEGMENT)).toBe("0000000A0000000000000000");
});

test("a piece's name is read back; what is unfinished or something else is no piece", () => {
  const one = piece(0x2000000n, 0x2000abcn, { epoch: 3, timeline: 12 });
  expect(parsePiece(pieceName(one))).toEqual(one);
  for (const name of [".new-0000", `${pieceName(one)}.part`, "owl-backup.json"]) expect(parsePiece(name)).toBeNull();
});

test("a chain ends at the first gap, and passes over what it has already", () => {
  const pieces = [piece(30n, 40n), piece(0n, 10n), piece(10n, 20n), piece(5n, 10n), piece(0n, 20n)];
  expect(chainFrom(pieces, LINE, 0n)).toEqual([piece(0n, 20n)]);
  expect(chainFrom([...pieces, piece(20n, 30n)], LINE, 0n).at(-1)).toEqual(piece(30n, 40n));
  expect(chainFrom(pieces, LINE, 25n)).toEqual([]);
});

test("another timeline and another epoch are other chains", () => {
  const pieces = [piece(0n, 10n), piece(10n, 20n, { timeline: 2 }), piece(10n, 20n, { epoch: 1 })];
  expect(chainFrom(pieces, LINE, 0n)).toEqual([piece(0n, 10n)]);
});

test("only a whole segment in several pieces is joined", () => {
  const half = SEGMENT / 2n;
  const whole = [piece(SEGMENT, SEGMENT + half), piece(SEGMENT + half, 2n * SEGMENT)];
  expect(mergeable([...whole, piece(2n * SEGMENT, 2n * SEGMENT + 5n)], SEGMENT)).toEqual([whole]);
  expect(mergeable([piece(SEGMENT, 2n * SEGMENT)], SEGMENT)).toEqual([]);
  expect(mergeable([piece(SEGMENT, SEGMENT + 5n), piece(SEGMENT + half, 2n * SEGMENT)], SEGMENT)).toEqual([]);
});
