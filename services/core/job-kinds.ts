// THE table of job kinds: what a worker's stop and a worker's loss mean for each, and how its queue is declared.
// Invariant: a kind that misses a column does not compile; handlers.ts and lost-endings.ts are keyed by the same union.

import type { JobKind } from "../../config/config.ts";

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
  /** A lost job's end. */
  readonly lost: "fail" | "requeue";
  /** A requeueing kind is failed after so many losses, so that a job that kills its worker cannot do so for ever. */
  readonly lossLimit: number;
  /**
   * Raised by hand when a job's rows or arguments change their meaning: equal numbers may overlap in an update. Each
   * format has a queue of its own, so that code of before never sees a newer job; code must still run every lower one,
   * since jobs accepted before an update wait in line under it.
   */
  readonly format: number;
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
    lost: "fail",
    lossLimit: 0,
    format: 1,
    argument,
    queue,
    why: "Its tools may have acted.",
  },
  transcription: {
    table: "transcription",
    onStop: "handBack",
    lost: "requeue",
    lossLimit: 5,
    format: 1,
    argument,
    queue,
    why: "Run again it gives the same result; finished segments are kept.",
  },
  playbook: {
    table: "playbook_run",
    onStop: "runOn",
    lost: "fail",
    lossLimit: 0,
    format: 1,
    argument,
    queue,
    why: "A tool call (mail, ticket) must never happen twice.",
  },
  "schema-analysis": {
    table: "schema_analysis",
    onStop: "runOn",
    lost: "fail",
    lossLimit: 0,
    format: 1,
    argument,
    queue,
    why: "Running it again repeats every model call.",
  },
} as const satisfies Record<JobKind, JobKindRow>;

/** The formats of `kind` this code runs, oldest first. */
export function knownFormats(kind: JobKind): readonly number[] {
  return Array.from({ length: jobKindRow(kind).format }, (_, index) => index + 1);
}

/** The row of `kind`, seen through the common type. */
export function jobKindRow(kind: JobKind): JobKindRow {
  return jobKinds[kind];
}
