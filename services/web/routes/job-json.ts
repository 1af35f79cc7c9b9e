// A job of any kind as administrators' routes tell it, and its schemas with examples.

import { JOB_KINDS, type JobKind } from "../../../config/config.ts";
import { JOB_FILTERS, JOB_STATES, jobActs } from "../../core/job-view.ts";
import type { JobRow } from "../../db/job-list.ts";

const instant = { type: ["string", "null"], format: "date-time" } as const;
const count = { type: "integer", minimum: 0 } as const;
const ms = { type: ["number", "null"] } as const;

const kindSchema = { type: "string", enum: [...JOB_KINDS] } as const;

export const jobParams = {
  type: "object",
  required: ["kind", "id"],
  properties: { kind: kindSchema, id: { type: "string", format: "uuid" } },
} as const;

export const filterQuery = {
  kind: kindSchema,
  state: {
    type: "string",
    enum: [...JOB_FILTERS],
    description: "A state, or `unfinished` (without it: that), or `ended`.",
  },
  owner: { type: "string", minLength: 1, maxLength: 64, description: "An account's name." },
} as const;

const EXAMPLE = {
  id: "0195f2c4-7d5a-7c3e-9b1f-2f6d1c9a4e10",
  kind: "transcription",
  state: "failed",
  owner: "mina",
  title: "weekly-meeting.wav",
  batchId: null,
  attempt: 2,
  losses: 0,
  worker: "worker-4",
  workerLives: true,
  stopRequested: false,
  message: "The speech recogniser failed: exit code 1.",
  createdAt: "2026-03-02T09:00:00.000Z",
  startedAt: "2026-03-02T09:00:01.000Z",
  endedAt: "2026-03-02T09:00:07.000Z",
  ageMs: null,
  acts: { stop: false, retry: "again" },
};

export const jobSchema = {
  type: "object",
  additionalProperties: true,
  properties: {
    id: { type: "string" },
    kind: kindSchema,
    state: { type: "string", enum: [...JOB_STATES] },
    owner: { type: "string" },
    title: { type: ["string", "null"], description: "What may be shown of it; null for turns and uploads." },
    batchId: { type: ["string", "null"] },
    attempt: count,
    losses: { ...count, description: "How often a worker was lost under it." },
    worker: { type: ["string", "null"], description: "Who claimed it last." },
    workerLives: { type: "boolean", description: "false: it runs, and no living worker holds it." },
    stopRequested: { type: "boolean" },
    message: { type: ["string", "null"], description: "Why it failed." },
    createdAt: { type: "string", format: "date-time" },
    startedAt: instant,
    endedAt: instant,
    ageMs: { ...ms, description: "How long it waits or runs; null when it has ended." },
    acts: {
      type: "object",
      properties: {
        stop: { type: "boolean" },
        retry: { type: ["string", "null"], description: "`again`: the same job; `anew`: another one; null: neither." },
      },
    },
  },
  examples: [EXAMPLE],
} as const;

export const jobDetailSchema = {
  ...jobSchema,
  properties: {
    ...jobSchema.properties,
    payload: { type: "object", additionalProperties: true, description: "What it was asked, without anybody's words." },
    result: { type: "object", additionalProperties: true, description: "How far it came." },
    waitedMs: { ...ms, description: "From acceptance to its last claim." },
    ranMs: { ...ms, description: "From its last claim to its end." },
  },
  examples: [
    {
      ...EXAMPLE,
      payload: { source: "archive", path: "/srv/recordings/weekly-meeting.wav", bytes: 12_345_678, language: "ko" },
      result: { segments: 3, segmentsTotal: 12, secondsDone: 90, secondsTotal: 360 },
      waitedMs: 1_000,
      ranMs: 6_000,
    },
  ],
} as const;

export const countsSchema = {
  type: "object",
  properties: {
    asOf: { type: "string", format: "date-time" },
    countedTo: { ...count, description: "A count that reaches this stands for that many or more." },
    kinds: {
      type: "array",
      description: "Those with a problem first.",
      items: {
        type: "object",
        properties: {
          kind: kindSchema,
          queued: count,
          running: count,
          failedLastDay: count,
          oldestWaitingMs: ms,
          longestRunningMs: ms,
          withoutWorker: count,
          p95Ms: { ...ms, description: "Of the last ones that succeeded." },
          measured: count,
          warnings: {
            type: "array",
            items: {
              type: "object",
              properties: {
                what: { type: "string", enum: ["waitsLong", "runsLong", "withoutWorker"] },
                count: { type: ["integer", "null"] },
                ms,
                limitMs: ms,
              },
            },
          },
        },
      },
    },
  },
  examples: [
    {
      asOf: "2026-03-02T09:00:00.000Z",
      countedTo: 100_000,
      kinds: [
        {
          kind: "transcription",
          queued: 120,
          running: 4,
          failedLastDay: 2,
          oldestWaitingMs: 900_000,
          longestRunningMs: 40_000,
          withoutWorker: 0,
          p95Ms: 62_000,
          measured: 1_000,
          warnings: [{ what: "waitsLong", count: null, ms: 900_000, limitMs: 420_000 }],
        },
      ],
    },
  ],
} as const;

/** The wire form of a job. */
export function jobJson(row: JobRow): Record<string, unknown> & { kind: JobKind; id: string } {
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    owner: row.owner,
    title: row.title,
    batchId: row.batchId,
    attempt: row.attempt,
    losses: row.losses,
    worker: row.worker,
    workerLives: row.workerLives,
    stopRequested: row.stopRequested,
    message: row.message,
    createdAt: row.createdAt.toISOString(),
    startedAt: row.startedAt?.toISOString() ?? null,
    endedAt: row.endedAt?.toISOString() ?? null,
    ageMs: row.ageMs,
    acts: jobActs(row.kind, row.state),
  };
}

/** How long it waited for its last claim and ran since, where that is over. */
export function jobTimings(row: JobRow): { readonly waitedMs: number | null; readonly ranMs: number | null } {
  if (row.startedAt === null) return { waitedMs: null, ranMs: null };
  return {
    waitedMs: Math.max(0, row.startedAt.getTime() - row.createdAt.getTime()),
    ranMs: row.endedAt === null ? null : Math.max(0, row.endedAt.getTime() - row.startedAt.getTime()),
  };
}
