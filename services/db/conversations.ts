// Conversations. Invariant: every statement names the owner; another one's conversation is not found.

import type { TurnState } from "../core/turn.ts";
import { type Before, beforeText, beforeValues, cursorText } from "./keyset.ts";
import type { Sql } from "./pool.ts";

export interface ConversationRow {
  readonly id: string;
  readonly title: string;
  /** The model it chose; null: the usual one. */
  readonly model: string | null;
  /** The assistant it chose, while there is one. */
  readonly assistant: { readonly id: string; readonly name: string; readonly model: string | null } | null;
  /** null: it lies in none. */
  readonly folder: string | null;
  readonly pinnedAt: Date | null;
  readonly archivedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface ConversationListRow extends ConversationRow {
  /** State of its newest turn, null without one. */
  readonly turnState: TurnState | null;
  /** updated_at in microseconds, for paging. */
  readonly cursor: string;
}

const COLUMNS = `c.id, c.title, c.model,
  (SELECT jsonb_build_object('id', s.id, 'name', s.name, 'model', s.model) FROM owl.assistant s
    WHERE s.id = c.assistant_id AND (s.account_id = c.account_id OR s.shared)) AS assistant,
  c.folder, c.pinned_at AS "pinnedAt", c.archived_at AS "archivedAt",
  c.created_at AS "createdAt", c.updated_at AS "updatedAt"`;

/** With what the model is told in it alone; null: nothing. */
export async function findConversation(
  sql: Sql,
  id: string,
  accountId: string,
): Promise<(ConversationRow & { readonly instructions: string | null }) | null> {
  const { rows } = await sql.query<ConversationRow & { readonly instructions: string | null }>(
    `SELECT ${COLUMNS}, c.instructions FROM owl.conversation c WHERE c.id = $1 AND c.account_id = $2 AND c.deleted_at IS NULL`,
    [id, accountId],
  );
  return rows[0] ?? null;
}

export async function insertConversation(
  sql: Sql,
  conversation: {
    readonly id: string;
    readonly accountId: string;
    readonly title: string;
    readonly model?: string | null;
    readonly assistantId?: string | null;
    readonly instructions?: string | null;
    readonly folder?: string | null;
  },
): Promise<ConversationRow> {
  const { rows } = await sql.query<ConversationRow>(
    `INSERT INTO owl.conversation AS c (id, account_id, title, model, assistant_id, instructions, folder)
     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${COLUMNS}`,
    [
      conversation.id,
      conversation.accountId,
      conversation.title,
      conversation.model ?? null,
      conversation.assistantId ?? null,
      conversation.instructions ?? null,
      conversation.folder ?? null,
    ],
  );
  return rows[0] as ConversationRow;
}

export interface ConversationQuery {
  readonly accountId: string;
  readonly archived: boolean;
  readonly before: Before;
  readonly limit: number;
}

/** Of a conversation `c`: what a list shows. */
export const LISTED = `${COLUMNS}, ${cursorText("c.updated_at")} AS cursor,
  (SELECT t.state FROM owl.turn t WHERE t.conversation_id = c.id
    ORDER BY t.created_at DESC, t.id DESC LIMIT 1) AS "turnState"`;

/** The account's conversations `c` before the mark `$3`, `$4`: a range of conversation_list. */
export const LISTED_WHERE = `c.account_id = $1 AND c.deleted_at IS NULL AND (c.archived_at IS NOT NULL) = $2
  AND ${beforeText("c.updated_at", "c.id", "$3", "$4")}`;

/** Those in that folder (null: in none), newest activity first; archived ones whatever folder they lie in. */
export async function listConversations(
  sql: Sql,
  query: ConversationQuery & { readonly folder: string | null },
): Promise<readonly ConversationListRow[]> {
  const { folder, archived } = query;
  const where = archived ? "" : folder === null ? "AND c.folder IS NULL" : "AND c.folder = $6";
  const { rows } = await sql.query<ConversationListRow>(
    `SELECT ${LISTED} FROM owl.conversation c WHERE ${LISTED_WHERE} ${where}
      ORDER BY c.updated_at DESC, c.id DESC LIMIT $5`,
    [
      query.accountId,
      archived,
      ...beforeValues(query.before),
      query.limit,
      ...(archived || folder === null ? [] : [folder]),
    ],
  );
  return rows;
}

const MOST_FOLDERS = 200;

/** The account's folders by name, each with how many conversations lie in it, archived ones aside. */
export async function listFolders(sql: Sql, accountId: string): Promise<readonly { name: string; count: number }[]> {
  const { rows } = await sql.query<{ name: string; count: number }>(
    `SELECT folder AS name, count(*)::int AS count FROM owl.conversation
      WHERE account_id = $1 AND folder IS NOT NULL AND deleted_at IS NULL AND archived_at IS NULL
      GROUP BY folder ORDER BY folder LIMIT ${MOST_FOLDERS}`,
    [accountId],
  );
  return rows;
}

/** Every page of its owner hears that it is another one now, or gone. */
const tellChanged = (sql: Sql, id: string) => sql.query("SELECT pg_notify('owl_observe', 'conversation:' || $1)", [id]);

interface ConversationChange {
  readonly title?: string;
  readonly pinned?: boolean;
  readonly archived?: boolean;
  /** null: out of the one it lies in. */
  readonly folder?: string | null;
  readonly model?: string | null;
  readonly assistantId?: string | null;
  /** "": none. */
  readonly instructions?: string;
  /** A turn of it that is to be shown. */
  readonly shows?: string;
}

/** Renames, pins, archives, moves, or shows another version; null when it, or the turn to be shown, is not there. */
export async function changeConversation(
  sql: Sql,
  id: string,
  accountId: string,
  change: ConversationChange,
): Promise<ConversationRow | null> {
  const { rows } = await sql.query<ConversationRow>(
    `UPDATE owl.conversation c SET
       title = coalesce($3, title),
       pinned_at = CASE WHEN $4::boolean IS NULL THEN pinned_at WHEN $4 THEN coalesce(pinned_at, clock_timestamp()) END,
       archived_at = CASE WHEN $5::boolean IS NULL THEN archived_at WHEN $5 THEN coalesce(archived_at, clock_timestamp()) END,
       leaf_id = CASE WHEN $6::uuid IS NULL THEN leaf_id ELSE owl.turn_leaf($1, $6) END,
       model = CASE WHEN $7 THEN $8 ELSE model END,
       assistant_id = CASE WHEN $9 THEN $10 ELSE assistant_id END,
       instructions = CASE WHEN $11::text IS NULL THEN instructions ELSE nullif($11, '') END,
       folder = CASE WHEN $12 THEN $13 ELSE folder END
     WHERE c.id = $1 AND c.account_id = $2 AND c.deleted_at IS NULL
       AND ($6::uuid IS NULL OR EXISTS (SELECT 1 FROM owl.turn t WHERE t.id = $6 AND t.conversation_id = $1))
     RETURNING ${COLUMNS}`,
    [
      id,
      accountId,
      change.title ?? null,
      change.pinned ?? null,
      change.archived ?? null,
      change.shows ?? null,
      change.model !== undefined,
      change.model ?? null,
      change.assistantId !== undefined,
      change.assistantId ?? null,
      change.instructions ?? null,
      change.folder !== undefined,
      change.folder ?? null,
    ],
  );
  if (rows[0]) await tellChanged(sql, id);
  return rows[0] ?? null;
}

/**
 * Marks it deleted, deletes the files attached in it, and gives the turns that still run or wait, to be stopped; null
 * when it is not there. The mark comes first: a question accepted before it is seen below, one that comes after is refused.
 */
export async function deleteConversation(
  sql: Sql,
  id: string,
  accountId: string,
): Promise<readonly { id: string; state: string }[] | null> {
  const { rowCount } = await sql.query(
    `UPDATE owl.conversation SET deleted_at = clock_timestamp()
      WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL`,
    [id, accountId],
  );
  if (rowCount === 0) return null;
  await tellChanged(sql, id);
  await sql.query("DELETE FROM owl.attachment a USING owl.turn t WHERE t.conversation_id = $1 AND a.turn_id = t.id", [
    id,
  ]);
  const { rows } = await sql.query<{ id: string; state: string }>(
    "SELECT id, state FROM owl.turn WHERE conversation_id = $1 AND state IN ('queued', 'running', 'waiting')",
    [id],
  );
  return rows;
}
