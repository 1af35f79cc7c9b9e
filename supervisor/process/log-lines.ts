// Lines out of a log text, forwards and backwards, by bytes: a line is what ends in a newline, whatever else it holds.
// Invariant: no byte is lost or joined wrongly at a chunk's or a file's border; decoding happens per whole line.

import type { LogText } from "./log-text.ts";

const CHUNK_BYTES = 65_536;
/** A line that never ends is cut here, so that it cannot eat owld's memory. */
const LONGEST_LINE = 16 * 1_048_576;
const NEWLINE = 0x0a;

export interface RawLine {
  /** Position of its first byte. */
  readonly at: number;
  readonly text: string;
}

export interface LineReader {
  /** Lines from the reader's position to the present end, in portions. Empty: there is nothing new. */
  next(): RawLine[];
  /** The unfinished last line, once nothing more is to be waited for. */
  rest(): RawLine | null;
}

/** Reads on from `position`; `wholeLine`: the first, cut line is left out. */
export function createLineReader(text: LogText, position: number, wholeLine: boolean): LineReader {
  let at = position;
  let pending: Buffer[] = [];
  let pendingAt = position;
  let pendingBytes = 0;
  let skipping = wholeLine;

  const take = (part: Buffer): RawLine => {
    const line = { at: pendingAt, text: Buffer.concat([...pending, part]).toString("utf8") };
    pending = [];
    pendingBytes = 0;
    return line;
  };

  return {
    next() {
      const lines: RawLine[] = [];
      const read = text.readAt(at, CHUNK_BYTES);
      if (read === null) return lines;
      if (read.at !== at) {
        // The file was rotated out of what is kept: what was pending has lost its end.
        pending = [];
        pendingBytes = 0;
        pendingAt = read.at;
      }
      let from = 0;
      for (let end = read.chunk.indexOf(NEWLINE); end >= 0; end = read.chunk.indexOf(NEWLINE, from)) {
        const line = take(read.chunk.subarray(from, end));
        if (!skipping) lines.push(line);
        skipping = false;
        from = end + 1;
        pendingAt = read.at + from;
      }
      pending.push(read.chunk.subarray(from));
      pendingBytes += read.chunk.length - from;
      at = read.at + read.chunk.length;
      if (pendingBytes > LONGEST_LINE) {
        lines.push(take(Buffer.alloc(0)));
        pendingAt = at;
      }
      // A chunk in the middle of a long line gives no line, but is no end: go on within this call.
      return lines.length === 0 ? this.next() : lines;
    },
    rest() {
      if (pendingBytes === 0 || skipping) return null;
      return take(Buffer.alloc(0));
    },
  };
}

/** The position at which the last `count` lines begin. */
export function positionOfLast(text: LogText, count: number): number {
  const segments = text.segments();
  const first = segments.at(0)?.start ?? 0;
  const end = segments.at(-1)?.end ?? 0;
  let missing = count;
  let upper = end;
  while (upper > first) {
    const lower = Math.max(first, upper - CHUNK_BYTES);
    const chunk = readRange(text, lower, upper);
    for (let index = chunk.length - 1; index >= 0; index--) {
      // The newline at the very end closes the last line, it does not begin another.
      if (chunk[index] !== NEWLINE || lower + index === end - 1) continue;
      missing--;
      if (missing === 0) return lower + index + 1;
    }
    upper = lower;
  }
  return first;
}

function readRange(text: LogText, lower: number, upper: number): Buffer {
  const parts: Buffer[] = [];
  let at = lower;
  while (at < upper) {
    const read = text.readAt(at, upper - at);
    if (read === null || read.at !== at) break;
    parts.push(read.chunk);
    at += read.chunk.length;
  }
  return Buffer.concat(parts);
}
