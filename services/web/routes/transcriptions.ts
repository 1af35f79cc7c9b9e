// Transcriptions: ask for one recording's text, follow it segment by segment, hear it, take it as text or subtitles.

import { stat } from "node:fs/promises";
import { OwlError } from "../../../config/errors.ts";
import { nameOf } from "../../core/batch-plan.ts";
import { type Segment, subtitles, transcriptText } from "../../core/transcript.ts";
import {
  findTranscription,
  insertTranscription,
  listSegments,
  listTranscriptions,
  type TranscriptionRow,
} from "../../db/transcriptions.ts";
import { findUpload } from "../../db/uploads.ts";
import { resolveInside } from "../../media/archive.ts";
import { recordingType } from "../../media/recording-type.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { stopJob, transcribeAgain } from "../job-requests.ts";
import { sendMedia } from "../media.ts";
import { accountOf } from "../sessions.ts";
import { uploadFile } from "../upload-files.ts";
import { onePage, pageQuery } from "./paging.ts";
import { listOf, loose, problem } from "./schemas.ts";
import { idParams } from "./turn-json.ts";

interface TranscriptionBody {
  readonly uploadId?: string;
  readonly path?: string;
  readonly language?: string;
}

function rowJson(row: TranscriptionRow): Record<string, unknown> {
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
    createdAt: row.createdAt.toISOString(),
    movedAt: row.movedAt.toISOString(),
    endedAt: row.endedAt?.toISOString() ?? null,
  };
}

const withSegments = (row: TranscriptionRow, segments: readonly Segment[]) => ({
  ...rowJson(row),
  text: transcriptText(segments),
  segments,
});

const FORMATS = { txt: "text/plain", srt: "application/x-subrip", vtt: "text/vtt" } as const;

