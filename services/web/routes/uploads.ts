// Uploads, streamed to disk. In one request: POST with the file as body (or as a form's file). Resumable: POST
// {name, bytes}, then PATCH from an offset as often as needed; HEAD tells the offset. The last byte completes it.

import type { Readable } from "node:stream";
import multipart from "@fastify/multipart";
import type { FastifyReply, FastifyRequest } from "fastify";
import { OwlError } from "../../../config/errors.ts";
import { deleteUpload, findUpload, insertUpload, type UploadRow } from "../../db/uploads.ts";
import type { Routes } from "../deps.ts";
import { accountOf } from "../sessions.ts";
import { appendUpload, finishUpload, removeUploadFile, shownName, tooLarge } from "../upload-files.ts";
import { loose, problem } from "./schemas.ts";
import { idParams } from "./turn-json.ts";

function uploadJson(row: UploadRow): Record<string, unknown> {
  return {
    uploadId: row.id,
    id: row.id,
    name: row.name,
    bytes: row.length,
    offset: row.bytes,
    complete: row.completedAt !== null,
    mediaType: row.mediaType,
    sha256: row.sha256,
    createdAt: row.createdAt.toISOString(),
  };
}

function wholeNumber(raw: string | string[] | undefined): number | null {
  return typeof raw === "string" && /^\d{1,15}$/.test(raw) ? Number(raw) : null;
}

