// What goes out on a stream: heads as lists, bodies as copies, trailers when they are asked for.

import type { ServerHttp2Stream } from "node:http2";
import { type AnswerContext, type AnswerReason, answerFor } from "../answers.ts";
import { listOfHead, objectOfList } from "../core/http2-head.ts";
import type { ResponseScan } from "../core/response-head.ts";
import type { MessageParser } from "../engine-net/llhttp.ts";

/** What this hop adds to an upstream's answer. */
interface Additions {
  readonly requestId: string;
  readonly hsts: string | null;
  readonly cookieLine: string;
}

/** An upstream's final head as a list. */
export function answerList(head: MessageParser, scan: ResponseScan, added: Additions): string[] {
  const { requestId, hsts, cookieLine } = added;
  const list = [":status", String(head.status), ...listOfHead(head, scan.dropped)];
  for (let at = 0; at < scan.added.length; at += 2)
    list.push((scan.added[at] ?? "").toLowerCase(), scan.added[at + 1] ?? "");
  if (!scan.hasRequestId) list.push("x-request-id", requestId);
  if (!scan.hasHsts && hsts !== null) list.push("strict-transport-security", hsts);
  const colon = cookieLine.indexOf(":");
  if (colon > 0) list.push("set-cookie", cookieLine.slice(colon + 1).trim());
  return list;
}

/** Gives the proxy's own answer and ends the stream's writing; returns the status. */
export function giveOwnAnswer(
  stream: ServerHttp2Stream,
  reason: AnswerReason,
  context: AnswerContext,
  { hsts, isHead }: { readonly hsts: string | null; readonly isHead: boolean },
): number {
  const { status, headers, body } = answerFor(reason, context);
  const list = [":status", String(status)];
  for (let at = 0; at < headers.length; at += 2) list.push((headers[at] ?? "").toLowerCase(), headers[at + 1] ?? "");
  if (hsts !== null) list.push("strict-transport-security", hsts);
  if (respond(stream, list, isHead, null) && !isHead) stream.end(body);
  return status;
}

/** Sends a head; `trailers`: asked for behind the body. False: this head cannot be sent, and nothing was. */
export function respond(
  stream: ServerHttp2Stream,
  list: readonly string[],
  endStream: boolean,
  trailers: (() => readonly string[]) | null,
): boolean {
  const waitForTrailers = trailers !== null;
  try {
    stream.respond(list, { endStream, waitForTrailers, sendDate: false } as Parameters<typeof stream.respond>[1]);
  } catch {
    return stream.destroyed;
  }
  if (trailers !== null)
    stream.on("wantTrailers", () => {
      if (!stream.destroyed) stream.sendTrailers(objectOfList(trailers()));
    });
  return true;
}

/** Passes a 1xx on. */
export function inform(stream: ServerHttp2Stream, status: number, list: readonly string[]): void {
  try {
    stream.additionalHeaders(objectOfList([":status", String(status), ...list]));
  } catch {
    // The stream is closing, or these headers cannot be said in HTTP/2: the answer to come is what counts.
  }
}

/** The parts (start, end, ...) of `bytes`, which is read into again: what waits for the client's windows is a copy. */
export function copyOf(bytes: Buffer, parts: readonly number[], length: number): Buffer {
  const copy = Buffer.allocUnsafe(length);
  let end = 0;
  for (let at = 0; at < parts.length; at += 2) end += bytes.copy(copy, end, parts[at], parts[at + 1]);
  return copy;
}