export const transcriptionRoutes: Routes = (app, deps) => {
  const find = async (id: string, accountId: string): Promise<TranscriptionRow> => {
    const row = await findTranscription(deps.db, id, accountId);
    if (!row) throw new OwlError("transcription.notFound", "There is no such transcription.");
    return row;
  };
  const withId = { tags: ["transcriptions"], params: idParams } as const;
  const accepted = {
    type: "object",
    properties: { transcriptionId: { type: "string" }, id: { type: "string" } },
  } as const;

  /** The file a body names. Throws `upload.notFound`, `path.outside`, `path.notFound`, `transcription.invalid`. */
  async function sourceOf(body: TranscriptionBody, accountId: string) {
    if ((body.uploadId === undefined) === (body.path === undefined)) {
      throw new OwlError("transcription.invalid", "Name either uploadId or path.");
    }
    if (body.uploadId !== undefined) {
      const upload = await findUpload(deps.db, body.uploadId, accountId);
      if (!upload) throw new OwlError("upload.notFound", "There is no such upload.");
      if (upload.completedAt === null) {
        throw new OwlError("upload.conflict", "The upload is not complete.", { data: { offset: upload.bytes } });
      }
      return { uploadId: upload.id, path: null, name: upload.name, bytes: upload.bytes };
    }
    const roots = deps.config.archiveRoots;
    const path = await resolveInside(body.path ?? "", roots);
    const file = await stat(path).catch(() => null);
    if (!file?.isFile() || (await recordingType(path)) === null) {
      throw new OwlError("transcription.invalid", "This is not an audio or video file.");
    }
    return { uploadId: null, path, name: nameOf(path), bytes: file.size };
  }

  app.post<{ Body: TranscriptionBody }>(
    "/api/transcriptions",
    {
      schema: {
        summary: "Transcribe an upload, or a file inside an archive root",
        tags: ["transcriptions"],
        headers: { type: "object", properties: { "idempotency-key": { type: "string" } } },
        body: {
          type: "object",
          additionalProperties: false,
          properties: {
            uploadId: { type: "string", format: "uuid" },
            path: { type: "string", minLength: 1, maxLength: 4096 },
            language: { type: "string", pattern: "^[a-z]{2,3}(-[A-Za-z]{2,4})?$" },
          },
        },
        response: { 202: accepted, 403: problem, 404: problem },
      },
    },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const id = deps.random.uuid();
      const queueJob = deps.random.uuid();
      const source = await sourceOf(request.body, accountId).catch((error: unknown) => ({ error }));
      const answer = await onceOnly(deps, request, { status: 202, body: { transcriptionId: id, id } }, async (sql) => {
        if ("error" in source) throw source.error;
        const { language } = request.body;
        const options = language === undefined ? {} : { language };
        await insertTranscription(sql, { id, accountId, ...source, options, queueJob });
        await deps.queue.enqueue(sql, "transcription", { id, queueJob });
      });
      return reply.code(answer.status).send(answer.body);
    },
  );

  app.get<{ Querystring: { limit?: string; next?: string } }>(
    "/api/transcriptions",
    {
      schema: {
        summary: "One's transcriptions outside batches, newest first",
        tags: ["transcriptions"],
        querystring: { type: "object", properties: pageQuery },
        response: { 200: listOf(loose) },
      },
    },
    async (request) => {
      const accountId = accountOf(request).id;
      return await onePage(request.query, (page) => listTranscriptions(deps.db, { accountId, ...page }), rowJson);
    },
  );

  app.get<{ Params: { id: string } }>(
    "/api/transcriptions/:id",
    { schema: { ...withId, summary: "State, text so far, segments", response: { 200: loose, 404: problem } } },
    async (request) => {
      const row = await find(request.params.id, accountOf(request).id);
      return withSegments(row, await listSegments(deps.db, row.id));
    },
  );

  app.get<{ Params: { id: string } }>(
    "/api/transcriptions/:id/events",
    {
      schema: { ...withId, summary: "Event stream: segments as they end, state, `end` at last; Last-Event-ID resumes" },
    },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const { id } = await find(request.params.id, accountId);
      await deps.streams.open(request, reply, {
        channel: "owl_observe",
        payload: `transcription:${id}`,
        pollMs: 5_000,
        async read(lastId) {
          const row = await findTranscription(deps.db, id, accountId);
          if (!row) return { events: [], done: true };
          // The id says which state and which segment were told last: `running.1-4`.
          const [toldState = "", toldN = "-1"] = lastId.split("-n");
          const after = /^\d{1,9}$/.test(toldN) ? Number(toldN) : -1;
          const segments = (await listSegments(deps.db, id)).filter((one) => one.n > after);
          const lastN = segments.at(-1)?.n ?? after;
          const state = `${row.state}.${row.attempt}`;
          const over = row.endedAt !== null;
          const events = segments.map((one) => ({ id: `${toldState}-n${one.n}`, event: "segment", data: one }));
          if (state === toldState && segments.length === 0) return { events, done: over };
          const told = { id: `${state}-n${lastN}`, event: over ? "end" : "state", data: rowJson(row) };
          return { events: [...events, told], done: over };
        },
      });
    },
  );

  app.get<{ Params: { id: string }; Querystring: { format?: keyof typeof FORMATS } }>(
    "/api/transcriptions/:id/text",
    {
      schema: {
        ...withId,
        summary: "The text as a file: txt, srt or vtt",
        querystring: {
          type: "object",
          properties: { format: { type: "string", enum: Object.keys(FORMATS) } },
        },
      },
    },
    async (request, reply) => {
      const row = await find(request.params.id, accountOf(request).id);
      const segments = await listSegments(deps.db, row.id);
      const format = request.query.format ?? "txt";
      const name = `${row.name.replace(/\.[^.]*$/, "")}.${format}`;
      reply.header("content-disposition", `attachment; filename*=UTF-8''${encodeURIComponent(name)}`);
      reply.type(`${FORMATS[format]}; charset=utf-8`);
      return format === "txt" ? `${transcriptText(segments)}\n` : subtitles(segments, format);
    },
  );

  app.get<{ Params: { id: string } }>(
    "/api/transcriptions/:id/media",
    { schema: { ...withId, summary: "The recording, with range requests" } },
    async (request, reply) => {
      const row = await find(request.params.id, accountOf(request).id);
      const path =
        row.uploadId === null
          ? await resolveInside(row.path ?? "", deps.config.archiveRoots)
          : uploadFile(deps, row.uploadId);
      const type = await recordingType(path).catch(() => null);
      if (type === null) throw new OwlError("media.notFound", "The recording is no longer there.");
      return sendMedia(request, reply, { path, type, name: row.name });
    },
  );

  app.post<{ Params: { id: string } }>(
    "/api/transcriptions/:id/stop",
    {
      schema: {
        ...withId,
        summary: "Stop it; the others of its batch go on",
        response: { 202: accepted, 404: problem },
      },
    },
    async (request, reply) => {
      const { id } = await find(request.params.id, accountOf(request).id);
      await stopJob(deps, "transcription", id);
      return reply.code(202).send({ transcriptionId: id, id });
    },
  );

  app.post<{ Params: { id: string } }>(
    "/api/transcriptions/:id/retry",
    {
      schema: {
        ...withId,
        summary: "Try a failed or cancelled one again; finished segments are kept",
        response: { 202: accepted, 404: problem, 409: problem },
      },
    },
    async (request, reply) => {
      const { id } = await find(request.params.id, accountOf(request).id);
      await deps.db.transaction(async (sql) => {
        if ((await transcribeAgain(deps, sql, [id], ["failed", "cancelled"])) === 0) {
          throw new OwlError("transcription.conflict", "Only a failed or cancelled transcription can be tried again.");
        }
      });
      return reply.code(202).send({ transcriptionId: id, id });
    },
  );
};
