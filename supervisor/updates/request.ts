// Updates as operators and administrators ask for them: checked, planned, begun. The course itself is update-runner.ts.
// Invariant: a refused request has changed nothing but, at most, staged a release that is verified and whole.

import { existsSync } from "node:fs";
import type { PreflightLine, Rollout, RolloutPlan, UpdateRequest } from "../../config/control-api.ts";
import { nearest } from "../../config/nearest.ts";
import type { Clock } from "../../config/time.ts";
import type { Manifest } from "../core/manifest.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import { courseSteps, type ReleaseRef, type UpdateCourse } from "../core/update-course.ts";
import {
  planUpdate,
  restoreMs,
  type UpdateFacts,
  type UpdatePlanned,
  type UpdateRefused,
} from "../core/update-plan.ts";
import { type PlanFacts, preflightNotes, rollbackNotes, stepNote, updateNotes } from "../core/update-words.ts";
import type { LedgerEntry, PostedRollback, UpdateDatabaseFacts, WritesSince } from "../ports.ts";
import type { UpdateRunner } from "./runner.ts";

export interface UpdatesParts {
  readonly clock: Clock;
  readonly runner: UpdateRunner;
  /** The release that runs. */
  readonly running: ReleaseRef;
  readonly bundled: boolean;
  /** PostgreSQL is owld's own. */
  readonly managed: boolean;
  /** The preflight of a staged release's own code. */
  readonly preflight: (release: ReleaseRef, text: Text, signal: AbortSignal) => Promise<readonly PreflightLine[]>;
  /** Waiting jobs of a higher format than these. */
  readonly newerJobs: (formats: Manifest["jobKinds"]) => Promise<number>;
  /** Throws while another rollout runs, owld stops or nothing can be put on record. */
  readonly refuse: () => void;
  readonly stage: (source: string, signal: AbortSignal) => Promise<ReleaseRef & { readonly already: boolean }>;
  /** Removes a staged release that nothing runs from. */
  readonly unstage: (release: ReleaseRef) => Promise<void>;
  readonly manifest: (release: ReleaseRef) => Promise<Manifest | null>;
  /** What schema that code knows; read from the code itself where it has no manifest (a checkout). */
  readonly schemaOf: (
    release: ReleaseRef,
  ) => Promise<{ readonly migrations: readonly string[]; readonly queueSchema: number | null }>;
  /** Releases lying in the releases folder, newest first, the running one too. */
  readonly staged: () => Promise<readonly ReleaseRef[]>;
  readonly ledger: () => readonly LedgerEntry[];
  readonly databaseFacts: () => Promise<UpdateDatabaseFacts>;
  readonly writesSince: (copy: string) => Promise<WritesSince>;
  readonly figures: () => Pick<UpdateFacts, "workers" | "graceMs" | "readyMs" | "webReplicas"> &
    Pick<PlanFacts, "confirmMs">;
}

