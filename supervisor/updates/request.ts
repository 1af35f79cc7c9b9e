// Updates as operators and administrators ask for them: checked, planned, begun. The course itself is update-runner.ts.
// Invariant: a refused request has changed nothing but, at most, staged a release that is verified and whole.

import { existsSync } from "node:fs";
import type { Rollout, RolloutPlan, StagedAnswer, StageRequest, UpdateRequest } from "../../config/control-api.ts";
import { nearest } from "../../config/nearest.ts";
import type { Clock } from "../../config/time.ts";
import type { Manifest } from "../core/manifest.ts";
import { describePlan, type Forecast } from "../core/rollout-plan.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import { courseSteps, type ReleaseRef, replacedByOne, type UpdateCourse } from "../core/update-course.ts";
import { restoreMs, type UpdatePlanned } from "../core/update-plan.ts";
import { type PlanFacts, preflightNotes, rollbackNotes, stepNote, updateNotes } from "../core/update-words.ts";
import type { PastRelease, PostedRollback, UpdateDatabaseFacts, WritesSince } from "../ports.ts";
import type { ReleaseFolder } from "../release/folder.ts";
import type { Assess, UpdateFigures } from "./assessment.ts";
import type { ReleaseJudge } from "./judge.ts";
import type { UpdateRunner } from "./runner.ts";

export interface UpdatesParts {
  readonly clock: Clock;
  readonly runner: UpdateRunner;
  readonly folder: ReleaseFolder;
  readonly assess: Assess;
  readonly bundled: boolean;
  /** PostgreSQL is owld's own. */
  readonly managed: boolean;
  /** The preflight of a staged release's own code. */
  readonly preflight: ReleaseJudge;
  /** Waiting jobs of a higher format than these. */
  readonly newerJobs: (formats: Manifest["jobKinds"]) => Promise<number>;
  /** Throws while another rollout runs, owld stops or nothing can be put on record. */
  readonly refuse: () => void;
  readonly history: () => readonly PastRelease[];
  readonly databaseFacts: () => Promise<UpdateDatabaseFacts>;
  readonly writesSince: (copy: string) => Promise<WritesSince>;
  readonly figures: () => UpdateFigures;
  /** What the loop will make of `replace`, of the instances of those kinds that run now. */
  readonly replacement: (kinds: { readonly workers: boolean; readonly web: boolean }) => Forecast;
  readonly connectionLimit: () => number | null;
}

export interface Updates {
  stageRelease(request: StageRequest): Promise<StagedAnswer>;
  update(request: UpdateRequest): Promise<Rollout>;
  planUpdate(request: UpdateRequest, text: Text): Promise<RolloutPlan>;
  rollback(version: string | null): Promise<Rollout>;
  planRollback(version: string | null, text: Text): Promise<RolloutPlan>;
  /** An administrator approved a release that lies staged. */
  updateTo(version: string, approval: string, askedBy: string): Promise<Rollout>;
  /** An administrator approved going back to a release that ran here. */
  rollbackTo(version: string, approval: string, askedBy: string): Promise<Rollout>;
  /** The releases that ran here before this one, each with what going back would cost, as the page shows it. */
  rollbacks(text: Text): Promise<readonly PostedRollback[]>;
}

/** What the page shows before a rollback is approved. `lost`: null when no copy is put back. */
type RollbackAssessed =
  | {
      readonly verdict: "planned";
      readonly restores: boolean;
      /** Time in which pages answer 503, at most. */
      readonly closedMs: number;
      readonly lost: WritesSince | null;
      readonly newerJobs: number;
    }
  | { readonly verdict: "refused"; readonly reason: string; readonly next: string };

