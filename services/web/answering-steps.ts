// A person's word on a step that is to be allowed or whose outcome is not known, for turns and runs alike. Invariant: a repeated request gets the
// first one's answer by its Idempotency-Key; without one, the second word is refused.

import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { mayAllow } from "../core/approval.ts";
import { failure } from "../core/wire/errors.ts";
import type { stepAnswer } from "../core/wire/step.ts";
import { answerStep, type WaitingKind } from "../db/waiting.ts";
import { audit } from "./approving.ts";
import type { WebDeps } from "./deps.ts";
import { onceOnly } from "./idempotency.ts";
import { accountOf } from "./sessions.ts";

/** Takes the word and gives `answer`. Throws `step.answered`, `step.notWaiting` or what is not found. */
export function takeWord<Answer extends Record<string, unknown>>(
  deps: WebDeps,
  request: FastifyRequest,
  asked: { readonly kind: WaitingKind; readonly id: string; readonly n: number },
  word: z.output<typeof stepAnswer>,
  answer: Answer,
): Promise<Answer> {
  const { random, config } = deps;
  const queue = { enqueue: deps.queue.enqueue, remove: deps.queue.remove };
  return onceOnly(deps, request, answer, async (sql) => {
    const { id: accountId, name: by, role } = accountOf(request);
    const may = mayAllow(config.tools, role);
    const given = { ...asked, ...word, accountId, by, may };
    const outcome = await answerStep({ queue, random, claimMs: config.turn.claimMs }, sql, given);
    if (outcome === "taken" && may.others) {
      await audit(sql, request, `step.${word.answer}`, `${asked.kind} ${asked.id}`, { step: asked.n, tool: word.name });
    }
    if (outcome === "notFound") throw failure(asked.kind === "chat" ? "turn.notFound" : "run.notFound");
    if (outcome === "notApprover") throw failure("step.notApprover");
    if (outcome === "answered") throw failure("step.answered");
    if (outcome === "notWaiting") throw failure("step.notWaiting");
  });
}
