// The one translator from errors to RFC 9457 problem documents. Invariant: what we did not foresee tells a reference
// (the request id) and nothing else; its stack goes to the log.

import type { IncomingMessage } from "node:http";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { Problem } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { isOutage } from "../db/database-errors.ts";

/** Status by code where the ending does not tell it (see `statusOf`). */
const STATUS: Readonly<Record<string, number>> = {
  "session.missing": 401,
  "session.wrong": 401,
  "session.tooMany": 429,
  "limit.uploadBytes": 413,
  "limit.storedBytes": 413,
  "request.left": 499,
  "request.origin": 403,
  "request.role": 403,
  "request.internal": 404,
  "request.invalid": 400,
  "request.type": 415,
  "request.tooLarge": 413,
  "path.outside": 403,
  "turn.running": 409,
  "upload.type": 415,
  "attachment.type": 415,
  "attachment.empty": 422,
  "attachment.unusable": 422,
  "idempotency.otherBody": 422,
  "approval.open": 409,
  "rollout.ended": 409,
  "cancel.open": 409,
  "password.weak": 400,
  "database.away": 503,
  "web.draining": 503,
};

/** `….notFound` is 404, `….invalid` 400, `….conflict` 409, `….tooLarge` 413, `limit.…` 429, the table's codes as it says, else 500. */
function statusOf(code: string): number {
  const known = STATUS[code];
  if (known !== undefined) return known;
  if (code.endsWith(".notFound")) return 404;
  if (code.endsWith(".invalid")) return 400;
  if (code.endsWith(".conflict")) return 409;
  if (code.endsWith(".tooLarge")) return 413;
  if (code.startsWith("limit.")) return 429;
  return 500;
}

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

function problem(
  status: number,
  code: string,
  detail: string,
  rest: { next?: string; data?: Problem["data"] } = {},
): Problem {
  return {
    type: `urn:owl:problem:${code}`,
    title: TITLES[status] ?? "Error",
    status,
    code,
    detail,
    ...(rest.next === undefined ? {} : { next: rest.next }),
    ...(rest.data === undefined || Object.keys(rest.data).length === 0 ? {} : { data: rest.data }),
  };
}

function ofFastify(error: FastifyError): Problem | null {
  if (error.validation) {
    const first = error.validation[0];
    const field = `${error.validationContext ?? "body"}${first?.instancePath.replaceAll("/", ".") ?? ""}`;
    return problem(400, "request.invalid", `${field} ${first?.message ?? "is not valid"}.`, { data: { field } });
  }
  if (error.statusCode === 413) return problem(413, "request.tooLarge", "The request's body is larger than allowed.");
  if (error.statusCode === 415) {
    return problem(415, "request.type", "The body's content type is not understood here.", {
      next: "Send application/json.",
    });
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return problem(error.statusCode, "request.invalid", error.message);
  }
  return null;
}

/** What a caught error means to the caller. */
function problemOf(error: unknown, requestId: string): Problem {
  if (error instanceof OwlError) {
    return problem(statusOf(error.code), error.code, error.message, { next: error.next, data: error.data });
  }
  if (isOutage(error)) {
    return problem(503, "database.away", "The database does not answer at the moment; nothing was changed.", {
      next: "Try again in a moment.",
    });
  }
  const known = error instanceof Error && "code" in error ? ofFastify(error as FastifyError) : null;
  return (
    known ??
    problem(500, "internal", "Something went wrong on our side.", {
      next: `Tell an administrator the reference ${requestId}.`,
      data: { reference: requestId },
    })
  );
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
  if (document.status === 413 && request.headers.expect === undefined) await discardBody(request.raw);
  if (document.status >= 500) request.log.error({ err: error, code: document.code }, "request failed");
  if (document.status === 503) reply.header("retry-after", "1");
  if (document.status === 429) reply.header("retry-after", String(document.data?.retryAfterS ?? 60));
  return reply.code(document.status).type("application/problem+json").send(document);
}

/** The problem document's schema, for the OpenAPI document. */
export const problemSchema = {
  $id: "Problem",
  type: "object",
  required: ["type", "title", "status", "code", "detail"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    code: { type: "string", description: "Stable: programs compare this." },
    detail: { type: "string" },
    next: { type: "string" },
    data: { type: "object", additionalProperties: true },
  },
  examples: [
    {
      type: "urn:owl:problem:turn.running",
      title: "Conflict",
      status: 409,
      code: "turn.running",
      detail: "A turn of this conversation is still running.",
    },
  ],
} as const;
