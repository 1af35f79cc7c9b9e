// Compares two manifests and what the database has: may old and new workers overlap, which way do migrations go,
// what will the update cost, and what is its way back. Pure; the very answer that --plan and the approval dialog show.

import { JOB_KINDS, type JobKind } from "../../config/config.ts";
import type { Manifest, ManifestMigration } from "./manifest.ts";
import type { Text, Words } from "./text/text.ts";

export interface UpdateFacts {
  /** False: the services are a team's own, so only Owl itself is updated. */
  readonly bundled: boolean;
  readonly from: Manifest | null;
  readonly to: Manifest;
  /** Names of migrations the database has. */
  readonly applied: readonly string[];
  /** Hash of each applied migration's content. */
  readonly appliedHashes: Readonly<Record<string, string>>;
  /** pg-boss's schema number in the database, null when it is not installed. */
  readonly queueSchema: number | null;
  readonly platform: string;
  readonly overlapAsked: boolean;
  readonly workers: number;
  readonly graceMs: number;
  /** Measured or assumed: one new instance until it is ready. */
  readonly readyMs: number;
  readonly webReplicas: number;
  readonly databaseBytes: number | null;
}

type UpdateSchema = "none" | "compatible" | "incompatible";

export interface UpdateRefused {
  readonly verdict: "refused";
  readonly code: "update.platform" | "update.schemaAhead" | "update.migrationChanged" | "update.overlap";
  readonly words: (text: Text) => Words;
}

export interface UpdatePlanned {
  readonly verdict: "planned";
  readonly workers: "overlap" | "drainFirst";
  /** Why overlap is not granted (or was not asked for), as phrases; empty when it is. */
  readonly reasons: readonly string[];
  /** A job kind has another format than before. Absent: on record from a release that did not say. */
  readonly newFormats?: boolean;
  readonly schema: UpdateSchema;
  readonly pending: readonly string[];
  readonly queueMigration: boolean;
  readonly steps: readonly UpdateStepName[];
  /** Time without any claiming worker, at most. */
  readonly worstWithoutWorkersMs: number;
  /** Time in which pages answer 503; 0 unless a migration is incompatible. */
  readonly worstDowntimeMs: number;
  readonly way: { readonly back: "code" | "restoreCopy" };
}

