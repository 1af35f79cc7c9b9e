// How a turn that was given up ends, told by its cause.

import { expect, test } from "vitest";
import { abortCauseOf, JobAborted } from "../../../../services/core/abort.ts";
import { turnEndOfAbort, turnEndOfLoss } from "../../../../services/core/turn.ts";

test("an abort ends a turn by its first cause; a lost claim ends nothing", () => {
  expect(turnEndOfAbort("stopped")).toEqual({ state: "stopped", cause: "stopped" });
  expect(turnEndOfAbort("cut")).toEqual({ state: "failed", cause: "cut" });
  expect(turnEndOfAbort("limit")).toEqual({ state: "failed", cause: "limit" });
  expect(turnEndOfAbort("lostClaim")).toBeNull();
  const controller = new AbortController();
  expect(abortCauseOf(controller.signal)).toBeNull();
  controller.abort(new JobAborted("stopped"));
  controller.abort(new JobAborted("cut"));
  expect(abortCauseOf(controller.signal)).toBe("stopped");
});

test("a turn of a lost worker is failed, unless its user had asked for a stop", () => {
  expect(turnEndOfLoss(false)).toEqual({ state: "failed", cause: "cut" });
  expect(turnEndOfLoss(true)).toEqual({ state: "stopped", cause: "stopped" });
});
