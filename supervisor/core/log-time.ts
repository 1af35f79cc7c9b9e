// When a log line was written, as far as it can be known: its own time stamp, bounded by what owld noted of the file.
// Pure. Invariant: a stamp outside the bounds is data of the program, not the line's time.

import type { WallMs } from "../../config/time.ts";

/** At `at` the file had `size` bytes: what lies before was written by then, what lies behind later. */
export interface TimeMark {
  readonly size: number;
  readonly at: WallMs;
}

export interface TimeBounds {
  readonly from: WallMs;
  readonly to: WallMs;
}

const SLACK_MS = 2_000;
/** Where a program puts its stamp, if anywhere. */
const LOOK_CHARS = 400;
const JSON_TIME = /"(?:time|timestamp|@timestamp|ts|at)"\s*:\s*(?:"([^"]{10,40})"|(\d{10,16}(?:\.\d+)?))/;
const LEADING_TIME = /^[^\w]{0,3}(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)/;

/** The stamp a line carries, or null. Without a zone it is this machine's local time. */
export function parseStamp(line: string): WallMs | null {
  const head = line.slice(0, LOOK_CHARS);
  const found = head.startsWith("{") ? JSON_TIME.exec(head) : LEADING_TIME.exec(head);
  if (found === null) return null;
  const [, text, number] = found;
  const at = number !== undefined ? fromNumber(Number(number)) : Date.parse(normalize(text ?? ""));
  return Number.isFinite(at) ? at : null;
}

/** Seconds, milliseconds or microseconds since 1970, by their size. */
function fromNumber(value: number): WallMs {
  if (value < 1e11) return value * 1_000;
  return value < 1e14 ? value : value / 1_000;
}

function normalize(text: string): string {
  return text
    .replace(" ", "T")
    .replace(",", ".")
    .replace(/ ?UTC$/, "Z")
    .replace(/ (?=[+-]\d)/, "");
}

/** Between which instants the byte at `offset` was written. `marks` ascend; `lastWrite` is the file's own time. */
export function boundsAt(marks: readonly TimeMark[], offset: number, lastWrite: WallMs): TimeBounds {
  let low = 0;
  let high = marks.length;
  // The first mark whose size lies behind the offset.
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle]?.size ?? 0) > offset) high = middle;
    else low = middle + 1;
  }
  return { from: marks[low - 1]?.at ?? Number.NEGATIVE_INFINITY, to: marks[low]?.at ?? lastWrite };
}

/** The line's own stamp when the bounds allow it, else null. */
export function believedStamp(line: string, bounds: TimeBounds): WallMs | null {
  const stamp = parseStamp(line);
  if (stamp === null || stamp < bounds.from - SLACK_MS || stamp > bounds.to + SLACK_MS) return null;
  return stamp;
}

/** From which offset on a byte may have been written at `from` or later. */
export function offsetSince(marks: readonly TimeMark[], from: WallMs): number {
  let offset = 0;
  for (const mark of marks) {
    if (mark.at >= from) break;
    offset = mark.size;
  }
  return offset;
}
