// Idempotency-Key: the first answer is kept per user and route for 24 h, in the very transaction that did the work.
// Invariant: two requests with one key, also at once and in two processes, do the work once and answer alike.

import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { failure } from "../core/wire/errors.ts";
import { type KeptAnswer, keepIdempotencyKey } from "../db/idempotency-keys.ts";
import type { Sql } from "../db/pool.ts";
import type { WebDeps } from "./deps.ts";
import { accountOf } from "./sessions.ts";
import { successOf } from "./wire.ts";

function keyOf(request: FastifyRequest): string | null {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key === "string" && /^[\x21-\x7e][\x20-\x7e]{0,254}$/.test(key)) return key;
  throw failure("idempotency.invalid");
}

/**
 * Runs `write` in one transaction and gives `answer`; with an Idempotency-Key already used for the same request, gives
 * the answer kept then and runs nothing. Throws `idempotency.otherBody` (422) when the request differs.
 */
export async function onceOnly<Answer extends object>(
  deps: WebDeps,
  request: FastifyRequest,
  answer: Answer,
  write: (sql: Sql) => Promise<void>,
  /** "oneStatement": `write` is one statement, which needs no transaction around it when no key goes with it. */
  shape: "transaction" | "oneStatement" = "transaction",
): Promise<Answer> {
  const key = keyOf(request);
  if (key === null && shape === "oneStatement") {
    await write(deps.db);
    return answer;
  }
  return deps.db.transaction(async (sql) => {
    if (key !== null) {
      const bodyHash = createHash("sha256")
        .update(JSON.stringify([request.params ?? null, request.body ?? null]))
        .digest();
      const kept: KeptAnswer | null = await keepIdempotencyKey(sql, {
        accountId: accountOf(request).id,
        route: `${request.method} ${request.routeOptions.url}`,
        key,
        bodyHash,
        status: successOf(request),
        response: answer,
      });
      if (kept) {
        if (kept.bodyHash.equals(bodyHash)) return kept.response as Answer;
        throw failure("idempotency.otherBody");
      }
    }
    await write(sql);
    return answer;
  });
}
