// Turns: ask, look, follow, stop. Invariant: asking is one transaction (turn and job), answered with 202 and the id.

import { OwlError } from "../../../config/errors.ts";
import { hasTurnEnded } from "../../core/turn.ts";
import { attachToTurn } from "../../db/attachments.ts";
import { acceptTurn, findTurn, listTurnEvents, queuePosition, type TurnRow } from "../../db/turns.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { stopJob } from "../job-requests.ts";
import { ATTACHMENTS_A_QUESTION } from "../pages/core/attached.ts";
import { accountOf } from "../sessions.ts";
import { idParams, TEXT_LIMIT, turnJson, turnSchema } from "./turn-json.ts";

const notFound = () => new OwlError("turn.notFound", "There is no such turn.");

const unusable = (missing: readonly string[]) =>
  new OwlError("attachment.unusable", "An attached file is no longer there, or is not yours.", {
    next: "Attach it again.",
    data: { missing },
  });

export const turnRoutes: Routes = (app, deps) => {
  app.post<{ Params: { id: string }; Body: { text: string; attachments?: readonly string[] } }>(
    "/api/conversations/:id/turns",
    {
      schema: {
        summary: "Ask: accepted at once, answered by a worker",
        tags: ["turns"],
        params: idParams,
        headers: { type: "object", properties: { "idempotency-key": { type: "string" } } },
        body: {
          type: "object",
          additionalProperties: false,
          required: ["text"],
          properties: {
            text: { type: "string", minLength: 1, maxLength: TEXT_LIMIT, pattern: "\\S" },
            attachments: {
              type: "array",
              maxItems: ATTACHMENTS_A_QUESTION,
              uniqueItems: true,
              items: { type: "string", format: "uuid" },
              description: "Ids of POST /api/attachments, or of one's earlier questions (those are copied).",
            },
          },
          examples: [
            { text: "SELECT 6 * 7 AS answer" },
            { text: "What is in this file?", attachments: ["6f1c3f0e-8d0e-4f57-9a25-0c5b7a3f1d11"] },
          ],
        },
        response: {
          202: {
            type: "object",
            required: ["turnId"],
            properties: { turnId: { type: "string", format: "uuid" } },
          },
          409: { $ref: "Problem#" },
          422: { $ref: "Problem#" },
        },
      },
    },
    async (request, reply) => {
      const account = accountOf(request);
      const attachments = request.body.attachments ?? [];
      const turnId = deps.random.uuid();
      const queueJob = deps.random.uuid();
      const answer = await onceOnly(
        deps,
        request,
        { status: 202, body: { turnId } },
        async (sql) => {
          const accepted = await acceptTurn(sql, deps.queue, {
            id: turnId,
            conversationId: request.params.id,
            accountId: account.id,
            // PostgreSQL's text holds no NUL.
            text: request.body.text.replaceAll("\u0000", ""),
            queueJob,
            claimMs: deps.config.turn.claimMs,
          });
          if (accepted === "notFound") {
            throw new OwlError("conversation.notFound", "There is no such conversation.");
          }
          if (accepted === "running") {
            throw new OwlError("turn.running", "A turn of this conversation is still running.", {
              next: "Wait for its end, or stop it.",
            });
          }
          if (attachments.length === 0) return;
          const files = attachments.map((id) => ({ id, copyId: deps.random.uuid() }));
          const missing = await attachToTurn(sql, { id: turnId, accountId: account.id }, files);
          if (missing.length > 0) throw unusable(missing);
        },
        // With files it is two: the turn has all of them, or is not accepted.
        attachments.length === 0 ? "oneStatement" : "transaction",
      );
      // Nothing is promised before it is on disk; a kept answer may be another request's of this very moment.
      await deps.db.flush();
      return reply.code(answer.status).send(answer.body);
    },
  );

  const find = async (id: string, accountId: string): Promise<TurnRow> => {
    const turn = await findTurn(deps.db, id, accountId);
    if (!turn) throw notFound();
    return turn;
  };

  app.get<{ Params: { id: string } }>(
    "/api/turns/:id",
    { schema: { summary: "State and answer", tags: ["turns"], params: idParams, response: { 200: turnSchema } } },
    async (request) => {
      const turn = await find(request.params.id, accountOf(request).id);
      const position = turn.state === "queued" ? await queuePosition(deps.db, turn.id) : null;
      return turnJson(turn, position);
    },
  );

  app.get<{ Params: { id: string } }>(
    "/api/turns/:id/events",
    {
      schema: {
        summary: "Event stream: delta, tool, state, end; Last-Event-ID resumes",
        tags: ["turns"],
        params: idParams,
        querystring: { type: "object", properties: { lastEventId: { type: "string", pattern: "^[0-9]{1,9}$" } } },
      },
    },
    async (request, reply) => {
      const { id } = await find(request.params.id, accountOf(request).id);
      await deps.streams.open(request, reply, {
        channel: "owl_turn",
        payload: id,
        shared: true,
        async read(lastId) {
          const after = /^\d{1,9}$/.test(lastId) ? Number(lastId) : 0;
          const rows = await listTurnEvents(deps.db, id, after);
          const events = rows.map((row) => ({ id: String(row.seq), event: row.kind, data: row.data }));
          if (events.length > 0) return { events, done: rows.at(-1)?.kind === "end" };
          // Resumed after the end event, or the turn is no more: nothing will ever follow.
          const turn = await findTurn(deps.db, id, accountOf(request).id);
          return { events, done: !turn || hasTurnEnded(turn.state) };
        },
      });
    },
  );

  app.post<{ Params: { id: string } }>(
    "/api/turns/:id/stop",
    {
      schema: {
        summary: "Ask for the turn to be stopped",
        tags: ["turns"],
        params: idParams,
        response: { 202: { type: "object", properties: { turnId: { type: "string" } } } },
      },
    },
    async (request, reply) => {
      const turn = await find(request.params.id, accountOf(request).id);
      await stopJob(deps, "chat", turn.id);
      return reply.code(202).send({ turnId: turn.id });
    },
  );
};
