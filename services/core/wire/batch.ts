// A batch of transcriptions, its items, and what is asked for with one.

import { z } from "zod";
import { BATCH_STATES, ITEM_STATES } from "../batch-progress.ts";
import { count, id, instant, list, pageOf, pageQuery, text } from "./parts.ts";

export const itemState = z.enum(ITEM_STATES);
export const language = text.regex(/^[a-z]{2,3}(-[A-Za-z]{2,4})?$/);
export const path = text.min(1).max(4_096);

export const batch = z.object({
  id,
  kind: text,
  state: z.enum(BATCH_STATES),
  request: z.object({ path: text.optional(), items: count.optional() }).describe("The folder, or how many files."),
  counts: z.object({ queued: count, running: count, done: count, failed: count, cancelled: count }),
  total: count,
  skippedCount: count,
  progress: z.number().describe("0 to 1; 1 only when nothing is left."),
  throughput: z.number().nullable().describe("Items a second over the last finished ones, active time only."),
  etaSeconds: z.number().nullable().describe("null before 3 finished items (or 5 %), while paused, at the end."),
  etaRangeSeconds: z.object({ from: z.number(), to: z.number() }).nullable(),
  activeSeconds: z.number(),
  createdAt: instant,
  movedAt: instant.nullable().describe("When something last moved."),
  endedAt: instant.nullable(),
});
export type Batch = z.infer<typeof batch>;
export const batchPage = pageOf(batch);

export const batchItem = z.object({
  id,
  transcriptionId: id,
  position: count,
  path: text,
  name: text,
  bytes: z.number().nullable(),
  state: itemState,
  message: text.nullable(),
  secondsTotal: z.number().nullable(),
  secondsDone: z.number(),
  attempt: count,
  movedAt: instant,
  endedAt: instant.nullable(),
});
export type BatchItem = z.infer<typeof batchItem>;
export const batchItemPage = pageOf(batchItem);
export const batchItemQuery = z.object({ ...pageQuery, state: itemState.optional() });

const ids = list(id).refine((all) => all.length > 0 && all.length <= 50_000, "are none or too many");
const paths = list(path).refine((all) => all.length > 0 && all.length <= 50_000, "are none or too many");

export const batchRequest = z
  .strictObject({
    kind: z.literal("transcription"),
    path: path.optional().describe("A folder (or file) inside an archive root."),
    paths: paths.optional(),
    uploadIds: ids.optional(),
    language: language.optional(),
  })
  .meta({ examples: [{ kind: "transcription", path: "/srv/recordings" }] });
export type BatchRequest = z.infer<typeof batchRequest>;
/** owlctl's: as the account named, else as the first administrator. */
export const operatorBatchRequest = batchRequest.extend({ user: text.max(64).optional() });

const skippedFile = z.object({ path: text, reason: text });
export const skippedPage = pageOf(skippedFile);
export const batchPlan = z.object({
  items: list(z.object({ path: text, name: text, bytes: z.number() })),
  skipped: list(skippedFile),
  count,
  estimateSeconds: z.number(),
});
export type BatchPlan = z.infer<typeof batchPlan>;
export const batchAccepted = z.object({ batchId: id });
export type BatchAccepted = z.infer<typeof batchAccepted>;
