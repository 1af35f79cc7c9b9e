// The transcription kind's handler: a recording, segment by segment, each stored as it ends.
// Invariants: a kept segment is not done again and a segment done twice is overwritten with the same result; it hands
// back only between segments; every write names the attempt.

import { rm } from "node:fs/promises";
import { OwlError } from "../../../config/errors.ts";
import { abortCauseOf } from "../../core/abort.ts";
import { missingSegments, type SegmentSpan } from "../../core/transcript.ts";
import { throughOutage } from "../../db/through-outage.ts";
import {
  dropSegmentsFrom,
  endTranscription,
  listSegments,
  loadTranscriptionJob,
  storePlan,
  storeSegment,
  type TranscriptionJob,
} from "../../db/transcriptions.ts";
import type { Text } from "../../text/text.ts";
import type { Handler, HandlerResult, JobContext } from "../handler.ts";
import { chooseEngine } from "./engine.ts";
import type { Engine } from "./recogniser.ts";
import { cuttingRoom, locate, openRecording, type Recording } from "./recording.ts";

/** Runs one transcription. `path` stands for PATH in tests. */
export function createTranscriptionHandler(path?: string): Handler {
  return {
    run: (context) => transcribe(context, path),
    async fail(context, error) {
      const cause = abortCauseOf(context.signal);
      if (cause === "lostClaim") return "lostClaim";
      if (cause === "stopped") {
        return context.end((sql) => endTranscription(sql, context, { state: "cancelled", message: null }));
      }
      const message = cause === null ? failureText(error, context.text) : context.text("transcription.lost");
      return context.end((sql) => endTranscription(sql, context, { state: "failed", message }));
    },
  };
}

async function transcribe(context: JobContext, path?: string): Promise<HandlerResult> {
  const { db, config, signal } = context;
  const job = await throughOutage(context, () => loadTranscriptionJob(db, context));
  if (job === null) return "lostClaim";
  const room = await cuttingRoom(config, context);
  try {
    const engine = chooseEngine(config.transcription, context.clock, path);
    const recording = await openRecording(await locate(job, config), context.clock, signal, path);
    const todo = await segmentsToDo(context, job, recording);
    if (todo === null) return "lostClaim";
    for (const span of todo) {
      if (mayHandBack(context)) return "handBack";
      signal.throwIfAborted();
      const stored = await doSegment(context, { job, engine, recording, room, span });
      if (stored !== "stored") return stored;
    }
    return await context.end((sql) => endTranscription(sql, context, { state: "done", message: null }));
  } catch (error) {
    // What a user can understand is the row's ending; the rest is `fail`'s, with the log's ERROR line.
    if (!(error instanceof OwlError) || signal.aborted) throw error;
    context.log.info({ code: error.code, reason: error.message }, "transcription failed");
    const message = failureText(error, context.text);
    return context.end((sql) => endTranscription(sql, context, { state: "failed", message }));
  } finally {
    await rm(room, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Draining under `handBack`; a kind told to finish goes on. */
function mayHandBack(context: JobContext): boolean {
  return context.draining.aborted && context.config.transcription.onStop === "handBack";
}

/** The plan's segments that no earlier attempt stored; null when the claim is lost. */
async function segmentsToDo(
  context: JobContext,
  job: TranscriptionJob,
  recording: Recording,
): Promise<readonly SegmentSpan[] | null> {
  const total = Math.round(recording.durationMs);
  // A plan is kept only while it fits: another file under the same path is cut anew.
  const plan = job.plan?.at(-1)?.endMs === total ? job.plan : await recording.plan(context.signal);
  const kept = await throughOutage(context, () => listSegments(context.db, context.id));
  const todo = missingSegments(plan, kept);
  const doneMs = plan.reduce((sum, span) => sum + span.endMs - span.startMs, 0) - lengthOf(todo);
  const seconds = { total: total / 1_000, done: doneMs / 1_000 };
  if (!(await throughOutage(context, () => storePlan(context.db, context, plan, seconds)))) return null;
  if (kept.some((one) => one.n >= plan.length))
    await throughOutage(context, () => dropSegmentsFrom(context.db, context, plan.length));
  return todo;
}

const lengthOf = (spans: readonly SegmentSpan[]) => spans.reduce((sum, span) => sum + span.endMs - span.startMs, 0);

async function doSegment(
  context: JobContext,
  work: { job: TranscriptionJob; engine: Engine; recording: Recording; room: string; span: SegmentSpan },
): Promise<"stored" | "handBack" | "lostClaim"> {
  const { signal } = context;
  const { span } = work;
  const file = await work.recording.segmentFile(span, work.room, signal);
  try {
    const text = await work.engine.transcribe({
      file,
      language: work.job.options.language ?? null,
      durationMs: span.endMs - span.startMs,
      signal,
      hurry: context.config.transcription.onStop === "handBack" ? context.draining : signal,
    });
    const stored = await throughOutage(context, () => storeSegment(context.db, context, { ...span, text }));
    return stored ? "stored" : "lostClaim";
  } catch (error) {
    if (!signal.aborted && mayHandBack(context) && !(error instanceof OwlError)) return "handBack";
    throw error;
  } finally {
    if (file.startsWith(work.room)) await rm(file, { force: true });
  }
}

/** What a failed recording's row tells. */
function failureText(error: unknown, text: Text): string {
  if (!(error instanceof OwlError)) {
    return text("job.error", { reason: error instanceof Error ? error.message : String(error) });
  }
  const { next = "" } = error;
  switch (error.code) {
    case "engine.missing":
      return text("transcription.noEngine", { reason: error.message, command: next });
    case "ffmpeg.missing":
      return text("transcription.noFfmpeg");
    case "recording.notOne":
      return text("transcription.notRecording");
    case "recording.silent":
      return text("transcription.silent");
    case "recording.missing":
      return text("transcription.missing");
    case "recording.broken":
      return text("transcription.broken", { reason: error.message });
    case "path.outside":
      return text("transcription.outside");
    default:
      return text("transcription.engine", { reason: next === "" ? error.message : `${error.message} ${next}` });
  }
}
