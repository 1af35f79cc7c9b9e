// Files for a question: kept as text until the question that names them is accepted, then gone with its conversation.

import type { Readable } from "node:stream";
import { visionModelsOf } from "../../../config/models.ts";
import { IMAGE_BYTES, IMAGE_MEGAPIXELS } from "../../core/attached-files.ts";
import { imageHeaderOf, imageTypeOf } from "../../core/image-header.ts";
import type { TextEncoding } from "../../core/text-encodings.ts";
import { failure } from "../../core/wire/errors.ts";
import { nothing, withId } from "../../core/wire/parts.ts";
import { attachedFile, attachmentQuery } from "../../core/wire/turn.ts";
import { deleteAttachment, findAttachment, insertAttachment } from "../../db/attachments.ts";
import { documentText, isDocument } from "../../media/document-text.ts";
import { holdToLimits } from "../account-limits.ts";
import type { Routes, WebDeps } from "../deps.ts";
import { ATTACHMENT_BYTES, DOCUMENT_BYTES } from "../pages/core/attached.ts";
import { accountOf } from "../sessions.ts";
import { createWaitingLine } from "../waiting-line.ts";
import { fileBody, type WireTypes } from "../wire.ts";

const tags = ["turns"];
const notFound = () => failure("attachment.notFound");

/** Documents read at once, in this process and of one account: who sends many waits behind nobody but themselves. */
const READS = { atOnce: 2, inLine: 200 };
const OWN_READS = { atOnce: 1, inLine: 10 };

const tooLarge = (limit: number) => failure("attachment.tooLarge", { limit }, { data: { limit } });

const mostBytes = (head: Uint8Array): number =>
  imageTypeOf(head) !== null ? IMAGE_BYTES : isDocument(head) ? DOCUMENT_BYTES : ATTACHMENT_BYTES;

/** An image that may be looked at; null: it is none. Throws `attachment.unseen`, `attachment.pixels`. */
function readImage(deps: WebDeps, bytes: Buffer) {
  const header = imageHeaderOf(bytes);
  if (header === null) return null;
  if (visionModelsOf(deps.config).length === 0) throw failure("attachment.unseen#none");
  const { mediaType, width, height } = header;
  if (width * height > IMAGE_MEGAPIXELS * 1e6) throw failure("attachment.pixels", { limit: IMAGE_MEGAPIXELS });
  return { image: { width, height }, is: { mediaType, content: bytes } };
}

/** What a file says, and how its bytes were read. Throws `attachment.…` where it is neither text nor a document. */
async function readFile(deps: WebDeps, bytes: Buffer, asked: TextEncoding | undefined) {
  if (isDocument(bytes)) {
    const { text, isCut } = await documentText(bytes, deps.clock);
    return { text: isCut ? `${text}\n${deps.text("attachment.cut")}` : text, encoding: "UTF-8" as const };
  }
  // The tables of every old encoding: not before there is a file.
  const { readText } = await import("../attachment-text.ts");
  const read = readText(bytes, asked);
  if (read === null) throw asked ? failure("attachment.encoding", { encoding: asked }) : failure("attachment.type");
  return read;
}

/** The whole body; throws `attachment.tooLarge` (413) as soon as it is known to be larger than allowed. */
async function readBody(body: Readable | null, announced: string | undefined): Promise<Buffer> {
  if (Number(announced ?? 0) > DOCUMENT_BYTES) throw tooLarge(DOCUMENT_BYTES);
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (body) {
    // Not `for await`: leaving it would break the connection, and the refusal could not be read.
    await new Promise<void>((resolve, reject) => {
      body.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        const [head = chunk] = chunks;
        const most = mostBytes(head);
        if (bytes > most) reject(tooLarge(most));
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
  const full = () => failure("limit.requests", {}, { data: { retryAfterS: 1 } });
  const reads = createWaitingLine(READS, full);
  const ownReads = new Map<string, ReturnType<typeof createWaitingLine>>();

  async function inTurn<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const own = ownReads.get(accountId) ?? createWaitingLine(OWN_READS, full);
    ownReads.set(accountId, own);
    try {
      return await own.within(() => reads.within(work));
    } finally {
      if (own.isEmpty) ownReads.delete(accountId);
    }
  }

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
          summary:
            "Attach a file to the next question: the body is the file, text of at most 1 MiB, a document of 8 MiB or an image of 2 MiB",
          description:
            "Of a PDF, Word, Excel or PowerPoint file the text is kept, told apart by page, sheet or slide. A PNG, JPEG, GIF or WebP image is kept as it is, for models that look at images. Text in UTF-8, UTF-16 with a byte order mark, or the encoding it looks most like; the answer says which, and `encoding` decides otherwise. One that no question names is deleted after 24 hours.",
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
        const { attachedName } = await import("../attachment-text.ts");
        const accountId = accountOf(request).id;
        const work = () => readFile(deps, bytes, asked);
        const seen = readImage(deps, bytes);
        const read = seen === null ? await (isDocument(bytes) ? inTurn(accountId, work) : work()) : { text: "" };
        const { image, is } = seen ?? { is: null };
        const name = attachedName(request.query.name);
        const file = { id: deps.random.uuid(), name, bytes: bytes.length, ...(image ? { image } : {}) };
        await deps.db.transaction(async (sql) => {
          await insertAttachment(sql, { ...file, accountId, text: read.text, is });
          await holdToLimits(sql, accountId, deps.config.limits, ["attachments", "storedBytes"]);
        });
        reply.header("location", `/api/attachments/${file.id}`);
        return { ...file, ...("encoding" in read ? { encoding: read.encoding } : {}) };
      },
    );

    scope.get(
      "/api/attachments/:id",
      {
        schema: { summary: "Download an attached file, as UTF-8 text; an image as it was sent", tags, params: withId },
      },
      async (request, reply) => {
        const file = await findAttachment(deps.db, request.params.id, accountOf(request).id);
        if (!file) throw notFound();
        // An image is shown in its question; it holds no code, and nosniff keeps it from being taken for anything else.
        return reply
          .header(
            "content-disposition",
            `${file.is ? "inline" : "attachment"}; filename*=UTF-8''${headerValue(file.name)}`,
          )
          .header("x-content-type-options", "nosniff")
          .header("cache-control", "private, no-store")
          .type(file.is?.mediaType ?? "text/plain; charset=utf-8")
          .send(file.is?.content ?? file.text);
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
