// A job of any kind as administrators' routes tell it; nobody's words are in it.

import { z } from "zod";
import { JOB_KINDS } from "../../../config/config.ts";
import { JOB_FILTERS, JOB_STATES } from "../job-view.ts";
import { count, id, instant, list, pageOf, pageQuery, text } from "./parts.ts";
import { askedStep } from "./step.ts";

const ms = z.number().nullable();
const kind = z.enum(JOB_KINDS);
const facts = z.record(z.string(), z.unknown());

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

const job = z.object({
  id,
  kind,
  state: z.enum(JOB_STATES),
  owner: text,
  title: text.nullable().describe("What may be shown of it; null for turns and uploads."),
  batchId: id.nullable(),
  attempt: count,
  losses: count.describe("How often a worker was lost under it."),
  worker: text.nullable().describe("Who claimed it last."),
  workerLives: z.boolean().describe("false: it runs, and no living worker holds it."),
  stopRequested: z.boolean(),
  message: text.nullable().describe("Why it failed."),
  createdAt: instant,
  startedAt: instant.nullable(),
  endedAt: instant.nullable(),
  ageMs: ms.describe("How long it waits or runs; null when it has ended."),
  acts: z.object({
    stop: z.boolean(),
    retry: z.enum(["again", "anew"]).nullable().describe("`again`: the same job; `anew`: another one; null: neither."),
  }),
});
export type Job = z.infer<typeof job>;
export type JobInput = z.input<typeof job>;
export const jobPage = pageOf(job.meta({ examples: [EXAMPLE] }));

export const jobDetail = job
  .extend({
    payload: facts.optional().describe("What it was asked, without anybody's words."),
    result: facts.optional().describe("How far it came."),
    waitsFor: list(askedStep)
      .optional()
      .describe("Calls an administrator may allow too (`tools.approvers`), with their input."),
    waitedMs: ms.describe("From acceptance to its last claim."),
    ranMs: ms.describe("From its last claim to its end."),
  })
  .meta({
    examples: [
      {
        ...EXAMPLE,
        payload: { source: "archive", path: "/srv/recordings/weekly-meeting.wav", bytes: 12_345_678, language: "ko" },
        result: { segments: 3, segmentsTotal: 12, secondsDone: 90, secondsTotal: 360 },
        waitedMs: 1_000,
        ranMs: 6_000,
      },
    ],
  });
export type JobDetail = z.infer<typeof jobDetail>;

export const jobCounts = z
  .object({
    asOf: instant,
    countedTo: count.describe("A count that reaches this stands for that many or more."),
    kinds: list(
      z.object({
        kind,
        queued: count,
        running: count,
        failedLastDay: count,
        oldestWaitingMs: ms,
        longestRunningMs: ms,
        withoutWorker: count,
        p95Ms: ms.describe("Of the last ones that succeeded."),
        measured: count,
        warnings: list(
          z.object({
            what: z.enum(["waitsLong", "runsLong", "withoutWorker"]),
            count: count.nullable(),
            ms,
            limitMs: ms,
          }),
        ),
      }),
    ).describe("Those with a problem first."),
  })
  .meta({
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
  });
export type JobCounts = z.infer<typeof jobCounts>;

export const jobParams = z.object({ kind, id });
const owner = text.min(1).max(64).describe("An account's name.").optional();
export const jobQuery = z.object({
  kind: kind.optional(),
  state: z.enum(JOB_FILTERS).optional().describe("A state, or `unfinished` (without it: that), or `ended`."),
  owner,
  limit: pageQuery.limit,
  before: pageQuery.next,
});
export const jobAccepted = z.object({ id }).meta({ examples: [{ id: EXAMPLE.id }] });
export const jobRetried = z
  .object({
    id: id.describe("The same job, or the new one where the kind's end is final."),
    retry: z.enum(["again", "anew"]),
  })
  .meta({ examples: [{ id: EXAMPLE.id, retry: "again" }] });
export const retryRequest = z
  .strictObject({ kind: kind.optional(), owner })
  .nullish()
  .meta({ examples: [{ kind: "transcription", owner: "mina" }] });
export const jobsRetried = z
  .object({ retried: count, left: z.boolean().describe("More are left: ask again.") })
  .meta({ examples: [{ retried: 12, left: false }] });
export type JobsRetried = z.infer<typeof jobsRetried>;
