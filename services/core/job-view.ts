// The four kinds seen as one list: which states each has, what a filter means, what may be asked of a job. Pure.

import { JOB_KINDS, type JobKind } from "../../config/config.ts";

export const JOB_STATES = [
  "queued",
  "running",
  "waiting",
  "answered",
  "done",
  "stopped",
  "cancelled",
  "failed",
] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Wire states of each kind; those that have not ended come first. */
export const kindStates = {
  chat: ["queued", "running", "waiting", "answered", "stopped", "failed"],
  transcription: ["queued", "running", "done", "cancelled", "failed"],
  playbook: ["queued", "running", "waiting", "done", "stopped", "failed"],
  "schema-analysis": ["queued", "running", "done", "stopped", "failed"],
} as const satisfies Record<JobKind, readonly JobState[]>;

/** What a list of jobs may be asked for: one state, or all unfinished, or all ended ones. */
export const JOB_FILTERS = ["unfinished", "ended", ...JOB_STATES] as const;
export type JobFilter = (typeof JOB_FILTERS)[number];

const UNFINISHED: readonly JobState[] = ["queued", "running", "waiting"];

export function isUnfinished(state: JobState): boolean {
  return UNFINISHED.includes(state);
}

/** Unfinished jobs are told by when they were accepted, ended ones by when they ended. */
export function sortColumn(filter: JobFilter): "created_at" | "ended_at" {
  return filter === "unfinished" || UNFINISHED.some((state) => state === filter) ? "created_at" : "ended_at";
}

/** The kinds and states that `filter` lets through. */
export function wantedStates(filter: JobFilter): readonly { readonly kind: JobKind; readonly state: JobState }[] {
  const isWanted = (state: JobState): boolean =>
    filter === "unfinished" ? isUnfinished(state) : filter === "ended" ? !isUnfinished(state) : state === filter;
  return JOB_KINDS.flatMap((kind) => kindStates[kind].filter(isWanted).map((state) => ({ kind, state })));
}

/**
 * again: the same job waits once more. anew: another job with the same request, since this kind's end is final. never:
 * its tools may have acted, so that only its owner asks again.
 */
type Retry = "again" | "anew" | "never";

export const kindRetry = {
  chat: "never",
  transcription: "again",
  playbook: "never",
  "schema-analysis": "anew",
} as const satisfies Record<JobKind, Retry>;

interface JobActs {
  readonly stop: boolean;
  readonly retry: "again" | "anew" | null;
}

/** What an administrator may ask of a job in this state. */
export function jobActs(kind: JobKind, state: JobState): JobActs {
  const retry = kindRetry[kind];
  const hasFailed = state === "failed" || state === "stopped" || state === "cancelled";
  return { stop: isUnfinished(state), retry: hasFailed && retry !== "never" ? retry : null };
}
