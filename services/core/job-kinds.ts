// THE table of job kinds: what a worker's stop and a worker's loss mean for each, and how its queue is declared.
// Invariant: a kind that misses a column does not compile; handlers.ts and lost-endings.ts are keyed by the same union.

import { JOB_KINDS, type JobKind } from "../../config/config.ts";

/** A queue as pg-boss must have it. retryLimit is 0 for all: requeueing is our own act, fenced in our own tables. */
export interface QueueDeclaration {
  readonly retryLimit: 0;
  readonly expireInSeconds: number;
  readonly retentionSeconds: number;
  readonly deleteAfterSeconds: number;
  /** Only a backstop behind the worker's own heartbeat (30 s). */
  readonly heartbeatSeconds: number;
  readonly policy: "standard";
  readonly notify: false;
}

export interface JobKindRow {
  /** Table in schema `owl` holding this kind's rows with the claim columns. */
  readonly table: "turn" | "transcription" | "playbook_run" | "schema_analysis";
  /** After SIGTERM: end within turn.finish + turn.wrapUp, hand back at the next boundary, or run on to the grace. */
  readonly onStop: "budget" | "handBack" | "runOn";
  /**
   * A lost job goes back in line. requeue: it is the same when run again. resume: the next attempt goes on by the journal,
   * and what may have acted is never repeated unasked; where the truth of the journal is not known (a copy of the database
   * was put back) it is failed.
   */
  readonly lost: "resume" | "requeue";
  /** It is failed after so many losses, so that a job that kills its worker cannot do so for ever. */
  readonly lossLimit: number;
  /**
   * Raised by hand when a job's rows or arguments change their meaning: equal numbers may overlap in an update. Each
   * format has a queue of its own, so that code of before never sees a newer job; code must still run every lower one,
   * since jobs accepted before an update wait in line under it.
   */
  readonly format: number;
  /** Of a row that was never begun: code of before can begin it, but not go on with what newer code left. */
  readonly freshFormat: number;
  /** JSON schema of the queued job's data. */
  readonly argument: Readonly<Record<string, unknown>>;
  readonly queue: QueueDeclaration;
  readonly why: string;
}

const DAY_S = 86_400;

const queue: QueueDeclaration = {
  retryLimit: 0,
  expireInSeconds: DAY_S,
  retentionSeconds: 365 * DAY_S,
  deleteAfterSeconds: 3_600,
  heartbeatSeconds: 90,
  policy: "standard",
  notify: false,
};

const argument = {
  type: "object",
  additionalProperties: false,
  required: ["id"],
  properties: { id: { type: "string", format: "uuid" } },
};

export const jobKinds = {
  chat: {
    table: "turn",
    onStop: "budget",
    lost: "resume",
    lossLimit: 5,
    format: 2,
    freshFormat: 1,
    argument,
    queue,
    why: "The next worker goes on after its last finished step.",
  },
  transcription: {
    table: "transcription",
    onStop: "handBack",
    lost: "requeue",
    lossLimit: 5,
    format: 1,
    freshFormat: 1,
    argument,
    queue,
    why: "Run again it gives the same result; finished segments are kept.",
  },
  playbook: {
    table: "playbook_run",
    onStop: "runOn",
    lost: "resume",
    lossLimit: 5,
    format: 2,
    freshFormat: 1,
    argument,
    queue,
    why: "Finished steps are kept; a mail or a ticket never happens twice unasked.",
  },
  "schema-analysis": {
    table: "schema_analysis",
    onStop: "runOn",
    lost: "resume",
    lossLimit: 5,
    format: 2,
    freshFormat: 1,
    argument,
    queue,
    why: "Tables that are described stay so; it goes on with the next one.",
  },
} as const satisfies Record<JobKind, JobKindRow>;

/** The formats of `kind` this code runs, oldest first. */
export function knownFormats(kind: JobKind): readonly number[] {
  return Array.from({ length: jobKindRow(kind).format }, (_, index) => index + 1);
}

/** The newest format of each kind that this code runs. */
export function newestFormats(): Readonly<Record<JobKind, number>> {
  return Object.fromEntries(JOB_KINDS.map((kind) => [kind, jobKindRow(kind).format])) as Record<JobKind, number>;
}

/** The row of `kind`, seen through the common type. */
export function jobKindRow(kind: JobKind): JobKindRow {
  return jobKinds[kind];
}
