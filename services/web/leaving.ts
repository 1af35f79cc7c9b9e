// Work that is of use only while its client waits for the answer.

import type { FastifyReply } from "fastify";
import { failure } from "../core/wire/errors.ts";

/** Aborted when the client leaves before it has its answer. */
export function leavingSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) controller.abort(failure("request.left"));
  });
  return controller.signal;
}
