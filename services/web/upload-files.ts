// Files of uploads on disk, named by id alone. Invariant: `bytes` in the database never runs ahead of the file; a body is
// streamed, never held; one request at a time writes a file.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { OwlError } from "../../config/errors.ts";
import { failure } from "../core/wire/errors.ts";
import { advanceUpload, completeUpload, takeUpload } from "../db/uploads.ts";
import { recordingType } from "../media/recording-type.ts";
import type { WebDeps } from "./deps.ts";

/** How far the file may run ahead of its row. */
const NOTE_EVERY_BYTES = 4 * 2 ** 20;

export function uploadFile(deps: WebDeps, id: string): string {
  return join(deps.config.uploadsDir, id);
}

export function tooLarge(limit: number): OwlError {
  return failure("upload.tooLarge", { limit }, { data: { limit } });
}

const conflict = () => failure("upload.conflict");

/** The body's bytes; one that breaks off, or is no form where it says so, is its client's fault and told as that. */
async function* arriving(body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* body as AsyncIterable<Buffer>;
  } catch (cause) {
    throw failure("request.invalid#broken", {}, { cause });
  }
}

/**
 * Appends `body` from `offset` on, up to `limit` bytes in all. Gives where the file ends; a body that breaks off is kept
 * as far as it came, and thrown on. Throws `upload.conflict` (409), `upload.tooLarge` (413).
 */
export async function appendUpload(
  deps: WebDeps,
  upload: { readonly id: string; readonly offset: number; readonly limit: number },
  body: Readable,
): Promise<{ readonly bytes: number; readonly writer: string }> {
  const { id, offset, limit } = upload;
  const writer = deps.random.uuid();
  if (!(await takeUpload(deps.db, id, offset, writer))) throw conflict();
  await mkdir(deps.config.uploadsDir, { recursive: true, mode: 0o700 });
  // Readable for the group, which owld is in as a service: it takes the backups.
  const file = await open(uploadFile(deps, id), offset === 0 ? "w" : "r+", 0o640);
  let at = offset;
  let noted = offset;
  const note = async () => {
    if (!(await advanceUpload(deps.db, id, writer, at))) throw conflict();
    noted = at;
  };
  try {
    if (offset === 0) await syncName(deps.config.uploadsDir);
    for await (const chunk of arriving(body)) {
      if (at + chunk.length > limit) throw tooLarge(limit);
      await file.write(chunk, 0, chunk.length, at);
      at += chunk.length;
      if (at - noted >= NOTE_EVERY_BYTES) await note();
    }
    await file.datasync();
    await note();
    return { bytes: at, writer };
  } catch (error) {
    if (at > noted && (!(error instanceof OwlError) || error.code === "request.invalid")) {
      await file.datasync().catch(() => undefined);
      await note().catch(() => undefined);
    }
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * All bytes are there: looks at the content, hashes it, completes the row. Throws `upload.type` (415) for what is no
 * recording; the caller drops the upload then.
 */
export async function finishUpload(
  deps: WebDeps,
  upload: { readonly id: string; readonly bytes: number; readonly writer: string },
): Promise<{ readonly sha256: string; readonly mediaType: string }> {
  const path = uploadFile(deps, upload.id);
  // An earlier writer that was cut may have left more.
  const file = await open(path, "r+");
  try {
    await file.truncate(upload.bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  const mediaType = await recordingType(path);
  if (mediaType === null) {
    throw failure("upload.type");
  }
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 18 })) hash.update(chunk as Buffer);
  const sha256 = hash.digest("hex");
  if (!(await completeUpload(deps.db, upload.id, { writer: upload.writer, sha256, mediaType }))) throw conflict();
  return { sha256, mediaType };
}

/** The file's name is on the disk, as its bytes are to be. */
async function syncName(directory: string): Promise<void> {
  const names = await open(directory);
  try {
    await names.sync();
  } finally {
    await names.close();
  }
}

export async function removeUploadFile(deps: WebDeps, id: string): Promise<void> {
  await rm(uploadFile(deps, id), { force: true });
}

/** A file name as it may be shown: the last part, printable, never empty. */
export function shownName(raw: string | undefined): string {
  const last = (raw ?? "").split(/[/\\]/).at(-1) ?? "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out.
  const clean = last.replace(/[\u0000-\u001f\u007f]/g, "").trim();
  return clean === "" ? "recording" : clean.slice(0, 255);
}
