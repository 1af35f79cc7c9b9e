// The one translator from errors to RFC 9457 problem documents. Invariant: what we did not foresee tells a reference
// (the request id) and nothing else; its stack goes to the log.

import type { IncomingMessage } from "node:http";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { Problem } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { failure, statusOf } from "../core/wire/errors.ts";
import { isGivenUp, isOutage } from "../db/database-errors.ts";

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad request",
  401: "Not signed in",
  403: "Not allowed",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  413: "Too large",
  415: "Unsupported content type",
  422: "Cannot be done as asked",
  429: "Too many requests",
  500: "Internal error",
  503: "Not available",
};

/** What a caught error means in the terms of the one list; what is not on it is ours alone to know. */
function known(error: unknown, requestId: string): OwlError {
  if (error instanceof OwlError && statusOf(error.code) !== null) return error;
  if (isOutage(error)) return failure("database.away");
  if (isGivenUp(error)) return failure("database.slow");
  const { statusCode = 500, message } = error instanceof Error ? (error as FastifyError) : { message: "" };
  if (statusCode === 413) return failure("request.tooLarge");
  if (statusCode === 415) return failure("request.type");
  if (statusCode >= 400 && statusCode < 500) return failure("request.invalid#other", { why: message });
  return failure("internal", { reference: requestId }, { data: { reference: requestId } });
}

/** What a caught error means to the caller. */
function problemOf(error: unknown, requestId: string): Problem {
  const { code, message, next, data } = known(error, requestId);
  const status = statusOf(code) ?? 500;
  return {
    type: `urn:owl:problem:${code}`,
    title: TITLES[status] ?? "Error",
    status,
    code,
    detail: message,
    ...(next === undefined ? {} : { next }),
    ...(Object.keys(data).length === 0 ? {} : { data }),
  };
}

/** What is read and thrown away of a body that is too large, so that the answer is not lost in a reset connection. */
const DISCARD_BYTES = 32 * 2 ** 20;

function discardBody(stream: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > DISCARD_BYTES) resolve();
    });
    for (const event of ["end", "error", "close"]) stream.once(event, () => resolve());
    if (stream.readableEnded || stream.destroyed) resolve();
    stream.resume();
  });
}

/** Fastify's error handler. */
export async function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const document = problemOf(error, request.id);
  // A client that asked first (Expect: 100-continue) sends no body after a refusal: there is nothing to wait for.
  if ((document.status === 413 || document.status === 429) && request.headers.expect === undefined)
    await discardBody(request.raw);
  if (document.status >= 500) request.log.error({ err: error, code: document.code }, "request failed");
  if (document.status === 503) reply.header("retry-after", "1");
  if (document.status === 429) reply.header("retry-after", String(document.data?.retryAfterS ?? 60));
  return reply.code(document.status).type("application/problem+json").send(document);
}
