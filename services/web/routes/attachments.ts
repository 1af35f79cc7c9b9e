// Files for a question: kept as text until the question that names them is accepted, then gone with its conversation.

import type { Readable } from "node:stream";
import { OwlError } from "../../../config/errors.ts";
import { deleteAttachment, findAttachment, insertAttachment } from "../../db/attachments.ts";
import { attachedName, decodeText } from "../attachment-text.ts";
import type { Routes } from "../deps.ts";
import { ATTACHMENT_BYTES } from "../pages/core/attached.ts";
import { accountOf } from "../sessions.ts";
import { problem } from "./schemas.ts";
import { attachmentSchema, idParams } from "./turn-json.ts";

const notFound = () => new OwlError("attachment.notFound", "There is no such attachment.");

const tooLarge = () =>
  new OwlError("attachment.tooLarge", `An attached file may have at most ${ATTACHMENT_BYTES} bytes (1 MiB).`, {
    next: "Attach a part of it, or ask for it as a data source.",
    data: { limit: ATTACHMENT_BYTES },
  });

/** The whole body; throws `attachment.tooLarge` (413) as soon as it is known to be larger than allowed. */
async function readBody(body: Readable | undefined, announced: string | undefined): Promise<Buffer> {
  if (Number(announced ?? 0) > ATTACHMENT_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (body) {
    // Not `for await`: leaving it would break the connection, and the refusal could not be read.
    await new Promise<void>((resolve, reject) => {
      body.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > ATTACHMENT_BYTES) reject(tooLarge());
        else chunks.push(chunk);
      });
      body.once("end", resolve);
      const broken = () => reject(new OwlError("request.invalid", "The file broke off on its way."));
      body.once("error", broken);
      body.once("close", broken);
    });
  }
  return Buffer.concat(chunks);
}

export const attachmentRoutes: Routes = (app, deps) => {
  app.register(async (scope) => {
    // Whatever it is called, the body is the file; its content is judged, not its type.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, payload, done) => done(null, payload));

    scope.post<{ Querystring: { name?: string }; Body: Readable | undefined }>(
      "/api/attachments",
      {
        schema: {
          summary: "Attach a file to the next question: the body is the file, text of at most 1 MiB",
          description:
            "Text in UTF-8, UTF-16 with a byte order mark, or CP949. One that no question names is deleted after 24 hours.",
          tags: ["turns"],
          querystring: {
            type: "object",
            properties: { name: { type: "string", maxLength: 1000, examples: ["sales.csv"] } },
          },
          response: { 201: attachmentSchema, 413: problem, 415: problem, 422: problem },
        },
      },
      async (request, reply) => {
        const bytes = await readBody(request.body, request.headers["content-length"]);
        if (bytes.length === 0) {
          throw new OwlError("attachment.empty", "The file is empty.", { next: "Attach a file with some text in it." });
        }
        const text = decodeText(bytes);
        if (text === null) {
          throw new OwlError("attachment.type", "Only text can be attached to a question; this file is none.", {
            next: "Attach text, CSV, JSON, logs or source code. Recordings belong on the Recordings page.",
          });
        }
        const file = { id: deps.random.uuid(), name: attachedName(request.query.name), bytes: bytes.length };
        await insertAttachment(deps.db, { ...file, accountId: accountOf(request).id, text });
        return reply.code(201).header("location", `/api/attachments/${file.id}`).send(file);
      },
    );

    scope.get<{ Params: { id: string } }>(
      "/api/attachments/:id",
      {
        schema: {
          summary: "Download an attached file, as UTF-8 text",
          tags: ["turns"],
          params: idParams,
          response: { 404: problem },
        },
      },
      async (request, reply) => {
        const file = await findAttachment(deps.db, request.params.id, accountOf(request).id);
        if (!file) throw notFound();
        return reply
          .header("content-disposition", `attachment; filename*=UTF-8''${headerValue(file.name)}`)
          .header("x-content-type-options", "nosniff")
          .header("cache-control", "private, no-store")
          .type("text/plain; charset=utf-8")
          .send(file.text);
      },
    );

    scope.delete<{ Params: { id: string } }>(
      "/api/attachments/:id",
      {
        schema: {
          summary: "Delete a file that was not sent with a question",
          tags: ["turns"],
          params: idParams,
          response: { 204: { type: "null" }, 404: problem, 409: problem },
        },
      },
      async (request, reply) => {
        const done = await deleteAttachment(deps.db, request.params.id, accountOf(request).id);
        if (done === "notFound") throw notFound();
        if (done === "sent") {
          throw new OwlError("attachment.conflict", "A question has this file.", {
            next: "It is deleted with its conversation.",
          });
        }
        return reply.code(204).send();
      },
    );
  });
};

/** A name as RFC 8187 puts it into a header. */
function headerValue(name: string): string {
  return encodeURIComponent(name).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
