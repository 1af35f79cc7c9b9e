// One instance's log as one text across its rotated files: `web-7.log.2`, `web-7.log.1`, `web-7.log`.
// Invariant: a position names the same byte before and after a rotation (0 is where the current file began when owld
// started; older files lie below 0). Each read is synchronous and small, so no rotation falls into it.

import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { MOST_LOG_FILES } from "../../config/config.ts";
import { boundsAt, offsetSince, type TimeBounds, type TimeMark } from "../core/log-time.ts";

interface LogSegment {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly lastWriteMs: number;
}

export interface LogText {
  /** Oldest first; the current file last. Empty when there is no log. */
  segments(): readonly LogSegment[];
  /** Up to `bytes` bytes from `position` on; a position whose file is gone moves up. null at the end. */
  readAt(position: number, bytes: number): { readonly at: number; readonly chunk: Buffer } | null;
}

export function logPath(directory: string, instance: string): string {
  return join(directory, `${instance}.log`);
}

/** `rotated` tells how many bytes of this instance's log were rotated away since owld started. */
export function createLogText(directory: string, instance: string, rotated: () => number): LogText {
  const current = logPath(directory, instance);
  const segments = (): LogSegment[] => {
    const found: LogSegment[] = [];
    let end = rotated();
    const now = statSync(current, { throwIfNoEntry: false });
    if (now !== undefined) {
      found.push({ path: current, start: end, end: end + now.size, lastWriteMs: now.mtimeMs });
    }
    for (let n = 1; n < MOST_LOG_FILES; n++) {
      const path = `${current}.${n}`;
      const old = statSync(path, { throwIfNoEntry: false });
      if (old === undefined) break;
      found.unshift({ path, start: end - old.size, end, lastWriteMs: old.mtimeMs });
      end -= old.size;
    }
    return found;
  };
  return {
    segments,
    readAt(position, bytes) {
      const segment = segments().find(({ end }) => end > position);
      if (segment === undefined) return null;
      const at = Math.max(position, segment.start);
      const chunk = Buffer.allocUnsafe(Math.min(bytes, segment.end - at));
      const fd = openSync(segment.path, "r");
      try {
        const count = readSync(fd, chunk, 0, chunk.length, at - segment.start);
        return count === 0 ? null : { at, chunk: chunk.subarray(0, count) };
      } finally {
        closeSync(fd);
      }
    },
  };
}

/** What owld noted of a file's growth; empty when nothing. */
function readMarks(path: string): TimeMark[] {
  let text: string;
  try {
    text = readFileSync(`${path}.times`, "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    const [size, at] = line.split(" ").map(Number);
    return size !== undefined && at !== undefined && size >= 0 && at > 0 ? [{ size, at }] : [];
  });
}

/** Where lines of `from` and later may begin. */
export function positionSince(text: LogText, from: number): number {
  for (const segment of text.segments()) {
    if (segment.lastWriteMs >= from) return segment.start + offsetSince(readMarks(segment.path), from);
  }
  return text.segments().at(-1)?.end ?? 0;
}

/** Answers the bounds of positions; reads each file's marks once. */
export function createBounds(text: LogText): (position: number) => TimeBounds {
  const marks = new Map<string, readonly TimeMark[]>();
  let segments = text.segments();
  return (position) => {
    let segment = segments.find(({ start, end }) => position >= start && position < end);
    if (segment === undefined) {
      segments = text.segments();
      marks.clear();
      segment = segments.find(({ start, end }) => position >= start && position < end);
    }
    if (segment === undefined) return { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
    const known = marks.get(segment.path) ?? readMarks(segment.path);
    marks.set(segment.path, known);
    return boundsAt(known, position - segment.start, segment.lastWriteMs);
  };
}
