// What counts as a change's own doing after it stood, and what does not.

import { expect, test } from "vitest";
import type { LastExit } from "../../../../config/control-api.ts";
import { fellApart } from "../../../../supervisor/core/aftermath.ts";

const STOOD = Date.parse("2026-01-01T00:00:00Z");
const LATER = "2026-01-01T00:00:20Z";

const exit = (code: number | null, signal: string | null = null, at = LATER): LastExit => ({
  known: true,
  ...{ code, signal, at, outOfMemory: "no" },
});
const place = (lastExit: LastExit | null, rollout = "r-1") =>
  ({ service: "web", rollout, wanted: "up", lastExit }) as const;

test.each([
  ["every place has ended by itself", [place(exit(3)), place(exit(0))], true],
  ["one that aborted itself among them", [place(exit(null, "SIGABRT")), place(exit(1))], true],
  ["ended for want of memory", [place({ ...exit(null, "SIGKILL"), outOfMemory: "likely" } as LastExit)], true],
  ["one place has not", [place(exit(3)), place(null)], false],
  ["killed by somebody", [place(exit(null, "SIGKILL"))], false],
  ["before the change", [place(exit(3, null, "2025-12-31T23:59:59Z"))], false],
  ["nobody knows how", [place({ known: false, at: LATER })], false],
  ["a place was filled by another rollout since", [place(exit(3)), place(exit(3), "r-2")], false],
])("%s", (_, instances, expected) => {
  expect(fellApart("r-1", STOOD, instances)?.service ?? null).toBe(expected ? "web" : null);
});

test("a service beside it that is well does not hide one that falls apart", () => {
  const well = { ...place(null), service: "jobs" };
  expect(fellApart("r-1", STOOD, [well, place(exit(3)), { ...place(null), wanted: "down" }])).toEqual({
    service: "web",
    exit: exit(3),
  });
});
