// The steps of a turn: how it was answered, the word on one of them, and asking again from one on.

import { failure } from "../../core/wire/errors.ts";
import { withId } from "../../core/wire/parts.ts";
import { receipt, stepAnswer, stepParams } from "../../core/wire/step.ts";
import { turnAccepted, turnForked } from "../../core/wire/turn.ts";
import { forkTurn } from "../../db/turn-forks.ts";
import { findReceipt } from "../../db/turn-steps.ts";
import { holdToBudget, holdToLimits, limitReached } from "../account-limits.ts";
import { takeWord } from "../answering-steps.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { accountOf } from "../sessions.ts";

const tags = ["turns"];

export const turnStepRoutes: Routes = (app, deps) => {
  const { limits } = deps.config;

  app.get(
    "/api/turns/:id/steps",
    {
      schema: {
        summary: "How it was answered: every step on record",
        tags,
        params: withId,
        response: { 200: receipt },
      },
    },
    async (request) => {
      const found = await findReceipt(deps.db, request.params.id, accountOf(request).id);
      if (!found) throw failure("turn.notFound");
      return { ...found, steps: [...found.steps] };
    },
  );

  app.post(
    "/api/turns/:id/steps/:n/answer",
    {
      schema: {
        summary:
          "The word on a call that is to be allowed or whose outcome is not known: once; the turn then goes on, or stops",
        tags,
        params: stepParams,
        body: stepAnswer,
        response: { 202: turnAccepted },
      },
    },
    async (request) => {
      const { id, n } = request.params;
      return takeWord(deps, request, { kind: "chat", id, n: Number(n) }, request.body, { turnId: id });
    },
  );

  app.post(
    "/api/turns/:id/steps/:n/fork",
    {
      schema: {
        summary: "Ask the question again from that step on, in a new conversation: what came before stands",
        tags,
        params: stepParams,
        response: { 202: turnForked },
      },
    },
    async (request) => {
      const { id: accountId } = accountOf(request);
      await holdToBudget(deps.db, accountId, deps.config.budget);
      const answer = { turnId: deps.random.uuid(), conversationId: deps.random.uuid() };
      const given = await onceOnly(deps, request, answer, async (sql) => {
        const outcome = await forkTurn(sql, deps.queue, {
          of: request.params.id,
          n: Number(request.params.n),
          accountId,
          id: answer.turnId,
          conversationId: answer.conversationId,
          queueJob: deps.random.uuid(),
          claimMs: deps.config.turn.claimMs,
          most: limits.turns,
          requestId: request.id,
        });
        if (outcome === "full") throw limitReached("turns", limits.turns);
        await holdToLimits(sql, accountId, limits, ["conversations", "storedBytes"]);
      });
      await deps.db.flush();
      return given;
    },
  );
};
