// A file sent with range requests, so that a browser's player can seek. Invariant: never more than the file, never a
// path that a request named.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { failure } from "../core/wire/errors.ts";

interface ByteRange {
  readonly start: number;
  /** The last byte, included. */
  readonly end: number;
}

/** The one range asked for; null: the whole file (also for several ranges or none of ours); "unsatisfiable". */
export function parseRange(header: string | undefined, size: number): ByteRange | null | "unsatisfiable" {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "");
  if (!match || (match[1] === "" && match[2] === "")) return null;
  const [, first = "", last = ""] = match;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (start >= size) return "unsatisfiable";
  return end < start ? null : { start, end };
}

/** Answers with the file at `path`. Throws `media.notFound`. */
export async function sendMedia(
  request: FastifyRequest,
  reply: FastifyReply,
  file: { readonly path: string; readonly type: string; readonly name: string },
): Promise<FastifyReply> {
  const info = await stat(file.path).catch(() => null);
  if (!info?.isFile()) throw failure("media.notFound");
  const { size } = info;
  reply
    .header("accept-ranges", "bytes")
    .header("cache-control", "private, max-age=0, must-revalidate")
    .header("etag", `"${size}-${Math.round(info.mtimeMs)}"`)
    .header("content-disposition", `inline; filename*=UTF-8''${encodeURIComponent(file.name)}`)
    .type(file.type);
  const range = parseRange(request.headers.range, size);
  if (range === "unsatisfiable") {
    return reply.code(416).header("content-range", `bytes */${size}`).send();
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  if (range) reply.code(206).header("content-range", `bytes ${start}-${end}/${size}`);
  reply.header("content-length", String(size === 0 ? 0 : end - start + 1));
  if (request.method === "HEAD" || size === 0) return reply.send();
  return reply.send(createReadStream(file.path, { start, end }));
}
