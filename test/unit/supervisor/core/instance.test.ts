import fc from "fast-check";
import { expect, test } from "vitest";
import { INSTANCE_STATES } from "../../../../config/control-api.ts";
import { INSTANCE_MOVES, type InstanceEvent, isServing, numberOf } from "../../../../supervisor/core/instance.ts";
import { move } from "../../../../supervisor/core/machine.ts";
import { instance, moveInstance } from "../../../support/rollout-world.ts";

const EVENTS: readonly InstanceEvent[] = ["passed", "failing", "tooLate", "crashed", "signalled", "killed", "ended"];
const anyEvents = fc.array(fc.constantFrom(...EVENTS), { maxLength: 30 });

test("an event that means nothing in a state is refused with a reason", () => {
  expect(move(INSTANCE_MOVES, "draining", "passed")).toEqual({
    moved: false,
    reason: "passed does not apply while draining",
  });
});

test("an instance that was signalled never serves again, whatever happens to it", () => {
  fc.assert(
    fc.property(anyEvents, (events) => {
      let one = instance({ id: "web-1", service: "web", number: 1, state: "starting" });
      let signalled = false;
      for (const event of events) {
        const moved = moveInstance(one, event);
        if (moved === null) continue;
        one = moved;
        signalled ||= event === "signalled" || event === "killed";
        if (signalled) expect(one.state).not.toMatch(/starting|ready|unhealthy|backoff/);
      }
    }),
    { seed: 7 },
  );
});

test("every state but exited can be left, and exited never", () => {
  for (const state of INSTANCE_STATES) {
    expect(Object.keys(INSTANCE_MOVES[state]).length > 0).toBe(state !== "exited");
  }
});

test("an instance on its way out no longer counts as ready", () => {
  const ready = instance({ id: "web-1", service: "web", number: 1 });
  expect(isServing(ready)).toBe(true);
  expect(isServing({ ...ready, leaving: "unrouting" })).toBe(false);
});

test.each([
  ["web-7", "web", 7],
  ["web-x-7", "web", null],
  ["web-x-7", "web-x", 7],
  ["web-", "web", null],
])("the number of %s of %s is %s", (id, service, number) => {
  expect(numberOf(id, service)).toBe(number);
});
