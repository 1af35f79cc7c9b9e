// A transcription, alone or in a batch, with its segments.

import { z } from "zod";
import { itemState, language, path } from "./batch.ts";
import { count, id, instant, list, pageOf, text } from "./parts.ts";

export const transcription = z.object({
  id,
  batchId: id.nullable(),
  uploadId: id.nullable(),
  path: text.nullable(),
  name: text,
  state: itemState,
  message: text.nullable(),
  attempt: count,
  progress: z.number(),
  secondsTotal: z.number().nullable(),
  secondsDone: z.number(),
  segmentsTotal: count.nullable(),
  stopRequested: z.boolean(),
  createdAt: instant,
  movedAt: instant,
  endedAt: instant.nullable(),
});
export type Transcription = z.infer<typeof transcription>;
export const transcriptionPage = pageOf(transcription);

export const transcript = transcription.extend({
  text,
  segments: list(z.object({ n: count, startMs: count, endMs: count, text })),
});
export type Transcript = z.infer<typeof transcript>;

export const transcriptionRequest = z.strictObject({
  uploadId: id.optional(),
  path: path.optional(),
  language: language.optional(),
});
export type TranscriptionRequest = z.infer<typeof transcriptionRequest>;
export const transcriptionAccepted = z.object({ transcriptionId: id, id });
export type TranscriptionAccepted = z.infer<typeof transcriptionAccepted>;
export const formatQuery = z.object({ format: z.enum(["txt", "srt", "vtt"]).optional() });
