// A drain's instants under any legal configuration.

import fc from "fast-check";
import { expect, test } from "vitest";
import { drainDeadlines, stopRule } from "../../../../services/core/worker-drain.ts";

const turn = { finishMs: 270_000, wrapUpMs: 30_000, claimMs: 420_000, limitMs: 1_800_000, onStop: "handOver" } as const;

test("the defaults: abort at 270 s, leftovers by force before 300 s, out before 330 s", () => {
  expect(drainDeadlines(turn, 330_000)).toEqual({
    abortAtMs: 270_000,
    forceAtMs: 295_000,
    exitAtMs: 315_000,
  });
});

test("the order holds for every configuration that may be loaded", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1e6 }),
      fc.integer({ min: 1, max: 1e6 }),
      fc.integer({ min: 1, max: 1e6 }),
      (finishMs, wrapUpMs, slack) => {
        const graceMs = finishMs + wrapUpMs + slack;
        const at = drainDeadlines({ ...turn, finishMs, wrapUpMs }, graceMs);
        expect(at.abortAtMs).toBeLessThan(at.forceAtMs);
        expect(at.forceAtMs).toBeLessThan(finishMs + wrapUpMs);
        expect(at.exitAtMs).toBeGreaterThan(finishMs + wrapUpMs);
        expect(at.exitAtMs).toBeLessThan(graceMs);
      },
    ),
  );
});

test("transcription hands back unless it is told to finish; the others follow the table", () => {
  expect(stopRule("transcription", "handBack")).toBe("handBack");
  expect(stopRule("transcription", "finish")).toBe("runOn");
  expect(stopRule("chat", "finish")).toBe("budget");
  expect(stopRule("playbook", "handBack")).toBe("runOn");
  expect(stopRule("schema-analysis", "handBack")).toBe("runOn");
});
