// A batch and its items as the API tells them, and their schemas.

import { batchProgress } from "../../core/batch-progress.ts";
import type { BatchItemRow, BatchRow } from "../../db/batches.ts";
import type { StreamEvent } from "../event-stream.ts";

const count = { type: "integer", minimum: 0 } as const;

export const batchSchema = {
  type: "object",
  additionalProperties: true,
  properties: {
    id: { type: "string" },
    kind: { type: "string" },
    state: { type: "string", enum: ["running", "paused", "done", "failed", "cancelled"] },
    counts: {
      type: "object",
      properties: { queued: count, running: count, done: count, failed: count, cancelled: count },
    },
    total: count,
    skippedCount: count,
    progress: { type: "number", description: "0 to 1; 1 only when nothing is left." },
    throughput: {
      type: ["number", "null"],
      description: "Items a second over the last finished ones, active time only.",
    },
    etaSeconds: {
      type: ["integer", "null"],
      description: "null before 3 finished items (or 5 %), while paused, at the end.",
    },
    etaRangeSeconds: {
      type: ["object", "null"],
      properties: { from: { type: "integer" }, to: { type: "integer" } },
    },
    createdAt: { type: "string" },
    movedAt: { type: ["string", "null"], description: "When something last moved." },
    endedAt: { type: ["string", "null"] },
  },
} as const;

/** The wire form of a batch. */
export function batchJson(row: BatchRow): Record<string, unknown> {
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    request: row.request,
    counts: row.counts,
    total: row.total,
    skippedCount: row.skippedCount,
    ...batchProgress(row),
    activeSeconds: Math.round(row.activeMs / 1_000),
    createdAt: row.createdAt.toISOString(),
    movedAt: row.movedAt?.toISOString() ?? null,
    endedAt: row.endedAt?.toISOString() ?? null,
  };
}

export function isBatchOver(row: BatchRow): boolean {
  return row.endedAt !== null && row.counts.running === 0 && row.counts.queued === 0;
}

/** The one event that tells this row: its id changes when the row moved, and every five seconds for the ETA. */
export function batchEvent(row: BatchRow): StreamEvent {
  const { counts } = row;
  const parts = [row.state, counts.queued, counts.running, counts.done, counts.failed, counts.cancelled];
  const id = [...parts, row.partial.toFixed(4), Math.floor(row.activeMs / 5_000)].join("-");
  return { id, event: isBatchOver(row) ? "end" : "state", data: batchJson(row) };
}

export function batchItemJson(row: BatchItemRow): Record<string, unknown> {
  return {
    id: row.id,
    transcriptionId: row.id,
    position: row.position,
    path: row.path ?? row.name,
    name: row.name,
    bytes: row.bytes === null ? null : Number(row.bytes),
    state: row.state,
    message: row.message,
    secondsTotal: row.secondsTotal,
    secondsDone: row.secondsDone,
    attempt: row.attempt,
    movedAt: row.movedAt.toISOString(),
    endedAt: row.endedAt?.toISOString() ?? null,
  };
}
