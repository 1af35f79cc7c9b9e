// Uploads, streamed to disk. In one request: POST with the file as body (or as a form's file). Resumable: POST
// {name, bytes}, then PATCH from an offset as often as needed; HEAD tells the offset. The last byte completes it.

import type { Readable } from "node:stream";
import multipart from "@fastify/multipart";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { OwlError } from "../../../config/errors.ts";
import { failure } from "../../core/wire/errors.ts";
import { nothing, withId } from "../../core/wire/parts.ts";
import { fileNameQuery } from "../../core/wire/turn.ts";
import { newUpload, upload } from "../../core/wire/upload.ts";
import { deleteUpload, findUpload, insertUpload, type UploadRow } from "../../db/uploads.ts";
import { holdToLimits } from "../account-limits.ts";
import type { Routes, WebDeps } from "../deps.ts";
import { accountOf } from "../sessions.ts";
import { appendUpload, finishUpload, removeUploadFile, shownName, tooLarge } from "../upload-files.ts";
import { fileBody, type WireTypes } from "../wire.ts";

const tags = ["uploads"];

const uploadJson = (row: UploadRow): z.input<typeof upload> => ({
  uploadId: row.id,
  id: row.id,
  name: row.name,
  bytes: row.length,
  offset: row.bytes,
  complete: row.completedAt !== null,
  mediaType: row.mediaType,
  sha256: row.sha256,
  createdAt: row.createdAt,
});

function wholeNumber(raw: string | string[] | undefined): number | null {
  return typeof raw === "string" && /^\d{1,15}$/.test(raw) ? Number(raw) : null;
}

