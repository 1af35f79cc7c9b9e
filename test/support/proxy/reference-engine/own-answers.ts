// What the reference engine writes by itself on node:http's objects: own answers, 1xx, trailers, the polite end.

import type { IncomingMessage, ServerResponse } from "node:http";
import { type AnswerContext, type AnswerReason, answerFor } from "../../../../supervisor/proxy/answers.ts";
import { droppedTrailers } from "../../../../supervisor/proxy/core/response-head.ts";
import type { EngineDeps } from "../../../../supervisor/proxy/engine.ts";
import { LINGER_MS, LINGER_SILENCE_MS } from "../../../../supervisor/proxy/limits.ts";
import { keptFlat, viewOf } from "./flat-heads.ts";

/**
 * Sends the head of an answer with a body at once, byte for byte and behind its 1xx: `flushHeaders` writes what is beyond
 * ASCII as UTF-8, and an empty Buffer puts the head before a 1xx that waits for the answer of an earlier request.
 */
export function sendHead(response: ServerResponse): void {
  response.write("", "latin1");
}

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

/**
 * Reads and drops what the client still sends (see LINGER_MS), so that it can read the answer before the end. The caller
 * takes care that nothing more is taken from this connection.
 */
export function lingeringClose(request: IncomingMessage, deps: EngineDeps): void {
  const { socket } = request;
  // node:http destroys the socket once the answer is out; with bytes unread that is a reset.
  socket.destroySoon = () => socket.end();
  let heard = true;
  request.removeAllListeners("data");
  request.on("data", () => {
    heard = true;
  });
  request.resume();
  let cancelLook = () => {};
  const look = () => {
    if (!heard) socket.destroy();
    heard = false;
    cancelLook = deps.clock.after(LINGER_SILENCE_MS, look, { unref: true });
  };
  look();
  const cancelEnd = deps.clock.after(LINGER_MS, () => socket.destroy(), { unref: true });
  socket.once("close", () => {
    cancelLook();
    cancelEnd();
  });
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
