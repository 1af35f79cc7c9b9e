// Transcriptions: ask for one recording's text, follow it segment by segment, hear it, take it as text or subtitles.

import { stat } from "node:fs/promises";
import type { z } from "zod";
import { nameOf } from "../../core/batch-plan.ts";
import { type Segment, subtitles, transcriptText } from "../../core/transcript.ts";
import { failure } from "../../core/wire/errors.ts";
import { nothing, page, withId } from "../../core/wire/parts.ts";
import {
  formatQuery,
  type TranscriptionRequest,
  transcript,
  type transcription,
  transcriptionAccepted,
  transcriptionPage,
  transcriptionRequest,
} from "../../core/wire/transcription.ts";
import type { Database } from "../../db/pool.ts";
import { stopRow } from "../../db/stops.ts";
import {
  deleteTranscription,
  findTranscription,
  insertTranscription,
  listSegments,
  listTranscriptions,
  type TranscriptionRow,
} from "../../db/transcriptions.ts";
import { findUpload } from "../../db/uploads.ts";
import { resolveInside } from "../../media/archive.ts";
import { recordingType } from "../../media/recording-type.ts";
import { holdToLimits } from "../account-limits.ts";
import type { Routes, WebDeps } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { transcribeAgain } from "../job-requests.ts";
import { sendMedia } from "../media.ts";
import { accountOf } from "../sessions.ts";
import { removeUploadFile, uploadFile } from "../upload-files.ts";
import { onePage } from "./paging.ts";

const tags = ["transcriptions"];

function rowJson(row: TranscriptionRow): z.input<typeof transcription> {
  const share = row.secondsTotal ? Math.min(1, row.secondsDone / row.secondsTotal) : 0;
  return {
    id: row.id,
    batchId: row.batchId,
    uploadId: row.uploadId,
    path: row.path,
    name: row.name,
    state: row.state,
    message: row.message,
    attempt: row.attempt,
    progress: row.state === "done" ? 1 : share,
    secondsTotal: row.secondsTotal,
    secondsDone: row.secondsDone,
    segmentsTotal: row.segmentsTotal,
    stopRequested: row.stopRequested,
    createdAt: row.createdAt,
    movedAt: row.movedAt,
    endedAt: row.endedAt,
  };
}

const withSegments = (row: TranscriptionRow, segments: readonly Segment[]) => ({
  ...rowJson(row),
  text: transcriptText(segments),
  segments,
});

const FORMATS = { txt: "text/plain", srt: "application/x-subrip", vtt: "text/vtt" } as const;

/** What happened to it after the event of that id, which says state and segment told last: `running.1-n4`. */
async function eventsAfter(db: Database, id: string, accountId: string, lastId: string) {
  const row = await findTranscription(db, id, accountId);
  if (!row) return { events: [], done: true };
  const [, toldState = "", toldN = "-1"] = /^((?:[a-z]+\.\d{1,9})?)-n(-1|\d{1,9})$/.exec(lastId) ?? [];
  const after = Number(toldN);
  const segments = await listSegments(db, id, after);
  const lastN = segments.at(-1)?.n ?? after;
  const state = `${row.state}.${row.attempt}`;
  const over = row.endedAt !== null;
  const events = segments.map((one) => ({ id: `${toldState}-n${one.n}`, event: "segment", data: one }));
  if (state === toldState && segments.length === 0) return { events, done: over };
  const told = { id: `${state}-n${lastN}`, event: over ? "end" : "state", data: rowJson(row) };
  return { events: [...events, told], done: over };
}

/** The file a body names. Throws `upload.notFound`, `path.outside`, `path.notFound`, `transcription.invalid`. */
async function sourceOf({ db, config }: WebDeps, body: TranscriptionRequest, accountId: string) {
  if ((body.uploadId === undefined) === (body.path === undefined)) {
    throw failure("transcription.invalid");
  }
  if (body.uploadId !== undefined) {
    const upload = await findUpload(db, body.uploadId, accountId);
    if (!upload) throw failure("upload.notFound");
    if (upload.completedAt === null) {
      throw failure("upload.conflict#open", {}, { data: { offset: upload.bytes } });
    }
    return { uploadId: upload.id, path: null, name: upload.name, bytes: upload.bytes };
  }
  const path = await resolveInside(body.path ?? "", config.archiveRoots);
  const file = await stat(path).catch(() => null);
  if (!file?.isFile() || (await recordingType(path)) === null) throw failure("transcription.invalid#type");
  return { uploadId: null, path, name: nameOf(path), bytes: file.size };
}

async function findOwn(deps: Pick<WebDeps, "db">, id: string, accountId: string): Promise<TranscriptionRow> {
  const row = await findTranscription(deps.db, id, accountId);
  if (!row) throw failure("transcription.notFound");
  return row;
}

