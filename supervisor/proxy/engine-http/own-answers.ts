// What the reference engine writes by itself on node:http's objects: own answers, 1xx, trailers, the polite end.

import type { IncomingMessage, ServerResponse } from "node:http";
import { type AnswerContext, type AnswerReason, answerFor } from "../answers.ts";
import { keptFlat, viewOf } from "../core/head-view.ts";
import { droppedTrailers } from "../core/response-head.ts";
import type { EngineDeps } from "../engine.ts";
import { LINGER_BYTES, LINGER_MS } from "../limits.ts";

/** Answers by ourselves; returns the status. The connection is closed after a refusal of the request itself. */
export function answerRaw(
  response: ServerResponse,
  request: IncomingMessage,
  reason: AnswerReason,
  requestId: string | null,
  retryAfterS?: number,
  close = false,
): number {
  const context: AnswerContext = {
    accept: request.headers.accept ?? null,
    acceptLanguage: request.headers["accept-language"] ?? null,
    requestId,
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
  };
  const answer = answerFor(reason, context);
  response.sendDate = false;
  const refusesRequest = answer.status < 500 && answer.status !== 404;
  if (close || refusesRequest || answer.status === 501 || answer.status === 505 || !request.complete) {
    response.shouldKeepAlive = false;
  }
  response.writeHead(answer.status, answer.phrase, [
    ...answer.headers,
    "Connection",
    response.shouldKeepAlive ? "keep-alive" : "close",
  ]);
  response.end(request.method === "HEAD" ? undefined : answer.body);
  return answer.status;
}

/** Reads and drops what the client still sends, at most 1 MiB or 1 s, so that it can read the answer before the end. */
export function lingeringClose(request: IncomingMessage, deps: EngineDeps): void {
  let dropped = 0;
  request.removeAllListeners("data");
  request.on("data", (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > LINGER_BYTES) request.socket.destroy();
  });
  request.resume();
  deps.clock.after(LINGER_MS, () => request.socket.destroy(), { unref: true });
}

/** A 1xx answer with these headers (flat). */
export function writeInformation(response: ServerResponse, status: number, headers: readonly string[]): void {
  const fields: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2) fields[headers[at] ?? ""] = headers[at + 1] ?? "";
  response.writeInformation(status, fields);
}

/** Trailers that go on, as node:http wants them. */
export function trailersOf(message: IncomingMessage): [string, string][] {
  const view = viewOf(message.rawTrailers);
  const flat = keptFlat(view, droppedTrailers(view));
  const pairs: [string, string][] = [];
  for (let at = 0; at < flat.length; at += 2) pairs.push([flat[at] ?? "", flat[at + 1] ?? ""]);
  return pairs;
}
