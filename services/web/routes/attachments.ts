// Files for a question: kept as text until the question that names them is accepted, then gone with its conversation.

import type { Readable } from "node:stream";
import { failure } from "../../core/wire/errors.ts";
import { nothing, withId } from "../../core/wire/parts.ts";
import { attachedFile, attachmentQuery } from "../../core/wire/turn.ts";
import { deleteAttachment, findAttachment, insertAttachment } from "../../db/attachments.ts";
import { holdToLimits } from "../account-limits.ts";
import type { Routes } from "../deps.ts";
import { ATTACHMENT_BYTES } from "../pages/core/attached.ts";
import { accountOf } from "../sessions.ts";
import { fileBody, type WireTypes } from "../wire.ts";

const tags = ["turns"];
const notFound = () => failure("attachment.notFound");

const tooLarge = () =>
  failure("attachment.tooLarge", { limit: ATTACHMENT_BYTES }, { data: { limit: ATTACHMENT_BYTES } });

/** The whole body; throws `attachment.tooLarge` (413) as soon as it is known to be larger than allowed. */
async function readBody(body: Readable | null, announced: string | undefined): Promise<Buffer> {
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
      const broken = () => reject(failure("request.invalid#broken"));
      body.once("error", broken);
      body.once("close", broken);
    });
  }
  return Buffer.concat(chunks);
}

export const attachmentRoutes: Routes = (app, deps) => {
  app.register(async (plain) => {
    const scope = plain.withTypeProvider<WireTypes>();
    // Whatever it is called, the body is the file; its content is judged, not its type.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, payload, done) => done(null, payload));

    scope.post(
      "/api/attachments",
      {
        config: { isLong: true },
        schema: {
          summary: "Attach a file to the next question: the body is the file, text of at most 1 MiB",
          description:
            "Text in UTF-8, UTF-16 with a byte order mark, or the encoding it looks most like; the answer says which, and `encoding` decides otherwise. One that no question names is deleted after 24 hours.",
          tags,
          querystring: attachmentQuery,
          body: fileBody,
          response: { 201: attachedFile },
        },
      },
      async (request, reply) => {
        const bytes = await readBody(request.body, request.headers["content-length"]);
        if (bytes.length === 0) throw failure("attachment.empty");
        const asked = request.query.encoding;
        // The tables of every old encoding: not before there is a file.
        const { attachedName, readText } = await import("../attachment-text.ts");
        const read = readText(bytes, asked);
        if (read === null)
          throw asked ? failure("attachment.encoding", { encoding: asked }) : failure("attachment.type");
        const file = { id: deps.random.uuid(), name: attachedName(request.query.name), bytes: bytes.length };
        const accountId = accountOf(request).id;
        await deps.db.transaction(async (sql) => {
          await insertAttachment(sql, { ...file, accountId, text: read.text });
          await holdToLimits(sql, accountId, deps.config.limits, ["attachments", "storedBytes"]);
        });
        reply.header("location", `/api/attachments/${file.id}`);
        return { ...file, encoding: read.encoding };
      },
    );

    scope.get(
      "/api/attachments/:id",
      { schema: { summary: "Download an attached file, as UTF-8 text", tags, params: withId } },
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

    scope.delete(
      "/api/attachments/:id",
      {
        schema: {
          summary: "Delete a file that was not sent with a question",
          tags,
          params: withId,
          response: { 204: nothing },
        },
      },
      async (request) => {
        const done = await deleteAttachment(deps.db, request.params.id, accountOf(request).id);
        if (done === "notFound") throw notFound();
        if (done === "sent") throw failure("attachment.conflict");
      },
    );
  });
};

/** A name as RFC 8187 puts it into a header. */
function headerValue(name: string): string {
  return encodeURIComponent(name).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
