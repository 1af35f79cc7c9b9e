// Conversations: list, make, show with turns, take along, rename/pin/archive, delete. All are the asking account's own.

import { Readable } from "node:stream";
import type { z } from "zod";
import { modelsOf } from "../../../config/models.ts";
import {
  conversation,
  conversationChange,
  conversationPage,
  conversationQuery,
  conversationWithTurns,
  exportQuery,
  newConversation,
  turnsQuery,
} from "../../core/wire/conversation.ts";
import { failure } from "../../core/wire/errors.ts";
import { nothing, withId } from "../../core/wire/parts.ts";
import { findAssistant } from "../../db/assistants.ts";
import { type FoundConversation, searchConversations } from "../../db/conversation-search.ts";
import {
  type ConversationListRow,
  type ConversationRow,
  changeConversation,
  deleteConversation,
  findConversation,
  insertConversation,
  listConversations,
  listFolders,
} from "../../db/conversations.ts";
import { stopRow } from "../../db/stops.ts";
import { listTurns, queuePosition } from "../../db/turns.ts";
import { textOf } from "../../text/text.ts";
import { holdToLimits } from "../account-limits.ts";
import { attachmentHeader, conversationJsonText, conversationMarkdownText } from "../conversation-export.ts";
import type { Routes, WebDeps } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { accountOf } from "../sessions.ts";
import { beforeOf, cursorOf, onePage, readPage } from "./paging.ts";
import { turnJson } from "./turns.ts";

const tags = ["conversations"];
const notFound = () => failure("conversation.notFound");