/** A recording's way in: its row, its bytes as they come, its end. */
function createIntake(deps: WebDeps) {
  const limit = deps.config.uploadBytes;

  const find = async (id: string, accountId: string): Promise<UploadRow> => {
    const row = await findUpload(deps.db, id, accountId);
    if (!row) throw failure("upload.notFound");
    return row;
  };

  /** Appends, completes when all is there; a file that is no recording is dropped. */
  async function receive(row: UploadRow, accountId: string, body: Readable, length: number | null): Promise<UploadRow> {
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

  /** A row that counts as `length` bytes until it is complete. */
  function admit(accountId: string, name: string | undefined, length: number): Promise<UploadRow> {
    const id = deps.random.uuid();
    return deps.db.transaction(async (sql) => {
      const row = await insertUpload(sql, { id, accountId, name: shownName(name), length });
      await holdToLimits(sql, accountId, deps.config.limits, ["uploads", "uploadBytes", "storedBytes"]);
      return row;
    });
  }

  async function whole(request: FastifyRequest, name: string | undefined, body: Readable): Promise<UploadRow> {
    const accountId = accountOf(request).id;
    // Of a body that comes in chunks nobody knows the length: it counts as the largest one.
    const announced = wholeNumber(request.headers["content-length"]) ?? limit;
    const row = await admit(accountId, name, Math.min(announced, limit));
    const { id } = row;
    try {
      return await receive(row, accountId, body, null);
    } catch (error) {
      // Nobody knows its id yet: it cannot be resumed.
      await deleteUpload(deps.db, id, accountId).catch(() => undefined);
      await removeUploadFile(deps, id);
      throw error;
    }
  }

  return { find, receive, admit, whole };
}

export const uploadRoutes: Routes = (app, deps) => {
  const limit = deps.config.uploadBytes;
  const { find, receive, admit, whole } = createIntake(deps);

  app.register(async (plain) => {
    const scope = plain.withTypeProvider<WireTypes>();
    await scope.register(multipart, { limits: { files: 1, fields: 10, fileSize: limit + 1 } });
    // Any body but JSON and a form is the recording itself, read as it comes; its bytes are counted by appendUpload.
    scope.removeContentTypeParser("text/plain");
    scope.addContentTypeParser("*", (_request, payload, done) => done(null, payload));

    scope.post(
      "/api/uploads",
      {
        config: { isLong: true },
        schema: {
          summary: "Upload a recording (the body, or a form's file), or begin a resumable upload with {name, bytes}",
          tags,
          querystring: fileNameQuery,
          body: z.union([fileBody, newUpload], { error: "expected a file, or {name, bytes}" }),
          response: { 201: upload },
        },
      },
      async (request, reply) => {
        const { body } = request;
        if (body !== null && "name" in body) return begin(body, accountOf(request).id, reply);
        if (request.isMultipart()) {
          const part = await request.file().catch((cause: unknown) => {
            throw failure("upload.invalid#form", {}, { cause });
          });
          if (!part) throw failure("upload.invalid#form");
          return uploadJson(await whole(request, part.filename, part.file));
        }
        const announced = wholeNumber(request.headers["content-length"]);
        if (announced !== null && announced > limit) throw tooLarge(limit);
        if (!body) throw failure("upload.invalid#empty");
        const header = request.headers["x-file-name"];
        const name = request.query.name ?? (typeof header === "string" ? decodeName(header) : undefined);
        return uploadJson(await whole(request, name, body as Readable));
      },
    );

    async function begin({ name, bytes }: z.infer<typeof newUpload>, accountId: string, reply: FastifyReply) {
      if (bytes > limit) throw tooLarge(limit);
      const row = await admit(accountId, name, bytes);
      reply.header("location", `/api/uploads/${row.id}`);
      return uploadJson(row);
    }

    const told = (reply: FastifyReply, row: UploadRow): FastifyReply =>
      reply
        .header("upload-offset", String(row.bytes))
        .header("upload-length", row.length === null ? "" : String(row.length))
        .header("upload-complete", row.completedAt === null ? "?0" : "?1")
        .header("cache-control", "no-store");

    scope.head("/api/uploads/:id", { schema: { hide: true, params: withId } }, async (request, reply) => {
      const row = await find(request.params.id, accountOf(request).id);
      return told(reply, row).code(200).send();
    });

    scope.get(
      "/api/uploads/:id",
      {
        exposeHeadRoute: false,
        schema: { summary: "An upload and its offset", tags, params: withId, response: { 200: upload } },
      },
      async (request, reply) => {
        const row = await find(request.params.id, accountOf(request).id);
        told(reply, row);
        return uploadJson(row);
      },
    );

    scope.patch(
      "/api/uploads/:id",
      {
        config: { isLong: true },
        schema: {
          summary: "Go on from Upload-Offset; 409 tells the real offset",
          tags,
          params: withId,
          body: fileBody,
          response: { 200: upload },
        },
      },
      async (request, reply) => {
        const accountId = accountOf(request).id;
        const row = await find(request.params.id, accountId);
        const offset = wholeNumber(request.headers["upload-offset"]);
        if (offset === null) throw failure("upload.invalid#offset");
        if (row.completedAt !== null || offset !== row.bytes) {
          told(reply, row);
          const data = { offset: row.bytes, complete: row.completedAt !== null };
          throw failure("upload.conflict#offset", { offset: row.bytes }, { data });
        }
        const announced = wholeNumber(request.headers["content-length"]);
        if (announced !== null && row.length !== null && offset + announced > row.length) throw tooLarge(row.length);
        const now = await receive(row, accountId, request.body ?? request.raw, row.length);
        told(reply, now);
        return uploadJson(now);
      },
    );

    scope.delete(
      "/api/uploads/:id",
      {
        schema: {
          summary: "Delete it; refused while a transcription needs it",
          tags,
          params: withId,
          response: { 204: nothing },
        },
      },
      async (request) => {
        const { id } = request.params;
        const done = await deps.db.transaction((sql) => deleteUpload(sql, id, accountOf(request).id));
        if (done === "notFound") throw failure("upload.notFound");
        if (done === "inUse") throw failure("upload.conflict#inUse");
        await removeUploadFile(deps, id);
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
