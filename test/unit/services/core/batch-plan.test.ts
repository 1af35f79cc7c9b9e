import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateSeconds, type FoundFile, planBatch } from "../../../../services/core/batch-plan.ts";

const NO_PACE = { finished: 0, bytes: 0, workMs: 0, lanes: 1 };
const file = (path: string, bytes = 10, refused: string | null = null): FoundFile => ({ path, bytes, refused });

describe("a plan", () => {
  test("sorts as people do, takes a path once, and tells why it skips", () => {
    const plan = planBatch(
      [file("/a/v10.wav"), file("/a/v2.WAV"), file("/a/v2.WAV"), file("/a/x"), file("/a/y.txt"), file("/a/z.mp3", 0)],
      { maxBytes: 100 },
      NO_PACE,
    );
    expect(plan.items.map((item) => item.name)).toEqual(["v2.WAV", "v10.wav"]);
    expect(plan.skipped).toEqual([
      { path: "/a/x", reason: "not a recording (no file ending)" },
      { path: "/a/y.txt", reason: "not a recording (.txt)" },
      { path: "/a/z.mp3", reason: "the file is empty" },
    ]);
  });

  test("puts every found file in exactly one of items and skipped", () => {
    const found = fc.array(
      fc.record({
        path: fc.constantFrom("a.wav", "b.mp3", "c.txt", "d", ".wav", "e.ogg").map((name) => `/r/${name}`),
        bytes: fc.nat(200),
        refused: fc.option(fc.constant("cannot be read")),
      }),
    );
    fc.assert(
      fc.property(found, (files) => {
        const plan = planBatch(files, { maxBytes: 100 }, NO_PACE);
        const told = [...plan.items, ...plan.skipped].map((one) => one.path).sort();
        expect(told).toEqual([...new Set(files.map((one) => one.path))].sort());
        expect(plan.count).toBe(plan.items.length);
        expect(plan.skipped.every((one) => one.reason !== "")).toBe(true);
        expect(plan.estimateSeconds > 0).toBe(plan.count > 0);
      }),
    );
  });

  test("estimates by what earlier ones took, and by the number of lanes", () => {
    const items = Array.from({ length: 100 }, (_, n) => ({ path: `/${n}.wav`, name: `${n}.wav`, bytes: 1_000 }));
    const pace = { finished: 10, bytes: 10_000, workMs: 20_000, lanes: 1 };
    expect(estimateSeconds(items, pace)).toBe(200);
    expect(estimateSeconds(items, { ...pace, lanes: 4 })).toBe(50);
    expect(estimateSeconds([], pace)).toBe(0);
  });
});
