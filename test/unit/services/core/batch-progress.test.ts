import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BatchFacts, batchProgress, RECENT } from "../../../../services/core/batch-progress.ts";

interface Simulated {
  readonly facts: BatchFacts;
  readonly leftMs: number;
}

/** A batch on `lanes` workers whose items take `tookMs`; facts at every end of an item. Pauses do not count. */
function simulate(tookMs: readonly number[], lanes: number): readonly Simulated[] {
  const free: number[] = Array.from({ length: lanes }, () => 0);
  const ends = tookMs.map((ms) => {
    const lane = free.indexOf(Math.min(...free));
    free[lane] = (free[lane] ?? 0) + ms;
    return free[lane] ?? 0;
  });
  const sorted = [...ends].sort((a, b) => a - b);
  const overMs = sorted.at(-1) ?? 0;
  return sorted.map((atMs, index) => {
    const done = index + 1;
    const left = tookMs.length - done;
    const running = Math.min(lanes, left);
    return {
      leftMs: overMs - atMs,
      facts: {
        state: left === 0 ? "done" : "running",
        counts: { queued: left - running, running, done, failed: 0, cancelled: 0 },
        partial: 0,
        activeMs: atMs,
        marks: sorted
          .slice(0, done)
          .reverse()
          .slice(0, RECENT + 1),
      },
    };
  });
}

const same = (n: number, ms: number) => Array.from({ length: n }, () => ms);

describe("the ETA of a batch", () => {
  test("is within a tenth at a steady speed, from the third item on", () => {
    for (const { facts, leftMs } of simulate(same(200, 1_000), 1).slice(2, -20)) {
      const { etaSeconds } = batchProgress(facts);
      expect(Math.abs((etaSeconds ?? 0) * 1_000 - leftMs)).toBeLessThanOrEqual(Math.max(0.1 * leftMs, 1_000));
    }
  });

  test.each([
    ["three times slower", 1_000, 3_000],
    ["three times faster", 3_000, 1_000],
  ])("follows a speed that becomes %s within a quarter of what was done", (_what, before, after) => {
    const run = simulate([...same(100, before), ...same(300, after)], 2);
    const later = run[150];
    const { etaSeconds, etaRangeSeconds } = batchProgress((later as Simulated).facts);
    const leftS = (later as Simulated).leftMs / 1_000;
    expect(Math.abs((etaSeconds ?? 0) - leftS)).toBeLessThanOrEqual(0.15 * leftS);
    expect(etaRangeSeconds?.from).toBeLessThanOrEqual(leftS * 1.15);
    expect(etaRangeSeconds?.to).toBeGreaterThanOrEqual(leftS * 0.85);
  });

  test("grows while nothing ends any more", () => {
    const { facts } = simulate(same(100, 1_000), 1)[49] as Simulated;
    const etas = [0, 10_000, 60_000, 600_000].map((still) => {
      const stuck = { ...facts, activeMs: facts.activeMs + still };
      return batchProgress(stuck).etaSeconds ?? 0;
    });
    expect(etas).toEqual([...etas].sort((a, b) => a - b));
    expect(etas.at(-1)).toBeGreaterThan(10 * (etas[0] ?? 0));
  });

  test("is none before 3 finished items or 5 %, while paused, and at the end", () => {
    const run = simulate(same(100, 1_000), 1);
    expect(run.slice(0, 3).map(({ facts }) => batchProgress(facts).etaSeconds === null)).toEqual([true, true, false]);
    const small = simulate(same(4, 1_000), 1);
    expect(batchProgress((small[0] as Simulated).facts).etaSeconds).toBe(3);
    const paused = { ...(run[50] as Simulated).facts, state: "paused" as const };
    expect(batchProgress(paused).etaSeconds).toBeNull();
    expect(batchProgress((run[99] as Simulated).facts)).toMatchObject({ progress: 1, etaSeconds: null });
  });

  test("is null or above 0 and never NaN, and progress stays in 0..1, whatever the facts", () => {
    const counts = fc.record({
      queued: fc.nat(1e6),
      running: fc.nat(100),
      done: fc.nat(1e6),
      failed: fc.nat(1e6),
      cancelled: fc.nat(1e6),
    });
    const facts = fc.record({
      state: fc.constantFrom("running", "paused", "done", "failed", "cancelled"),
      counts,
      partial: fc.double({ min: -5, max: 1e6, noNaN: true }),
      activeMs: fc.nat(1e9),
      marks: fc.array(fc.nat(1e9), { maxLength: RECENT + 1 }).map((all) => all.sort((a, b) => b - a)),
    });
    fc.assert(
      fc.property(facts, (some) => {
        const { progress, etaSeconds, throughput } = batchProgress(some as BatchFacts);
        const left = some.counts.queued + some.counts.running;
        expect(progress >= 0 && progress <= 1 && (progress < 1 || left === 0)).toBe(true);
        expect(etaSeconds === null || (Number.isFinite(etaSeconds) && etaSeconds > 0)).toBe(true);
        expect(throughput === null || throughput >= 0).toBe(true);
      }),
    );
  });

  test("progress never decreases over a run of any lengths", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 120 }), (tookMs) => {
        const shares = simulate(tookMs, 3).map(({ facts }) => batchProgress(facts).progress);
        expect(shares).toEqual([...shares].sort((a, b) => a - b));
      }),
    );
  });
});
