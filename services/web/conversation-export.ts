// One conversation to take along, made while it is sent: as JSON with all its versions, or what is shown of it as
// Markdown. Invariant: what is held is one page of turns, however long the conversation is.

import { exportTurns } from "../db/export.ts";
import type { Before } from "../db/keyset.ts";
import type { Sql } from "../db/pool.ts";
import { listTurns } from "../db/turns.ts";
import type { Text } from "../text/text.ts";
import { headMarkdown, turnMarkdown } from "./conversation-markdown.ts";
import { viewOfTurn } from "./pages/core/turn-view.ts";
import { turnJson } from "./routes/turns.ts";

const PAGE_TURNS = 100;

/** The conversation's fields, then `turns`, newest first; each says which one it follows. */
export async function* conversationJsonText(
  sql: Sql,
  conversation: { readonly id: string; readonly accountId: string },
  fields: object,
): AsyncGenerator<string> {
  yield `${JSON.stringify(fields).slice(0, -1)},"turns":[`;
  let between = "\n";
  for await (const { json } of exportTurns(sql, conversation.accountId, conversation.id)) {
    yield `${between}${json}`;
    between = ",\n";
  }
  yield "\n]}\n";
}

export async function* conversationMarkdownText(
  sql: Sql,
  conversation: { readonly id: string; readonly title: string },
  words: Text,
): AsyncGenerator<string> {
  const page = (before: Before) => listTurns(sql, { conversationId: conversation.id, before, limit: PAGE_TURNS });
  // Pages are read from the newest back: where each of them begins is noted first, so that the oldest is told first.
  const marks: Before[] = [];
  for (let before: Before | "none" = null; before !== "none"; ) {
    marks.push(before);
    const { turns, hasMore } = await page(before);
    const oldest = turns.at(-1);
    before = hasMore && oldest ? { cursor: oldest.cursor, id: oldest.id } : "none";
  }
  yield headMarkdown(conversation.title);
  for (const before of marks.toReversed()) {
    const { turns } = await page(before);
    for (const turn of turns.toReversed()) {
      // As a client reads it: the times are texts then.
      const told = JSON.parse(JSON.stringify(turnJson(turn, null)));
      yield turnMarkdown(viewOfTurn(told), words);
    }
  }
}

/** A header that names a file after the title, in any script. */
export function attachmentHeader(title: string, ending: string): string {
  const name =
    title
      .replace(/[^\p{L}\p{N} _-]+/gu, "")
      .trim()
      .slice(0, 60) || "conversation";
  const encoded = encodeURIComponent(`${name.toWellFormed()}.${ending}`);
  return `attachment; filename="conversation.${ending}"; filename*=UTF-8''${encoded}`;
}
