// A batch and its items as the API tells them.

import type { z } from "zod";
import { batchProgress } from "../../core/batch-progress.ts";
import type { batch, batchItem } from "../../core/wire/batch.ts";
import type { BatchItemRow, BatchRow } from "../../db/batches.ts";
import type { StreamEvent } from "../event-stream.ts";

/** The wire form of a batch. */
export function batchJson(row: BatchRow): z.input<typeof batch> {
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
    createdAt: row.createdAt,
    movedAt: row.movedAt,
    endedAt: row.endedAt,
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

export function batchItemJson(row: BatchItemRow): z.input<typeof batchItem> {
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
    movedAt: row.movedAt,
    endedAt: row.endedAt,
  };
}