export interface Updates {
  stageRelease(source: string): Promise<{ readonly version: string; readonly path: string; readonly already: boolean }>;
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
  /** The plan for a staged release, as the page shows it, in the language of `text`. */
  assess(release: ReleaseRef, overlap: boolean, text: Text): Promise<UpdatePlanned | UpdateRefused>;
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

const NO_DATABASE: UpdateDatabaseFacts = { applied: {}, compatible: {}, queueSchema: null, bytes: 0 };

export function createUpdates(parts: UpdatesParts): Updates {
  const never = new AbortController().signal;

  async function compare(to: Manifest, overlap: boolean, text: Text): Promise<UpdatePlanned | UpdateRefused> {
    const database = parts.bundled ? await parts.databaseFacts() : NO_DATABASE;
    const facts: UpdateFacts = {
      bundled: parts.bundled,
      from: await parts.manifest(parts.running),
      to,
      applied: Object.keys(database.applied),
      appliedHashes: database.applied,
      queueSchema: database.queueSchema,
      platform: `${process.platform}-${process.arch}`,
      overlapAsked: overlap,
      databaseBytes: database.bytes,
      ...parts.figures(),
    };
    return planUpdate(facts, text);
  }

  async function assess(release: ReleaseRef, overlap: boolean, text: Text): Promise<UpdatePlanned | UpdateRefused> {
    const manifest = await parts.manifest(release);
    if (manifest === null)
      return {
        verdict: "refused",
        code: "update.platform",
        words: ({ refused }) => refused.release.noManifest(release.version),
      };
    return await compare(manifest, overlap, text);
  }

  async function planFacts(to: string, plan: UpdatePlanned | null, restores: boolean): Promise<PlanFacts> {
    const { bundled, managed } = parts;
    const databaseBytes = bundled ? (await parts.databaseFacts()).bytes : null;
    const figures = parts.figures();
    const closedMs = restores ? restoreMs({ ...figures, databaseBytes }) : (plan?.worstDowntimeMs ?? 0);
    return { from: parts.running.version, to, bundled, managed, databaseBytes, closedMs, ...figures };
  }

  function describe(
    course: Pick<UpdateCourse, "kind" | "plan" | "restoreFrom">,
    facts: PlanFacts,
    notes: readonly string[],
    text: Text,
  ): RolloutPlan {
    const own = parts.bundled ? {} : { ownServices: true };
    const whole = { ...course, ...own, step: "stage", failure: null } as UpdateCourse;
    const { graceMs, readyMs, webReplicas, workers, confirmMs } = parts.figures();
    const expectedMs = parts.bundled ? readyMs * (webReplicas + workers) + confirmMs : readyMs;
    return {
      changes: true,
      steps: courseSteps(whole).map((action) => ({
        service: "owl",
        action,
        instance: null,
        note: stepNote(action, course.plan, facts, text),
      })),
      expectedMs,
      worstMs: expectedMs + facts.closedMs + graceMs * (course.plan?.workers === "overlap" ? 1 : 2),
      peakConnections: null,
      connectionLimit: null,
      peakMemoryBytes: null,
      notes,
    };
  }

  async function planRollbackTo(version: string | null): Promise<RollbackCourse> {
    const ledger = parts.ledger();
    const present = ledger.find((entry) => entry.version === parts.running.version) ?? null;
    const staged = await parts.staged();
    const wanted = version ?? present?.before?.version ?? null;
    if (wanted === null) throw new Refusal("rollback.none", ({ refused }) => refused.rollback.none());
    if (wanted === parts.running.version)
      throw new Refusal("rollback.same", ({ refused }) => refused.rollback.same(wanted));
    const to = [...staged, ...(present?.before ? [present.before] : [])].find((one) => one.version === wanted);
    if (to === undefined || !existsSync(to.path)) {
      const here = staged.map((one) => one.version);
      const near = nearest(wanted, here);
      throw new Refusal("rollback.unknown", ({ refused }) => refused.rollback.unknown(wanted, near, here.join(", ")));
    }
    if (!parts.bundled) return { to, restoreFrom: null, lost: null };
    const knows = await parts.schemaOf(to);
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
    course: Pick<UpdateCourse, "kind" | "source" | "overlapAsked" | "to" | "restoreFrom" | "approval" | "present">,
    askedBy?: string,
  ): Rollout {
    parts.refuse();
    const { graceMs, readyMs, webReplicas, confirmMs } = parts.figures();
    const own = parts.bundled ? {} : { ownServices: true };
    return parts.runner.begin(
      { ...course, ...own, from: parts.running },
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
    const formats = (await parts.manifest(to))?.jobKinds ?? null;
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
    assess,
    async stageRelease(source) {
      return await parts.stage(source, never);
    },
    async update({ source, overlap }) {
      const present = (await parts.staged()).map((one) => one.version);
      return begin({
        kind: "update",
        present,
        source,
        overlapAsked: overlap ?? false,
        to: null,
        restoreFrom: null,
        approval: null,
      });
    },
    async updateTo(version, approval, askedBy) {
      const lying = await parts.staged();
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
      for (const { version } of ranBefore(parts.ledger(), parts.running.version))
        found.push({ version, plan: { ...(await assessRollback(version, text)) } });
      return found;
    },
    async planUpdate({ source, overlap }, text) {
      const { version, path, already } = await parts.stage(source, never);
      if (version === parts.running.version)
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
      const plan = await assess({ version, path }, overlap ?? false, text);
      if (plan.verdict === "refused") {
        // What must not be begun is not offered to anybody either.
        if (!already) await parts.unstage({ version, path });
        throw new Refusal(plan.code, plan.words);
      }
      const facts = await planFacts(version, plan, false);
      const judged = await parts.preflight({ version, path }, text, never);
      const manifest = await parts.manifest({ version, path });
      const notes = [
        ...updateNotes(plan, facts, text),
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
function ranBefore(ledger: readonly LedgerEntry[], version: string): readonly ReleaseRef[] {
  const found: ReleaseRef[] = [];
  const seen = new Set([version]);
  let before = ledger.find((entry) => entry.version === version)?.before ?? null;
  while (before !== null && !seen.has(before.version)) {
    const { version: next } = before;
    seen.add(next);
    found.push(before);
    before = ledger.find((entry) => entry.version === next)?.before ?? null;
  }
  return found;
}
