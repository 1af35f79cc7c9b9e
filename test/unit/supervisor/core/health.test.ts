import { expect, test } from "vitest";
import { afterCheck } from "../../../../supervisor/core/health.ts";

test("the first passed check makes a starting instance ready", () => {
  expect(afterCheck("starting", 12, true)).toEqual({ failures: 0, event: "passed" });
  expect(afterCheck("starting", 12, false)).toEqual({ failures: 13, event: null });
});

test("three failed checks in a row take a ready instance out, two do not", () => {
  expect(afterCheck("ready", 1, false)).toEqual({ failures: 2, event: null });
  expect(afterCheck("ready", 2, false)).toEqual({ failures: 3, event: "failing" });
});

test("one passed check brings an unhealthy instance back", () => {
  expect(afterCheck("unhealthy", 9, true)).toEqual({ failures: 0, event: "passed" });
});
