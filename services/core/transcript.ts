// A recording's segments and its text. Pure: where to cut, what is still to do, how the text is put together.
// Invariant: a plan covers [0, duration) without gap or overlap, so that a segment done twice gives the same result.

export interface SegmentSpan {
  readonly n: number;
  readonly startMs: number;
  readonly endMs: number;
}

export interface Segment extends SegmentSpan {
  readonly text: string;
}

/** A recording up to this length is one segment. */
export const SHORT_MS = 45_000;
/** Length aimed at; a cut moves to a pause at most REACH_MS away. */
const SEGMENT_MS = 30_000;
const REACH_MS = 8_000;

export interface Pause {
  readonly startMs: number;
  readonly endMs: number;
}

/** Spans of about SEGMENT_MS, cut in the middle of the longest pause near each aim, or at the aim where nobody pauses. */
export function planSegments(durationMs: number, pauses: readonly Pause[] = []): readonly SegmentSpan[] {
  const whole = Math.max(1, Math.round(durationMs));
  const spans: SegmentSpan[] = [];
  const cuts = pauses
    .map((pause) => ({
      atMs: Math.round((pause.startMs + pause.endMs) / 2),
      lengthMs: pause.endMs - pause.startMs,
    }))
    .sort((one, other) => one.atMs - other.atMs);
  let startMs = 0;
  // Each is looked at for one aim: the next aim is further away than it reaches.
  let next = 0;
  while (whole - startMs > SHORT_MS) {
    const aimMs = startMs + SEGMENT_MS;
    let best: (typeof cuts)[number] | undefined;
    for (; (cuts[next]?.atMs ?? Number.POSITIVE_INFINITY) <= aimMs + REACH_MS; next++) {
      const cut = cuts[next];
      if (cut === undefined || cut.atMs < aimMs - REACH_MS) continue;
      if (best === undefined || cut.lengthMs > best.lengthMs) best = cut;
    }
    const endMs = best?.atMs ?? aimMs;
    spans.push({ n: spans.length, startMs, endMs });
    startMs = endMs;
  }
  spans.push({ n: spans.length, startMs, endMs: whole });
  return spans;
}

/** The spans of `plan` without a kept segment of the very same span. */
export function missingSegments(plan: readonly SegmentSpan[], kept: readonly SegmentSpan[]): readonly SegmentSpan[] {
  const have = new Set(kept.map((one) => `${one.n}:${one.startMs}:${one.endMs}`));
  return plan.filter((one) => !have.has(`${one.n}:${one.startMs}:${one.endMs}`));
}

/** What a recogniser printed as one line of text. */
export function cleanText(printed: string): string {
  return printed
    .replace(/^\[[\d:.,]+ *--> *[\d:.,]+\]/gm, "")
    .replaceAll("\u0000", "")
    .replace(/\s+/g, " ")
    .trim();
}

/** The whole text: segments in order, one line each, silent ones left out. */
export function transcriptText(segments: readonly Segment[]): string {
  return inOrder(segments)
    .map((one) => one.text)
    .filter((text) => text !== "")
    .join("\n");
}

function inOrder(segments: readonly Segment[]): readonly Segment[] {
  return [...segments].sort((a, b) => a.n - b.n);
}

function stamp(ms: number, comma: "," | "."): string {
  const part = (value: number, digits: number) => String(Math.floor(value)).padStart(digits, "0");
  return `${part(ms / 3_600_000, 2)}:${part((ms / 60_000) % 60, 2)}:${part((ms / 1_000) % 60, 2)}${comma}${part(ms % 1_000, 3)}`;
}

/** Subtitles of the segments that have text. */
export function subtitles(segments: readonly Segment[], format: "srt" | "vtt"): string {
  const comma = format === "srt" ? "," : ".";
  const cues = inOrder(segments)
    .filter((one) => one.text !== "")
    // An arrow in the text would end the cue.
    .map((one, index) => {
      const times = `${stamp(one.startMs, comma)} --> ${stamp(one.endMs, comma)}`;
      return `${format === "srt" ? `${index + 1}\n` : ""}${times}\n${one.text.replaceAll("-->", "->")}\n`;
    });
  return `${format === "vtt" ? "WEBVTT\n\n" : ""}${cues.join("\n")}`;
}
