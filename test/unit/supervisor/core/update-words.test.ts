import { describe, expect, test } from "vitest";
import { en } from "../../../../supervisor/core/text/text.ts";
import { BACK_STEPS } from "../../../../supervisor/core/update-course.ts";
import { UPDATE_STEPS, type UpdatePlanned } from "../../../../supervisor/core/update-plan.ts";
import {
  type PlanFacts,
  preflightNotes,
  rollbackNotes,
  stepNote,
  updateNotes,
} from "../../../../supervisor/core/update-words.ts";

const facts: PlanFacts = {
  from: "1.0.0",
  to: "1.1.0",
  bundled: true,
  workers: 2,
  graceMs: 330_000,
  confirmMs: 30_000,
  databaseBytes: 500 * 2 ** 20,
  managed: true,
  closedMs: 0,
};
const plan = (change: Partial<UpdatePlanned> = {}): UpdatePlanned => ({
  verdict: "planned",
  workers: "drainFirst",
  reasons: ["drain first is the default"],
  schema: "none",
  pending: [],
  queueMigration: false,
  steps: [],
  worstWithoutWorkersMs: 331_812,
  worstDowntimeMs: 0,
  way: { back: "code" },
  ...change,
});

test("every step of an update says what it does", () => {
  for (const step of UPDATE_STEPS) expect(stepNote(step, plan(), facts, en), step).toMatch(/\S/);
  expect(BACK_STEPS.map((step) => stepNote(step, plan(), facts, en)).join("")).toMatch(/put back/);
});

test("bounds are whole seconds, rounded up, in minutes where they are long", () => {
  expect(updateNotes(plan(), facts, en).join("\n")).toMatch(/at most 5 min 32 s without a worker/);
  expect(stepNote("confirm", plan(), facts, en)).toMatch(/for 30 s/);
});

describe("what a way back costs", () => {
  test("nothing where the old code can live with the database", () => {
    expect(updateNotes(plan(), facts, en).join("\n")).toMatch(/No downtime[\s\S]*Nothing is lost/);
  });
  test("a closed time and what was written since the copy, where it cannot", () => {
    const closed = plan({ schema: "incompatible", worstDowntimeMs: 343_000, way: { back: "restoreCopy" } });
    const shut = { ...facts, closedMs: 343_000 };
    const notes = updateNotes(closed, shut, en).join("\n");
    expect(stepNote("replace", closed, shut, en)).toMatch(/pages are served again/);
    expect(notes).toMatch(/503 for at most 5 min 43 s/);
    expect(notes).toMatch(/what was written since the copy is lost/);
    expect(stepNote("copy", closed, facts, en)).toMatch(/500MiB; so much free disk/);
    expect(stepNote("copy", closed, { ...facts, managed: false }, en)).toMatch(/pg_dump/);
  });
  test("jobs of a raised format are named", () => {
    const raised = plan({ newFormats: true });
    expect(updateNotes(raised, facts, en).join("\n")).toMatch(/closed at their claim limit/);
  });
});

test("a team's own services are said to be left alone", () => {
  const own = { ...facts, bundled: false };
  expect(updateNotes(plan({ workers: "overlap", reasons: [] }), own, en).join("\n")).toMatch(/untouched/);
  expect(rollbackNotes(own, null, 0, en).join("\n")).toMatch(/untouched/);
});

test("a rollback tells what is lost, and which waiting jobs the older release does not know", () => {
  expect(rollbackNotes(facts, null, 1, en).join("\n")).toMatch(/1 job waits in a format/);
  const lost = { count: 7, firstAt: "2026-11-01T00:00:00Z", lastAt: "2026-11-02T00:00:00Z" };
  expect(rollbackNotes(facts, lost, 1, en).join("\n")).toMatch(/7 writes since that copy are lost, from 2026-11-01/);
  expect(rollbackNotes({ ...facts, closedMs: 343_000 }, lost, 1, en).join("\n")).toMatch(/503 for at most 5 min 43 s/);
  expect(rollbackNotes(facts, lost, 1, en).join("\n")).not.toMatch(/in a format/);
  expect(rollbackNotes(facts, { ...lost, count: 0 }, 0, en).join("\n")).toMatch(/Nothing was written/);
});

test("of preflight only what refuses or warns is told, the refusals first", () => {
  const line = (check: string, verdict: string) => ({ check, verdict, found: "found it.", command: "do" });
  const lines = [line("a", "OK"), line("b", "WARN"), line("migrations", "WARN"), line("c", "FAIL")];
  expect(preflightNotes(lines, en)).toEqual([
    "It would be refused by preflight, c: found it. Try: do",
    "Preflight warns, b: found it. Try: do",
  ]);
});