const conversationJson = (row: ConversationRow): z.input<typeof conversation> => ({
  id: row.id,
  title: row.title,
  model: row.model,
  assistant: row.assistant,
  folder: row.folder,
  pinned: row.pinnedAt !== null,
  archived: row.archivedAt !== null,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

function knownModel(deps: WebDeps, name: string | null): string | null {
  if (name !== null && !modelsOf(deps.config).some((model) => model.name === name)) throw failure("model.unknown");
  return name;
}

async function knownAssistant(deps: WebDeps, id: string | null, accountId: string) {
  if (id === null) return null;
  const found = await findAssistant(deps.db, id, accountId);
  if (found === null) throw failure("assistant.notFound");
  return { id, name: found.name, model: found.model };
}

export const conversationRoutes: Routes = (app, deps) => {
  app.get(
    "/api/conversations",
    {
      schema: {
        summary: "One's conversations, newest activity first",
        tags,
        querystring: conversationQuery,
        response: { 200: conversationPage },
      },
    },
    async (request) => {
      const { query } = request;
      const filter = { accountId: accountOf(request).id, archived: query.archived === "true" };
      const show = (row: ConversationListRow & { readonly found?: FoundConversation["found"] }) => {
        return { ...conversationJson(row), turnState: row.turnState, found: row.found ?? null };
      };
      const words = query.search?.trim() ?? "";
      const folders = await listFolders(deps.db, filter.accountId);
      if (words === "") {
        const place = { ...filter, folder: query.folder ?? null };
        const page = await onePage(query, (asked) => listConversations(deps.db, { ...place, ...asked }), show);
        return { ...page, folders, complete: true };
      }
      const { limit, after } = readPage(query);
      const search = { ...filter, words, limit, before: beforeOf(after) };
      const found = await deps.searches.within(filter.accountId, () => searchConversations(deps.aside, search));
      const next = found.next && cursorOf(found.next.cursor, found.next.id);
      return { items: found.rows.map(show), next, folders, complete: found.isWhole };
    },
  );

  app.post(
    "/api/conversations",
    { schema: { summary: "Begin a conversation", tags, body: newConversation, response: { 201: conversation } } },
    async (request) => {
      const id = deps.random.uuid();
      const title = request.body?.title ?? "";
      const model = knownModel(deps, request.body?.model ?? null);
      const accountId = accountOf(request).id;
      const assistant = await knownAssistant(deps, request.body?.assistantId ?? null, accountId);
      const instructions = request.body?.instructions || null;
      const now = new Date(deps.clock.now());
      const folder = request.body?.folder ?? null;
      const times = { pinnedAt: null, archivedAt: null, createdAt: now, updatedAt: now };
      const made = { id, title, model, assistant, instructions, folder, ...times };
      return onceOnly(deps, request, conversationJson(made), async (sql) => {
        await insertConversation(sql, { ...made, accountId, assistantId: assistant?.id ?? null });
        await holdToLimits(sql, accountId, deps.config.limits, ["conversations"]);
      });
    },
  );

  app.get(
    "/api/conversations/:id",
    {
      schema: {
        summary:
          "A conversation with its newest turns and their states, oldest first; `before` gives those before them",
        tags,
        params: withId,
        querystring: turnsQuery,
        response: { 200: conversationWithTurns },
      },
    },
    async (request) => {
      const row = await findConversation(deps.db, request.params.id, accountOf(request).id);
      if (!row) throw notFound();
      const { limit, after } = readPage({ limit: request.query.limit, next: request.query.before });
      const page = { conversationId: row.id, before: beforeOf(after), limit };
      const { turns, hasMore, newest } = await listTurns(deps.db, page);
      const oldest = turns.at(-1);
      const items = await Promise.all(
        turns
          .toReversed()
          .map(async (turn) => turnJson(turn, turn.state === "queued" ? await queuePosition(deps.db, turn.id) : null)),
      );
      const earlier = hasMore && oldest ? cursorOf(oldest.cursor, oldest.id) : null;
      const { instructions } = row;
      return { ...conversationJson(row), instructions: instructions ?? "", turnState: newest, turns: items, earlier };
    },
  );

  app.get(
    "/api/conversations/:id/export",
    {
      schema: {
        summary:
          "A conversation as a file: JSON with all versions (each turn `follows` one), or what is shown as Markdown",
        tags,
        params: withId,
        querystring: exportQuery,
      },
    },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const row = await findConversation(deps.aside, request.params.id, accountId);
      if (!row) throw notFound();
      const { format, language = deps.config.language } = request.query;
      if (format === "json") {
        const text = conversationJsonText(deps.aside, { id: row.id, accountId }, conversationJson(row));
        const file = reply.header("content-disposition", attachmentHeader(row.title, "json"));
        return file.type("application/json; charset=utf-8").send(Readable.from(text, { objectMode: false }));
      }
      const text = conversationMarkdownText(deps.aside, row, textOf(language));
      const file = reply.header("content-disposition", attachmentHeader(row.title, "md"));
      return file.type("text/markdown; charset=utf-8").send(Readable.from(text, { objectMode: false }));
    },
  );

  changeRoutes(app, deps);
};

const changeRoutes: Routes = (app, deps) => {
  app.patch(
    "/api/conversations/:id",
    {
      schema: {
        summary:
          "Rename, pin, archive, move to a folder, choose a model, an assistant, instructions or the version that is shown",
        tags,
        params: withId,
        body: conversationChange,
        response: { 200: conversation },
      },
    },
    async (request) => {
      knownModel(deps, request.body.model ?? null);
      const accountId = accountOf(request).id;
      await knownAssistant(deps, request.body.assistantId ?? null, accountId);
      const row = await changeConversation(deps.db, request.params.id, accountId, request.body);
      if (!row) throw notFound();
      return conversationJson(row);
    },
  );

  app.delete(
    "/api/conversations/:id",
    {
      schema: {
        summary: "Delete a conversation; its running turn is stopped",
        tags,
        params: withId,
        response: { 204: nothing },
      },
    },
    async (request) => {
      await deps.db.transaction(async (sql) => {
        const open = await deleteConversation(sql, request.params.id, accountOf(request).id);
        if (!open) throw notFound();
        for (const turn of open) await stopRow(sql, "chat", turn.id);
      });
    },
  );
};
