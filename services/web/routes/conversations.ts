// Conversations: list, make, show with turns, rename/pin/archive, delete. All are the asking account's own.

import { OwlError } from "../../../config/errors.ts";
import {
  type ConversationListRow,
  type ConversationRow,
  changeConversation,
  deleteConversation,
  findConversation,
  insertConversation,
  listConversations,
} from "../../db/conversations.ts";
import { listTurns, queuePosition } from "../../db/turns.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { askToStop } from "../job-requests.ts";
import { accountOf } from "../sessions.ts";
import { cursorOf, pageQuery, readPage } from "./paging.ts";
import { idParams, turnJson, turnSchema } from "./turn-json.ts";

const notFound = () => new OwlError("conversation.notFound", "There is no such conversation.");

const conversationSchema = {
  type: "object",
  additionalProperties: true,
  properties: {
    id: { type: "string" },
    title: { type: "string" },
    pinned: { type: "boolean" },
    archived: { type: "boolean" },
    createdAt: { type: "string" },
    updatedAt: { type: "string" },
    turnState: { type: ["string", "null"], description: "State of the newest turn." },
  },
} as const;

function conversationJson(row: ConversationRow): Record<string, unknown> {
  return {
    id: row.id,
    title: row.title,
    pinned: row.pinnedAt !== null,
    archived: row.archivedAt !== null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

export const conversationRoutes: Routes = (app, deps) => {
  app.get<{ Querystring: { limit?: string; next?: string; search?: string; archived?: string } }>(
    "/api/conversations",
    {
      schema: {
        summary: "One's conversations, newest activity first",
        tags: ["conversations"],
        querystring: {
          type: "object",
          properties: {
            ...pageQuery,
            search: { type: "string", maxLength: 200 },
            archived: { type: "string", enum: ["true", "false"] },
          },
        },
        response: {
          200: {
            type: "object",
            properties: {
              items: { type: "array", items: conversationSchema },
              next: { type: ["string", "null"] },
            },
          },
        },
      },
    },
    async (request) => {
      const page = readPage(request.query);
      const rows = await listConversations(deps.db, {
        accountId: accountOf(request).id,
        archived: request.query.archived === "true",
        search: request.query.search?.trim() || null,
        before: page.after ? { cursor: page.after[0], id: page.after[1] } : null,
        limit: page.limit + 1,
      });
      const items = rows.slice(0, page.limit);
      const last = items.at(-1);
      return {
        items: items.map((row: ConversationListRow) => ({ ...conversationJson(row), turnState: row.turnState })),
        next: rows.length > page.limit && last ? cursorOf(last.cursor, last.id) : null,
      };
    },
  );

  app.post<{ Body: { title?: string } | undefined }>(
    "/api/conversations",
    {
      schema: {
        summary: "Begin a conversation",
        tags: ["conversations"],
        body: {
          anyOf: [
            { type: "null" },
            {
              type: "object",
              additionalProperties: false,
              properties: { title: { type: "string", maxLength: 200 } },
            },
          ],
        },
        response: { 201: conversationSchema },
      },
    },
    async (request, reply) => {
      const id = deps.random.uuid();
      const title = request.body?.title ?? "";
      const now = new Date(deps.clock.now());
      const body = conversationJson({
        id,
        title,
        pinnedAt: null,
        archivedAt: null,
        createdAt: now,
        updatedAt: now,
      });
      const answer = await onceOnly(deps, request, { status: 201, body }, async (sql) => {
        await insertConversation(sql, { id, accountId: accountOf(request).id, title });
      });
      return reply.code(answer.status).send(answer.body);
    },
  );

  app.get<{ Params: { id: string } }>(
    "/api/conversations/:id",
    {
      schema: {
        summary: "A conversation with its turns and their states",
        tags: ["conversations"],
        params: idParams,
        response: {
          200: {
            ...conversationSchema,
            properties: { ...conversationSchema.properties, turns: { type: "array", items: turnSchema } },
          },
          404: { $ref: "Problem#" },
        },
      },
    },
    async (request) => {
      const row = await findConversation(deps.db, request.params.id, accountOf(request).id);
      if (!row) throw notFound();
      const turns = await listTurns(deps.db, row.id);
      const items = await Promise.all(
        turns.map(async (turn) =>
          turnJson(turn, turn.state === "queued" ? await queuePosition(deps.db, turn.id) : null),
        ),
      );
      return { ...conversationJson(row), turnState: turns.at(-1)?.state ?? null, turns: items };
    },
  );

  app.patch<{ Params: { id: string }; Body: { title?: string; pinned?: boolean; archived?: boolean } }>(
    "/api/conversations/:id",
    {
      schema: {
        summary: "Rename, pin, archive",
        tags: ["conversations"],
        params: idParams,
        body: {
          type: "object",
          additionalProperties: false,
          minProperties: 1,
          properties: {
            title: { type: "string", minLength: 1, maxLength: 200 },
            pinned: { type: "boolean" },
            archived: { type: "boolean" },
          },
        },
        response: { 200: conversationSchema, 404: { $ref: "Problem#" } },
      },
    },
    async (request) => {
      const row = await changeConversation(deps.db, request.params.id, accountOf(request).id, request.body);
      if (!row) throw notFound();
      return conversationJson(row);
    },
  );

  app.delete<{ Params: { id: string } }>(
    "/api/conversations/:id",
    {
      schema: {
        summary: "Delete a conversation; its running turn is stopped",
        tags: ["conversations"],
        params: idParams,
        response: { 204: { type: "null" }, 404: { $ref: "Problem#" } },
      },
    },
    async (request, reply) => {
      await deps.db.transaction(async (sql) => {
        const open = await deleteConversation(sql, request.params.id, accountOf(request).id);
        if (!open) throw notFound();
        for (const turn of open) await askToStop(sql, "chat", turn.id);
      });
      return reply.code(204).send();
    },
  );
};
