import { expect, test } from "vitest";
import { journalLine, journalPriority } from "../../../../supervisor/observe/journal-line.ts";

test("an event is its sentence, with its priority", () => {
  const fields = { level: 40, type: "instance.crashed", instance: "web-1", data: { from: "ready" } };
  expect(journalLine(JSON.stringify({ ...fields, msg: "web-1 ended unasked." }))).toBe("<4>web-1 ended unasked.\n");
});

test("facts the sentence does not name follow it, and every line of a stack has the priority", () => {
  const err = { type: "Error", message: "full", stack: "Error: full\n    at x" };
  expect(journalLine(JSON.stringify({ level: 50, failures: 3, err, msg: "it failed" }))).toBe(
    "<3>it failed (failures=3): Error: full\n<3>    at x\n",
  );
});

test.each([
  [20, 7],
  [30, 6],
  [60, 2],
])("level %i is priority %i", (level, priority) => {
  expect(journalPriority(JSON.stringify({ level }))).toBe(priority);
});