export const UPDATE_STEPS = [
  "stage",
  "preflight",
  "compare",
  "migrate",
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
export type UpdateStepName = (typeof UPDATE_STEPS)[number];

/** What an update to `facts.to` will do, its reasons in the language of `text`, or why it must not begin. */
export function planUpdate(facts: UpdateFacts, text: Text): UpdatePlanned | UpdateRefused {
  const refused = refusal(facts);
  if (refused) return refused;
  if (!facts.bundled) return ownPlan(facts.overlapAsked);
  const pending = facts.to.migrations.filter((m) => !facts.applied.includes(m.name));
  const queueMigration = facts.queueSchema !== null && facts.queueSchema !== facts.to.queueSchema;
  const schema = schemaChange(pending, queueMigration);
  const reasonsIn = (language: Text): string[] => overlapReasons(facts, pending, queueMigration, language);
  const reasons = reasonsIn(text);
  if (facts.overlapAsked && reasons.length > 0)
    return {
      verdict: "refused",
      code: "update.overlap",
      words: (t) => t.refused.update.overlap(t.list(reasonsIn(t))),
    };
  const overlap = facts.overlapAsked;
  const incompatible = schema === "incompatible";
  return {
    verdict: "planned",
    workers: overlap ? "overlap" : "drainFirst",
    reasons: facts.overlapAsked ? [] : reasons.length > 0 ? reasons : [text.update.reasons.byDefault],
    newFormats: JOB_KINDS.some((kind) => hasNewFormat(facts, kind)),
    schema,
    pending: pending.map((m) => m.name),
    queueMigration,
    steps: steps(overlap, schema),
    worstWithoutWorkersMs: overlap ? 0 : facts.graceMs + facts.readyMs,
    worstDowntimeMs: incompatible ? facts.graceMs + copyMs(facts.databaseBytes) + facts.readyMs : 0,
    way: { back: incompatible ? "restoreCopy" : "code" },
  };
}

/** Owl itself under a team's own services: no process of theirs, no row and no schema is touched. */
const OWN_STEPS = ["stage", "preflight", "compare", "switch", "trial", "prune"] as const satisfies UpdateStepName[];

function ownPlan(overlapAsked: boolean): UpdatePlanned | UpdateRefused {
  if (overlapAsked)
    return {
      verdict: "refused",
      code: "update.overlap",
      words: (t) => t.refused.update.noWorkers(),
    };
  return {
    verdict: "planned",
    workers: "overlap",
    reasons: [],
    schema: "none",
    pending: [],
    queueMigration: false,
    steps: OWN_STEPS,
    worstWithoutWorkersMs: 0,
    worstDowntimeMs: 0,
    way: { back: "code" },
  };
}

function refusal(facts: UpdateFacts): UpdateRefused | null {
  if (facts.to.platform !== facts.platform)
    return {
      verdict: "refused",
      code: "update.platform",
      words: (t) => t.refused.release.platform(facts.to.version, facts.to.platform, facts.platform),
    };
  if (!facts.bundled) return null;
  for (const m of facts.to.migrations) {
    const applied = facts.appliedHashes[m.name];
    if (applied !== undefined && applied !== m.sha256)
      return {
        verdict: "refused",
        code: "update.migrationChanged",
        words: (t) => t.refused.update.migrationChanged(m.name, facts.to.version),
      };
  }
  const unknown = facts.applied.filter((name) => !facts.to.migrations.some((m) => m.name === name));
  if (unknown.length > 0)
    return {
      verdict: "refused",
      code: "update.schemaAhead",
      words: (t) => t.refused.update.schemaAhead(facts.to.version, unknown.join(", ")),
    };
  return null;
}

function schemaChange(pending: readonly ManifestMigration[], queueMigration: boolean): UpdateSchema {
  if (queueMigration || pending.some((m) => !m.compatible)) return "incompatible";
  return pending.length > 0 ? "compatible" : "none";
}

/** Everything about jobs that changed; empty means that old and new workers may run together. */
function overlapReasons(
  facts: Pick<UpdateFacts, "from" | "to">,
  pending: readonly ManifestMigration[],
  queueMigration: boolean,
  text: Text,
): string[] {
  const t = text.update.reasons;
  const { from, to } = facts;
  if (!from) return [t.noManifest];
  const reasons: string[] = [];
  for (const kind of JOB_KINDS) {
    const before = from.jobKinds[kind];
    const after = to.jobKinds[kind];
    if (!before && !after) continue;
    if (!before || !after) reasons.push(after ? t.kindNew(kind) : t.kindGone(kind));
    else if (hasNewFormat(facts, kind)) reasons.push(t.format(kind, after.format, before.format));
    else if (before.argument !== after.argument) reasons.push(t.argument(kind));
  }
  for (const m of pending) {
    if (m.touchesJobs) reasons.push(t.touchesJobs(m.name));
    else if (!m.compatible) reasons.push(t.incompatible(m.name));
  }
  if (queueMigration || from.queueSchema !== to.queueSchema) reasons.push(t.queue);
  return reasons;
}

function hasNewFormat({ from, to }: Pick<UpdateFacts, "from" | "to">, kind: JobKind): boolean {
  const before = from?.jobKinds[kind];
  const after = to.jobKinds[kind];
  return before !== undefined && after !== undefined && before.format !== after.format;
}

function steps(overlap: boolean, schema: UpdateSchema): UpdateStepName[] {
  const before: UpdateStepName[] = ["stage", "preflight", "compare"];
  const after: UpdateStepName[] = ["replace", "confirm", "switch", "trial", "prune"];
  if (schema === "incompatible") return [...before, "drain", "close", "copy", "migrateClosed", ...after];
  // `migrate` also when nothing is pending: the new release's queues must be there before its first process.
  return [...before, "migrate", ...(overlap ? [] : (["drain"] as const)), ...after];
}

/** Time in which pages are closed at most, when a copy is put back over the database: one is taken of it first. */
export function restoreMs(facts: Pick<UpdateFacts, "graceMs" | "readyMs" | "databaseBytes">): number {
  return facts.graceMs + 2 * copyMs(facts.databaseBytes) + facts.readyMs;
}

/** 100 MB/s both ways, a careful figure for a small machine's disk. */
function copyMs(bytes: number | null): number {
  return bytes === null ? 60_000 : Math.ceil(bytes / 100_000) * 2;
}

/** Which kept release directories may go: all but `keep` newest finished ones, never `current` nor `previous`. */
export function releasesToPrune(
  kept: readonly { readonly version: string; readonly finishedAt: number }[],
  current: string,
  previous: string | null,
  keep: number,
): string[] {
  const newestFirst = [...kept].sort((a, b) => b.finishedAt - a.finishedAt);
  const staying = new Set(newestFirst.slice(0, keep).map((release) => release.version));
  return newestFirst
    .map((release) => release.version)
    .filter((version) => !staying.has(version) && version !== current && version !== previous);
}

/** Which releases that have never run may go: all but the `keep` staged last. */
export function stagedToPrune(
  staged: readonly { readonly version: string; readonly stagedAt: number }[],
  keep: number,
): string[] {
  return staged
    .toSorted((a, b) => b.stagedAt - a.stagedAt)
    .slice(keep)
    .map(({ version }) => version);
}
