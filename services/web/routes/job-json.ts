// A job of any kind as administrators' routes tell it.

import { jobActs } from "../../core/job-view.ts";
import type { JobInput } from "../../core/wire/job.ts";
import type { JobRow } from "../../db/job-list.ts";

/** The wire form of a job. */
export function jobJson(row: JobRow): JobInput {
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
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    endedAt: row.endedAt,
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