interface RollbackCourse {
  readonly to: ReleaseRef;
  readonly restoreFrom: string | null;
  readonly lost: WritesSince | null;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: what can be asked of updates, each in a few lines.
export function createUpdates(parts: UpdatesParts): Updates {
  const { folder } = parts;
  const { running } = folder;
  const never = new AbortController().signal;

  async function planFacts(to: string, plan: UpdatePlanned | null, restores: boolean): Promise<PlanFacts> {
    const { bundled, managed } = parts;
    const databaseBytes = bundled ? (await parts.databaseFacts()).bytes : null;
    const figures = parts.figures();
    const closedMs = restores ? restoreMs({ ...figures, databaseBytes }) : (plan?.worstDowntimeMs ?? 0);
    return { from: running.version, to, bundled, managed, databaseBytes, closedMs, ...figures };
  }

  function describe(
    course: Pick<UpdateCourse, "kind" | "plan" | "restoreFrom">,
    facts: PlanFacts,
    notes: readonly string[],
    text: Text,
  ): RolloutPlan {
    const own = parts.bundled ? {} : { ownServices: true };
    const whole = { ...course, ...own, step: "stage", failure: null } as UpdateCourse;
    const { graceMs, readyMs, workers, webReplicas, confirmMs } = parts.figures();
    const kinds = parts.bundled ? replacedByOne(whole) : { workers: false, web: false };
    const told = describePlan(parts.replacement(kinds), true, parts.connectionLimit(), notes, text);
    // Those that end before it start afresh in it, all at once, and must stand as long.
    const afresh = parts.bundled && ((workers > 0 && !kinds.workers) || (webReplicas > 0 && !kinds.web));
    const endedMs = parts.bundled ? Number(!kinds.workers) + Number(!kinds.web) : 0;
    return {
      ...told,
      steps: courseSteps(whole).flatMap((action) => [
        { service: "owl", action, instance: null, note: stepNote(action, course.plan, facts, text) },
        ...(action === "replace" ? told.steps : []),
      ]),
      expectedMs: Math.max(told.expectedMs, readyMs + (afresh ? confirmMs : 0)),
      worstMs: told.worstMs + facts.closedMs + endedMs * graceMs + (afresh ? readyMs + confirmMs : 0),
    };
  }

  async function planRollbackTo(version: string | null): Promise<RollbackCourse> {
    const history = parts.history();
    const present = history.find((entry) => entry.version === running.version) ?? null;
    const staged = await folder.staged();
    const wanted = version ?? present?.before?.version ?? null;
    if (wanted === null) throw new Refusal("rollback.none", ({ refused }) => refused.rollback.none());
    if (wanted === running.version) throw new Refusal("rollback.same", ({ refused }) => refused.rollback.same(wanted));
    const to = [...staged, ...(present?.before ? [present.before] : [])].find((one) => one.version === wanted);
    if (to === undefined || !existsSync(to.path)) {
      const here = staged.map((one) => one.version);
      const near = nearest(wanted, here);
      throw new Refusal("rollback.unknown", ({ refused }) => refused.rollback.unknown(wanted, near, here.join(", ")));
    }
    if (!parts.bundled) return { to, restoreFrom: null, lost: null };
    const knows = await folder.schemaOf(to);
    const database = await parts.databaseFacts();
    const ahead = Object.keys(database.applied).filter((name) => !knows.migrations.includes(name));
    const code = ahead.every((name) => database.compatible[name] === true);
    const queue = database.queueSchema === null || database.queueSchema === knows.queueSchema;
    if (code && queue) return { to, restoreFrom: null, lost: null };
    const copy = present?.before?.version === wanted ? present.copy : null;
    if (copy === null || !existsSync(copy))
      throw new Refusal("rollback.noCopy", ({ refused }) => refused.rollback.noCopy(wanted), { data: { ahead } });
    return { to, restoreFrom: copy, lost: await parts.writesSince(copy) };
  }

  function begin(
    course: Pick<UpdateCourse, "kind" | "source" | "overlapAsked" | "to" | "restoreFrom" | "approval" | "present"> &
      Pick<UpdateCourse, "allowUnsigned">,
    askedBy?: string,
  ): Rollout {
    parts.refuse();
    const { graceMs, readyMs, webReplicas, confirmMs } = parts.figures();
    const own = parts.bundled ? {} : { ownServices: true };
    return parts.runner.begin(
      { ...course, ...own, from: running },
      2 * graceMs + readyMs * (webReplicas + 1) + confirmMs,
      askedBy,
    );
  }

  async function goBack(version: string | null, approval: string | null, askedBy?: string): Promise<Rollout> {
    const { to, restoreFrom } = await planRollbackTo(version);
    return begin(
      { kind: "rollback", present: [], source: null, overlapAsked: false, to, restoreFrom, approval },
      askedBy,
    );
  }

  /** Waiting jobs that the older release would not know. */
  async function newerJobsFor(to: ReleaseRef): Promise<number> {
    const formats = (await folder.manifest(to))?.jobKinds ?? null;
    return parts.bundled && formats !== null ? await parts.newerJobs(formats) : 0;
  }

  async function assessRollback(version: string, text: Text): Promise<RollbackAssessed> {
    try {
      const { to, restoreFrom, lost } = await planRollbackTo(version);
      const { closedMs } = await planFacts(version, null, restoreFrom !== null);
      const newerJobs = lost === null ? await newerJobsFor(to) : 0;
      return { verdict: "planned", restores: restoreFrom !== null, closedMs, lost, newerJobs };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { sentence, next } = error.words(text);
      return { verdict: "refused", reason: sentence, next: next ?? "" };
    }
  }

  return {
    async stageRelease({ source, allowUnsigned }) {
      return await folder.stage(source, never, allowUnsigned ?? false);
    },
    async update({ source, overlap, allowUnsigned }) {
      const present = (await folder.staged()).map((one) => one.version);
      return begin({
        kind: "update",
        present,
        source,
        overlapAsked: overlap ?? false,
        ...(allowUnsigned ? { allowUnsigned } : {}),
        to: null,
        restoreFrom: null,
        approval: null,
      });
    },
    async updateTo(version, approval, askedBy) {
      const lying = await folder.staged();
      const found = lying.find((one) => one.version === version);
      if (found === undefined)
        throw new Refusal("release.unknown", ({ refused }) => refused.release.notStaged(version));
      return begin(
        {
          kind: "update",
          present: lying.map((one) => one.version),
          source: found.path,
          overlapAsked: false,
          to: null,
          restoreFrom: null,
          approval,
        },
        askedBy,
      );
    },
    rollbackTo: goBack,
    async rollbacks(text) {
      const found: PostedRollback[] = [];
      for (const { version } of ranBefore(parts.history(), running.version))
        found.push({ version, plan: { ...(await assessRollback(version, text)) } });
      return found;
    },
    async planUpdate({ source, overlap, allowUnsigned }, text) {
      const { version, path, already, signing } = await folder.stage(source, never, allowUnsigned ?? false);
      if (version === running.version)
        return {
          ...describe(
            { kind: "update", plan: null, restoreFrom: null },
            await planFacts(version, null, false),
            [text.update.same(version)],
            text,
          ),
          changes: false,
          steps: [],
        };
      const plan = await parts.assess({ version, path }, overlap ?? false, text);
      if (plan.verdict === "refused") {
        // What must not be begun is not offered to anybody either.
        if (!already) await folder.unstage({ version, path });
        throw new Refusal(plan.code, plan.words);
      }
      const facts = await planFacts(version, plan, false);
      const judged = await parts.preflight({ version, path }, text, never);
      const manifest = await folder.manifest({ version, path });
      const notes = [
        ...updateNotes(plan, facts, text),
        ...(signing === "checked" ? [] : [text.signing[signing]]),
        ...(manifest?.notes[text.language] ?? []),
        ...preflightNotes(judged, text),
      ];
      return describe({ kind: "update", plan, restoreFrom: null }, facts, notes, text);
    },
    rollback: (version) => goBack(version, null),
    async planRollback(version, text) {
      const { to, restoreFrom, lost } = await planRollbackTo(version);
      const facts = await planFacts(to.version, null, restoreFrom !== null);
      const notes = rollbackNotes(facts, lost, await newerJobsFor(to), text);
      return describe({ kind: "rollback", plan: null, restoreFrom }, facts, notes, text);
    },
  };
}

/** The releases that ran before `version`, the last one first. */
function ranBefore(history: readonly PastRelease[], version: string): readonly ReleaseRef[] {
  const found: ReleaseRef[] = [];
  const seen = new Set([version]);
  let before = history.find((entry) => entry.version === version)?.before ?? null;
  while (before !== null && !seen.has(before.version)) {
    const { version: next } = before;
    seen.add(next);
    found.push(before);
    before = history.find((entry) => entry.version === next)?.before ?? null;
  }
  return found;
}
