// Turns: ask, look, follow, stop. Invariant: asking is one transaction (turn and job), answered with 202 and the id.

import type { z } from "zod";
import type { AppConfig } from "../../../config/config.ts";
import { modelFor, visionModelsOf } from "../../../config/models.ts";
import { hasTurnEnded } from "../../core/turn.ts";
import { failure } from "../../core/wire/errors.ts";
import { withId } from "../../core/wire/parts.ts";
import { question, turn, turnAccepted, turnEventsQuery, VERSIONS_A_QUESTION } from "../../core/wire/turn.ts";
import { attachToTurn, findModelForImages } from "../../db/attachments.ts";
import type { Sql } from "../../db/pool.ts";
import { stopRow } from "../../db/stops.ts";
import {
  acceptTurn,
  findTurn,
  findVersionPoint,
  listTurnEvents,
  MOST_EVENTS,
  queuePosition,
  type TurnRow,
} from "../../db/turns.ts";
import { holdToBudget, holdToLimits, limitReached } from "../account-limits.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { accountOf } from "../sessions.ts";

const tags = ["turns"];

export const turnJson = (row: TurnRow, position: number | null): z.input<typeof turn> => ({
  id: row.id,
  conversationId: row.conversationId,
  state: row.state,
  text: row.text,
  answer: row.answer,
  message: row.message,
  position,
  createdAt: row.createdAt,
  claimedAt: row.claimedAt,
  endedAt: row.endedAt,
  lastEventId: String(row.seq),
  stopRequested: row.stopRequested,
  tools: row.tools,
  attachments: row.attachments,
  waitsFor: row.waitsFor,
  versions: row.versions,
  feedback: row.feedback,
});

/** What a further version of that turn follows; null: nothing. */
async function parentOfVersions(sql: Sql, turn: Parameters<typeof findVersionPoint>[1]): Promise<string | null> {
  const point = await findVersionPoint(sql, turn);
  if (point === null) throw failure("turn.notFound");
  if (point.versions >= VERSIONS_A_QUESTION) throw failure("turn.versions", { limit: VERSIONS_A_QUESTION });
  return point.parentId;
}

/** Images go to a model that looks at them, or nowhere. */
async function holdToVision(
  sql: Sql,
  config: AppConfig,
  conversation: { readonly id: string; readonly accountId: string },
  files: readonly string[],
): Promise<void> {
  const asked = await findModelForImages(sql, conversation, files);
  if (asked === null) return;
  const model = modelFor(config, asked.model);
  if (model?.vision) return;
  const models = visionModelsOf(config).join(", ");
  throw model === null || models === ""
    ? failure("attachment.unseen#none")
    : failure("attachment.unseen", { model: model.name, models });
}

export const turnRoutes: Routes = (app, deps) => {
  const { limits } = deps.config;
  const find = async (id: string, accountId: string): Promise<TurnRow> => {
    const row = await findTurn(deps.db, id, accountId);
    if (!row) throw failure("turn.notFound");
    return row;
  };

  app.post(
    "/api/conversations/:id/turns",
    {
      schema: {
        summary: "Ask: accepted at once, answered by a worker",
        tags,
        params: withId,
        body: question,
        response: { 202: turnAccepted },
      },
    },
    async (request) => {
      const account = accountOf(request);
      const { versionOf, attachments = [] } = request.body;

      await holdToBudget(deps.db, account.id, deps.config.budget);
      const turnId = deps.random.uuid();
      const queueJob = deps.random.uuid();
      const accepted = await onceOnly(
        deps,
        request,
        { turnId },
        async (sql) => {
          const other = { id: versionOf ?? "", conversationId: request.params.id, accountId: account.id };
          const parent = versionOf === undefined ? {} : { parentId: (await parentOfVersions(sql, other)) ?? turnId };
          const outcome = await acceptTurn(sql, deps.queue, {
            id: turnId,
            conversationId: request.params.id,
            accountId: account.id,
            text: request.body.text,
            queueJob,
            claimMs: deps.config.turn.claimMs,
            most: limits.turns,
            requestId: request.id,
            ...parent,
          });
          if (outcome === "notFound") throw failure("conversation.notFound");
          if (outcome === "running") throw failure("turn.running");
          if (outcome === "full") throw limitReached("turns", limits.turns);
          if (attachments.length === 0) return;
          const files = attachments.map((id) => ({ id, copyId: deps.random.uuid() }));
          const { missing, copied } = await attachToTurn(sql, { id: turnId, accountId: account.id }, files);
          if (missing.length > 0) throw failure("attachment.unusable", {}, { data: { missing } });
          await holdToVision(sql, deps.config, { id: request.params.id, accountId: account.id }, attachments);
          if (copied > 0) await holdToLimits(sql, account.id, limits, ["storedBytes"]);
        },
        // With files or another version it is more: the turn has all of them, or is not accepted.
        attachments.length === 0 && versionOf === undefined ? "oneStatement" : "transaction",
      );
      // Nothing is promised before it is on disk; a kept answer may be another request's of this very moment.
      await deps.db.flush();
      return accepted;
    },
  );

  app.get(
    "/api/turns/:id",
    { schema: { summary: "State and answer", tags, params: withId, response: { 200: turn } } },
    async (request) => {
      const row = await find(request.params.id, accountOf(request).id);
      return turnJson(row, row.state === "queued" ? await queuePosition(deps.db, row.id) : null);
    },
  );

  app.get(
    "/api/turns/:id/events",
    {
      config: { isLong: true },
      schema: {
        summary: "Event stream: delta, tool, state, end; Last-Event-ID resumes",
        tags,
        params: withId,
        querystring: turnEventsQuery,
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
          const more = rows.length === MOST_EVENTS;
          if (events.length > 0) return { events, done: rows.at(-1)?.kind === "end", more };
          // Resumed after the end event, or the turn is no more: nothing will ever follow.
          const row = await findTurn(deps.db, id, accountOf(request).id);
          return { events, done: !row || hasTurnEnded(row.state) };
        },
      });
    },
  );

  app.post(
    "/api/turns/:id/stop",
    { schema: { summary: "Ask for the turn to be stopped", tags, params: withId, response: { 202: turnAccepted } } },
    async (request) => {
      const { id } = await find(request.params.id, accountOf(request).id);
      await stopRow(deps.db, "chat", id);
      return { turnId: id };
    },
  );
};
