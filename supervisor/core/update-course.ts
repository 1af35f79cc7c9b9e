// The course of an update or rollback: a document, its present step, and what follows a step's success or failure.
// Pure. Every step may be taken again after a kill in its middle; `afterStep` is all the runner asks.
//
//   stage preflight compare [migrate] [drain] [close copy migrateClosed] replace confirm switch trial prune   -> succeeded
//   up to compare and migrate failed: nothing was touched                                                 -> failed
//   drain .. migrateClosed failed: back = the old workers (and web) start again                           -> failed
//   replace .. trial failed: back = old code by surge, or closed, the copy restored, old code     -> failed

import type { Recorded } from "./text/text.ts";
import type { UpdatePlanned, UpdateStepName } from "./update-plan.ts";

export const BACK_STEPS = ["drainBack", "closeBack", "restore", "replaceBack"] as const;
type BackStepName = (typeof BACK_STEPS)[number];
export type CourseStep = UpdateStepName | BackStepName;

export interface ReleaseRef {
  readonly version: string;
  readonly path: string;
}

export interface UpdateCourse {
  /** The rollout's id; also names its copy. */
  readonly id: string;
  readonly kind: "update" | "rollback";
  /** Archive, directory, or null: `to` lies in the releases folder already. */
  readonly source: string | null;
  readonly overlapAsked: boolean;
  /** Somebody vouched for an archive without a known signature. Absent: nobody did. */
  readonly allowUnsigned?: boolean;
  readonly from: ReleaseRef;
  readonly to: ReleaseRef | null;
  readonly plan: UpdatePlanned | null;
  /** By-hand rollback to a database of before: the copy to restore, or null. */
  readonly restoreFrom: string | null;
  /** The copy this update has taken, or null. */
  readonly copy: string | null;
  readonly step: CourseStep;
  /** Why it turned back, or null. */
  readonly failure: string | null;
  /** Approval row that asked for it, or null. */
  readonly approval: string | null;
  /** The services are a team's own: Owl itself is updated and nothing else is touched. Absent: the bundled ones. */
  readonly ownServices?: boolean;
  /** Staged by this very update (and to be removed when it fails before touching anything). */
  readonly staged: boolean;
  /** Releases that lay here before it began: a staging that was cut and repeated cannot tell them by itself. */
  readonly present: readonly string[];
  /** How it ended: on record before anything is cleared away, so that an end that was cut says the same again. */
  readonly outcome: Outcome | null;
}

export interface Outcome {
  readonly state: "succeeded" | "failed" | "cancelled";
  readonly reason: string | null;
  /** Nothing is left half-done: it was not touched, or is whole again. */
  readonly isWhole: boolean;
}

type Next = { readonly next: "step"; readonly step: CourseStep } | ({ readonly next: "end" } & Outcome);

/**
 * Steps of the way forward. By-hand rollbacks have no migration of their own; one that restores an older database takes
 * a copy of the present one first, which is its own way back.
 */
export function courseSteps(course: UpdateCourse): readonly CourseStep[] {
  if (course.kind === "rollback") {
    if (course.ownServices) return ["preflight", "switch", "trial", "prune"];
    return course.restoreFrom === null
      ? ["preflight", "drain", "replace", "confirm", "switch", "trial", "prune"]
      : ["preflight", "drain", "close", "copy", "restore", "replace", "confirm", "switch", "trial", "prune"];
  }
  return course.plan?.steps ?? ["stage", "preflight", "compare"];
}

/** What follows the present step, which failed with `failure` or went well (null); a reason in the record's language. */
export function afterStep(course: UpdateCourse, failure: string | null, { update }: Recorded): Next {
  if (isBack(course)) {
    const before = course.failure ?? "";
    if (failure !== null) return ended("failed", update.backFailed(before, failure), false);
    const way = wayBack(course);
    const following = way[way.indexOf(course.step) + 1];
    if (following !== undefined) return { next: "step", step: following };
    return ended("failed", update.back(before, course.from.version));
  }
  if (failure !== null) {
    const [first] = wayBack({ ...course, failure });
    if (first === undefined) return ended("failed", failure);
    return { next: "step", step: first };
  }
  const steps = courseSteps(course);
  const following = steps[steps.indexOf(course.step) + 1];
  if (following === undefined) return ended("succeeded", null);
  return { next: "step", step: following };
}

function ended(state: Outcome["state"], reason: string | null, isWhole = true): Next {
  return { next: "end", state, reason, isWhole };
}

/** It has turned back. */
export function isBack(course: UpdateCourse): boolean {
  return course.failure !== null;
}

const UNTOUCHED: readonly CourseStep[] = ["stage", "preflight", "compare", "migrate"];
/** The new owld is up; what fails then is said, not undone. */
const SETTLED: readonly CourseStep[] = ["prune"];

/** The steps back from where `course` is (its forward step while `failure` is being set). */
function wayBack(course: UpdateCourse): readonly CourseStep[] {
  const at = (BACK_STEPS as readonly string[]).includes(course.step) ? null : course.step;
  if (course.ownServices || (at !== null && (UNTOUCHED.includes(at) || SETTLED.includes(at)))) return [];
  // A database that was changed incompatibly, or restored over, is put back from its copy.
  if (course.copy !== null) return ["closeBack", "restore", "replaceBack"];
  return ["drainBack", "replaceBack"];
}

/** Which kinds of bundled services may have no instance at this step. `closed`: their routes answer 503. */
export function holds(course: UpdateCourse): { readonly workers: boolean; readonly web: boolean } {
  switch (course.step) {
    case "drain":
    case "drainBack":
      return { workers: course.plan?.workers !== "overlap", web: false };
    case "close":
    case "copy":
    case "migrateClosed":
    case "closeBack":
    case "restore":
      return { workers: true, web: true };
    default:
      return { workers: false, web: false };
  }
}

/** Which kinds of bundled services still run when `replace` begins: the others have ended in a step before it. */
export function replacedByOne(course: UpdateCourse): { readonly workers: boolean; readonly web: boolean } {
  const steps = courseSteps(course);
  const before = steps.slice(0, steps.indexOf("replace")).map((step) => holds({ ...course, step }));
  return { workers: !before.some((one) => one.workers), web: !before.some((one) => one.web) };
}

/** The release whose code new instances get at this step. */
export function servingRelease(course: UpdateCourse): ReleaseRef {
  const forward: readonly CourseStep[] = ["replace", "confirm", "switch", "trial", "prune"];
  return forward.includes(course.step) && course.to !== null && !isBack(course) ? course.to : course.from;
}
