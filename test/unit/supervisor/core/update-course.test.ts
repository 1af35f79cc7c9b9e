import { expect, test } from "vitest";
import { en } from "../../../../supervisor/core/text/text.ts";
import {
  afterStep,
  type CourseStep,
  courseSteps,
  holds,
  servingRelease,
  type UpdateCourse,
} from "../../../../supervisor/core/update-course.ts";
import type { UpdatePlanned } from "../../../../supervisor/core/update-plan.ts";

const FROM = { version: "1.0.0", path: "/r/1.0.0" };
const TO = { version: "1.1.0", path: "/r/1.1.0" };

function plan(steps: UpdatePlanned["steps"]): UpdatePlanned {
  return {
    verdict: "planned",
    workers: "drainFirst",
    reasons: [],
    schema: "none",
    pending: [],
    queueMigration: false,
    steps,
    worstWithoutWorkersMs: 0,
    worstDowntimeMs: 0,
    way: { back: "code" },
  };
}

const SIMPLE = ["stage", "preflight", "compare", "drain", "replace", "confirm", "switch", "trial", "prune"] as const;
const CLOSED = [
  "stage",
  "preflight",
  "compare",
  "drain",
  "close",
  "copy",
  "migrateClosed",
  "replace",
  "confirm",
  "switch",
  "trial",
  "prune",
] as const;

function course(change: Partial<UpdateCourse> = {}): UpdateCourse {
  return {
    id: "r-1",
    kind: "update",
    source: "/a.tar.zst",
    overlapAsked: false,
    from: FROM,
    to: TO,
    plan: plan(SIMPLE),
    restoreFrom: null,
    copy: null,
    step: "stage",
    failure: null,
    approval: null,
    staged: true,
    present: [],
    outcome: null,
    ...change,
  };
}

/** Runs it to its end; `failing` fails once each. */
function run(start: UpdateCourse, ...failing: CourseStep[]) {
  const taken: CourseStep[] = [];
  let now = start;
  for (;;) {
    taken.push(now.step);
    const failure = failing.includes(now.step) ? `${now.step} failed.` : null;
    const next = afterStep(now, failure, en.recorded);
    if (next.next === "end") return { taken, state: next.state, reason: next.reason };
    now = {
      ...now,
      copy: now.step === "copy" && failure === null ? "/copy" : now.copy,
      step: next.step,
      failure: now.failure ?? failure,
    };
  }
}

test("all going well it takes its plan's steps", () => {
  expect(run(course())).toEqual({ taken: SIMPLE, state: "succeeded", reason: null });
  expect(run(course({ plan: plan(CLOSED) }))).toMatchObject({ taken: CLOSED, state: "succeeded" });
});

test.each(["stage", "preflight", "compare"] as const)("a failure in %s ends it with nothing touched", (step) => {
  const { taken, state } = run(course(), step);
  expect([taken.at(-1), state]).toEqual([step, "failed"]);
});

test.each(["replace", "confirm"] as const)("a failure in %s goes back to the old code without any copy", (step) => {
  const { taken, state, reason } = run(course(), step);
  expect(taken.slice(-2)).toEqual(["drainBack", "replaceBack"]);
  expect([state, reason]).toEqual(["failed", `${step} failed. Rolled back to 1.0.0.`]);
});

test("after an incompatible migration the way back restores the copy", () => {
  expect(run(course({ plan: plan(CLOSED) }), "confirm").taken.slice(-3)).toEqual([
    "closeBack",
    "restore",
    "replaceBack",
  ]);
});

test("a migration that fails while closed restores the copy; a copy that fails only starts the old code again", () => {
  expect(run(course({ plan: plan(CLOSED) }), "migrateClosed").taken.slice(-3)).toEqual([
    "closeBack",
    "restore",
    "replaceBack",
  ]);
  expect(run(course({ plan: plan(CLOSED) }), "copy").taken.slice(-2)).toEqual(["drainBack", "replaceBack"]);
});

test("once `current` was switched, a failing prune is no reason to go back", () => {
  expect(run(course(), "prune")).toMatchObject({ state: "failed", reason: "prune failed." });
});

test("a way back that fails says both", () => {
  expect(run(course(), "confirm", "replaceBack").reason).toBe(
    "confirm failed. The way back failed too: replaceBack failed.",
  );
});

test("a rollback by hand restores only when it is told to", () => {
  expect(courseSteps(course({ kind: "rollback", plan: null }))).toEqual([
    "preflight",
    "drain",
    "replace",
    "confirm",
    "switch",
    "trial",
    "prune",
  ]);
  expect(courseSteps(course({ kind: "rollback", plan: null, restoreFrom: "/copy" }))).toContain("restore");
});

test("nobody works while the database is copied or migrated incompatibly, and only workers rest in a drain", () => {
  expect(holds(course({ step: "drain" }))).toEqual({ workers: true, web: false });
  expect(holds(course({ step: "drain", plan: { ...plan(SIMPLE), workers: "overlap" } })).workers).toBe(false);
  for (const step of ["close", "copy", "migrateClosed", "closeBack", "restore"] as const)
    expect(holds(course({ step }))).toEqual({ workers: true, web: true });
  expect(holds(course({ step: "replace" }))).toEqual({ workers: false, web: false });
});

test("new instances get the new code from `replace` on, the old code on the way back", () => {
  expect(servingRelease(course({ step: "drain" }))).toEqual(FROM);
  expect(servingRelease(course({ step: "replace" }))).toEqual(TO);
  expect(servingRelease(course({ step: "replaceBack", failure: "x" }))).toEqual(FROM);
});
