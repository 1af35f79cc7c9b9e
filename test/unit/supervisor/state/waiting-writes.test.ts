// What waits for the state file while nothing can be written.

import { expect, test } from "vitest";
import { createWaitingWrites, type Write } from "../../../../supervisor/state/waiting-writes.ts";

const event = (id: number, rollout = ""): Write => ({
  kind: "event",
  table: rollout === "" ? "event" : "rollout_event",
  id,
  rollout,
  doc: String(id),
});

test("a document that changes a thousand times waits once", () => {
  const waiting = createWaitingWrites();
  for (let n = 0; n < 1_000; n++) waiting.add({ kind: "document", table: "instance", key: "web-1" });
  waiting.add({ kind: "document", table: "counter", key: "web-1" });
  expect(waiting.all()).toHaveLength(2);
});

test("of too many events the newest stay, and how many went is told once", () => {
  const waiting = createWaitingWrites(3);
  for (const id of [1, 2, 3, 4, 5]) waiting.add(event(id));
  expect(waiting.events("event").map(({ id }) => id)).toEqual([3, 4, 5]);
  expect([waiting.takeDropped(), waiting.takeDropped()]).toEqual([2, 0]);
});

test("events of a rollout that is forgotten wait no longer", () => {
  const waiting = createWaitingWrites();
  for (const rollout of ["r-1", "r-2"]) waiting.add(event(Number(rollout.slice(2)), rollout));
  waiting.add({ kind: "forget", rollout: "r-1" });
  expect(waiting.all().map(({ kind }) => kind)).toEqual(["forget", "event"]);
});
