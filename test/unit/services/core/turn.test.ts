// A turn's moves: ends are final, and each way out is told by its cause.

import fc from "fast-check";
import { expect, test } from "vitest";
import { abortCauseOf, JobAborted } from "../../../../services/core/abort.ts";
import {
  hasTurnEnded,
  nextTurnState,
  type TURN_STATES,
  type TurnEvent,
  turnEndOfAbort,
  turnEndOfLoss,
} from "../../../../services/core/turn.ts";

const EVENTS: readonly TurnEvent[] = [
  "claimed",
  "handedBack",
  "answered",
  "stopped",
  "failed",
  "claimLimitPassed",
  "workerLost",
];

test("whatever happens to a turn, it ends at most once and never leaves its end", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 40 }), (events) => {
      let state: (typeof TURN_STATES)[number] = "queued";
      let ends = 0;
      for (const event of events) {
        const next = nextTurnState(state, event);
        if (next === null) continue;
        expect(hasTurnEnded(state)).toBe(false);
        if (hasTurnEnded(next)) ends += 1;
        state = next;
      }
      expect(ends).toBe(hasTurnEnded(state) ? 1 : 0);
    }),
  );
});

test("the claim limit closes what waits only; a lost worker fails what runs only", () => {
  expect(nextTurnState("queued", "claimLimitPassed")).toBe("failed");
  expect(nextTurnState("running", "claimLimitPassed")).toBeNull();
  expect(nextTurnState("running", "workerLost")).toBe("failed");
  expect(nextTurnState("queued", "workerLost")).toBeNull();
});

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
