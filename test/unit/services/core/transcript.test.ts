import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  cleanText,
  missingSegments,
  planSegments,
  SHORT_MS,
  subtitles,
  transcriptText,
} from "../../../../services/core/transcript.ts";

const pause = fc
  .tuple(fc.nat(3_600_000), fc.integer({ min: 250, max: 5_000 }))
  .map(([startMs, ms]) => ({ startMs, endMs: startMs + ms }));

describe("segments", () => {
  test("cover the whole recording without gap or overlap, wherever people pause", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4_000_000 }), fc.array(pause, { maxLength: 50 }), (durationMs, pauses) => {
        const spans = planSegments(durationMs, pauses);
        expect(spans[0]?.startMs).toBe(0);
        expect(spans.at(-1)?.endMs).toBe(durationMs);
        for (const [n, span] of spans.entries()) {
          expect(span.n).toBe(n);
          expect(span.endMs).toBeGreaterThan(span.startMs);
          if (n > 0) expect(span.startMs).toBe(spans[n - 1]?.endMs);
        }
        expect(planSegments(durationMs, pauses)).toEqual(spans);
      }),
    );
  });

  test("a short recording is one; a long one is cut in the longest pause near the aim", () => {
    expect(planSegments(SHORT_MS)).toHaveLength(1);
    const spans = planSegments(60_000, [
      { startMs: 27_000, endMs: 27_400 },
      { startMs: 32_000, endMs: 33_000 },
      { startMs: 50_000, endMs: 55_000 },
    ]);
    expect(spans.map((span) => span.endMs)).toEqual([32_500, 60_000]);
  });

  test("a pause is looked at as often in a recording twice as long", () => {
    const looks = (minutes: number) => {
      let count = 0;
      const pauses = Array.from({ length: minutes * 60 }, (_, n) => ({
        get startMs() {
          count += 1;
          return n * 1_000;
        },
        endMs: n * 1_000 + 300,
      }));
      planSegments(minutes * 60_000, pauses);
      return count / minutes;
    };
    expect(looks(200)).toBe(looks(100));
  });

  test("kept ones are not done again, unless they were cut elsewhere", () => {
    const plan = planSegments(100_000);
    const kept = [plan[0], { n: 1, startMs: 29_000, endMs: 60_000 }].filter((one) => one !== undefined);
    expect(missingSegments(plan, kept).map((one) => one.n)).toEqual([1, 2]);
  });
});

test("text is put together in order, silent segments left out, times of a recogniser taken away", () => {
  const segments = [
    { n: 1, startMs: 61_500, endMs: 90_000, text: "b --> c" },
    { n: 0, startMs: 0, endMs: 61_500, text: "a" },
    { n: 2, startMs: 90_000, endMs: 3_700_001, text: "" },
  ];
  expect(transcriptText(segments)).toBe("a\nb --> c");
  expect(subtitles(segments, "srt")).toBe(
    "1\n00:00:00,000 --> 00:01:01,500\na\n\n2\n00:01:01,500 --> 00:01:30,000\nb -> c\n",
  );
  expect(cleanText("[00:00:00.000 --> 00:00:02.000]   hello\n there\u0000 ")).toBe("hello there");
});