export const transcriptionRoutes: Routes = (app, deps) => {
  app.post(
    "/api/transcriptions",
    {
      schema: {
        summary: "Transcribe an upload, or a file inside an archive root",
        tags,
        body: transcriptionRequest,
        response: { 202: transcriptionAccepted },
      },
    },
    async (request) => {
      const accountId = accountOf(request).id;
      const id = deps.random.uuid();
      const queueJob = deps.random.uuid();
      const source = await sourceOf(deps, request.body, accountId).catch((error: unknown) => ({ error }));
      return onceOnly(deps, request, { transcriptionId: id, id }, async (sql) => {
        if ("error" in source) throw source.error;
        const { language } = request.body;
        const options = language === undefined ? {} : { language };
        await insertTranscription(sql, { id, accountId, ...source, options, queueJob, requestId: request.id });
        await holdToLimits(sql, accountId, deps.config.limits, ["recordings"]);
        await deps.queue.enqueue(sql, "transcription", { id, queueJob });
      });
    },
  );

  app.get(
    "/api/transcriptions",
    {
      schema: {
        summary: "One's transcriptions outside batches, newest first",
        tags,
        querystring: page,
        response: { 200: transcriptionPage },
      },
    },
    async (request) => {
      const accountId = accountOf(request).id;
      return await onePage(request.query, (page) => listTranscriptions(deps.db, { accountId, ...page }), rowJson);
    },
  );

  app.get(
    "/api/transcriptions/:id",
    { schema: { summary: "State, text so far, segments", tags, params: withId, response: { 200: transcript } } },
    async (request) => {
      const row = await findOwn(deps, request.params.id, accountOf(request).id);
      return withSegments(row, await listSegments(deps.db, row.id));
    },
  );

  app.get(
    "/api/transcriptions/:id/events",
    {
      config: { isLong: true },
      schema: {
        summary: "Event stream: segments as they end, state, `end` at last; Last-Event-ID resumes",
        tags,
        params: withId,
      },
    },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const { id } = await findOwn(deps, request.params.id, accountId);
      await deps.streams.open(request, reply, {
        channel: "owl_observe",
        payload: `transcription:${id}`,
        shared: true,
        pollMs: 5_000,
        read: (lastId) => eventsAfter(deps.db, id, accountId, lastId),
      });
    },
  );

  app.get(
    "/api/transcriptions/:id/text",
    {
      schema: {
        summary: "The text as a file: txt, srt or vtt",
        tags,
        params: withId,
        querystring: formatQuery,
      },
    },
    async (request, reply) => {
      const row = await findOwn(deps, request.params.id, accountOf(request).id);
      const segments = await listSegments(deps.db, row.id);
      const format = request.query.format ?? "txt";
      const name = `${row.name.replace(/\.[^.]*$/, "")}.${format}`;
      reply.header("content-disposition", `attachment; filename*=UTF-8''${encodeURIComponent(name)}`);
      reply.type(`${FORMATS[format]}; charset=utf-8`);
      return format === "txt" ? `${transcriptText(segments)}\n` : subtitles(segments, format);
    },
  );

  app.get(
    "/api/transcriptions/:id/media",
    { config: { isLong: true }, schema: { summary: "The recording, with range requests", tags, params: withId } },
    async (request, reply) => {
      const row = await findOwn(deps, request.params.id, accountOf(request).id);
      const path =
        row.uploadId === null
          ? await resolveInside(row.path ?? "", deps.config.archiveRoots)
          : uploadFile(deps, row.uploadId);
      const type = await recordingType(path).catch(() => null);
      if (type === null) throw failure("media.notFound");
      return sendMedia(request, reply, { path, type, name: row.name });
    },
  );

  actRoutes(app, deps);
};

/** What its owner does with one. */
const actRoutes: Routes = (app, deps) => {
  app.post(
    "/api/transcriptions/:id/stop",
    {
      schema: {
        summary: "Stop it; the others of its batch go on",
        tags,
        params: withId,
        response: { 202: transcriptionAccepted },
      },
    },
    async (request) => {
      const { id } = await findOwn(deps, request.params.id, accountOf(request).id);
      await stopRow(deps.db, "transcription", id);
      return { transcriptionId: id, id };
    },
  );

  app.post(
    "/api/transcriptions/:id/retry",
    {
      schema: {
        summary: "Try a failed or cancelled one again; finished segments are kept",
        tags,
        params: withId,
        response: { 202: transcriptionAccepted },
      },
    },
    async (request) => {
      const { id } = await findOwn(deps, request.params.id, accountOf(request).id);
      await deps.db.transaction(async (sql) => {
        if ((await transcribeAgain(deps, sql, [id], ["failed", "cancelled"])) === 0) {
          throw failure("transcription.conflict");
        }
      });
      return { transcriptionId: id, id };
    },
  );

  app.delete(
    "/api/transcriptions/:id",
    {
      schema: {
        summary: "Delete one that has ended, with its text and the recording that was uploaded for it",
        tags,
        params: withId,
        response: { 204: nothing },
      },
    },
    async (request) => {
      const accountId = accountOf(request).id;
      const gone = await deps.db.transaction((sql) => deleteTranscription(sql, request.params.id, accountId));
      if (gone === null) throw failure("transcription.notFound");
      if (typeof gone === "string") throw failure(`transcription.conflict#${gone}`);
      if (gone.uploadId !== null) await removeUploadFile(deps, gone.uploadId);
    },
  );
};