export const uploadRoutes: Routes = (app, deps) => {
  const limit = deps.config.uploadBytes;

  app.register(async (scope) => {
    await scope.register(multipart, { limits: { files: 1, fields: 10, fileSize: limit + 1 } });
    // Any body but JSON and a form is the recording itself, read as it comes; its bytes are counted by appendUpload.
    scope.removeContentTypeParser("text/plain");
    scope.addContentTypeParser("*", (_request, payload, done) => done(null, payload));

    const find = async (id: string, accountId: string): Promise<UploadRow> => {
      const row = await findUpload(deps.db, id, accountId);
      if (!row) throw new OwlError("upload.notFound", "There is no such upload.");
      return row;
    };

    /** Appends, completes when all is there; a file that is no recording is dropped. */
    async function receive(
      row: UploadRow,
      accountId: string,
      body: Readable,
      length: number | null,
    ): Promise<UploadRow> {
      const end = length ?? limit;
      const { bytes, writer } = await appendUpload(deps, { id: row.id, offset: row.bytes, limit: end }, body);
      if (length === null || bytes === length) {
        try {
          await finishUpload(deps, { id: row.id, bytes, writer });
        } catch (error) {
          if (error instanceof OwlError && error.code === "upload.type") {
            await deleteUpload(deps.db, row.id, accountId);
            await removeUploadFile(deps, row.id);
          }
          throw error;
        }
      }
      return find(row.id, accountId);
    }

    async function whole(request: FastifyRequest, name: string | undefined, body: Readable): Promise<UploadRow> {
      const accountId = accountOf(request).id;
      const id = deps.random.uuid();
      const row = await insertUpload(deps.db, { id, accountId, name: shownName(name), length: null });
      try {
        return await receive(row, accountId, body, null);
      } catch (error) {
        // Nobody knows its id yet: it cannot be resumed.
        await deleteUpload(deps.db, id, accountId).catch(() => undefined);
        await removeUploadFile(deps, id);
        throw error;
      }
    }

    scope.post<{ Querystring: { name?: string } }>(
      "/api/uploads",
      {
        schema: {
          summary: "Upload a recording (the body, or a form's file), or begin a resumable upload with {name, bytes}",
          tags: ["uploads"],
          querystring: { type: "object", properties: { name: { type: "string", maxLength: 1000 } } },
          response: { 201: loose, 413: problem, 415: problem },
        },
      },
      async (request, reply) => {
        const announced = wholeNumber(request.headers["content-length"]);
        const type = request.headers["content-type"] ?? "";
        if (/^application\/json/i.test(type)) return begin(request, reply);
        if (request.isMultipart()) {
          const part = await request.file();
          if (!part) throw new OwlError("upload.invalid", "The form holds no file.");
          const row = await whole(request, part.filename, part.file);
          return reply.code(201).send(uploadJson(row));
        }
        if (announced !== null && announced > limit) throw tooLarge(limit);
        if (!request.body) throw new OwlError("upload.invalid", "The request holds no file.");
        const header = request.headers["x-file-name"];
        const name = request.query.name ?? (typeof header === "string" ? decodeName(header) : undefined);
        return reply.code(201).send(uploadJson(await whole(request, name, request.body as Readable)));
      },
    );

    async function begin(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
      const { name, bytes } = (request.body ?? {}) as { name?: unknown; bytes?: unknown };
      if (typeof name !== "string" || typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 1) {
        throw new OwlError("upload.invalid", "Expected {name, bytes}: the file's name and its length in bytes.");
      }
      if (bytes > limit) throw tooLarge(limit);
      const row = await insertUpload(deps.db, {
        id: deps.random.uuid(),
        accountId: accountOf(request).id,
        name: shownName(name),
        length: bytes,
      });
      return reply.code(201).header("location", `/api/uploads/${row.id}`).send(uploadJson(row));
    }

    const told = (reply: FastifyReply, row: UploadRow): FastifyReply =>
      reply
        .header("upload-offset", String(row.bytes))
        .header("upload-length", row.length === null ? "" : String(row.length))
        .header("upload-complete", row.completedAt === null ? "?0" : "?1")
        .header("cache-control", "no-store");

    scope.head<{ Params: { id: string } }>(
      "/api/uploads/:id",
      { schema: { hide: true, params: idParams } },
      async (request, reply) => {
        const row = await find(request.params.id, accountOf(request).id);
        return told(reply, row).code(200).send();
      },
    );

    scope.get<{ Params: { id: string } }>(
      "/api/uploads/:id",
      {
        exposeHeadRoute: false,
        schema: { summary: "An upload and its offset", tags: ["uploads"], params: idParams, response: { 200: loose } },
      },
      async (request, reply) => {
        const row = await find(request.params.id, accountOf(request).id);
        told(reply, row);
        return uploadJson(row);
      },
    );

    scope.patch<{ Params: { id: string } }>(
      "/api/uploads/:id",
      {
        schema: {
          summary: "Go on from Upload-Offset; 409 tells the real offset",
          tags: ["uploads"],
          params: idParams,
          response: { 200: loose, 409: problem },
        },
      },
      async (request, reply) => {
        const accountId = accountOf(request).id;
        const row = await find(request.params.id, accountId);
        const offset = wholeNumber(request.headers["upload-offset"]);
        if (offset === null) throw new OwlError("upload.invalid", "Upload-Offset must be a whole number.");
        if (row.completedAt !== null || offset !== row.bytes) {
          told(reply, row);
          throw new OwlError("upload.conflict", `The upload is at offset ${row.bytes}.`, {
            next: "Go on from there.",
            data: { offset: row.bytes, complete: row.completedAt !== null },
          });
        }
        const announced = wholeNumber(request.headers["content-length"]);
        if (announced !== null && row.length !== null && offset + announced > row.length) throw tooLarge(row.length);
        const body = (request.body ?? request.raw) as Readable;
        const now = await receive(row, accountId, body, row.length);
        return told(reply, now).send(uploadJson(now));
      },
    );

    scope.delete<{ Params: { id: string } }>(
      "/api/uploads/:id",
      {
        schema: {
          summary: "Delete it; refused while a transcription needs it",
          tags: ["uploads"],
          params: idParams,
          response: { 204: { type: "null" }, 409: problem },
        },
      },
      async (request, reply) => {
        const { id } = request.params;
        const done = await deps.db.transaction((sql) => deleteUpload(sql, id, accountOf(request).id));
        if (done === "notFound") throw new OwlError("upload.notFound", "There is no such upload.");
        if (done === "inUse") throw new OwlError("upload.conflict", "A transcription still needs this file.");
        await removeUploadFile(deps, id);
        return reply.code(204).send();
      },
    );
  });
};

/** Header values are ASCII: names come percent-encoded. */
function decodeName(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}
