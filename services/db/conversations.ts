// Conversations. Invariant: every statement names the owner; another one's conversation is not found.

import type { TurnState } from "../core/turn.ts";
import type { Sql } from "./pool.ts";

export interface ConversationRow {
  readonly id: string;
  readonly title: string;
  readonly pinnedAt: Date | null;
  readonly archivedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

interface ConversationListRow extends ConversationRow {
  /** State of its newest turn, null without one. */
  readonly turnState: TurnState | null;
  /** updated_at in microseconds, for paging. */
  readonly cursor: string;
}

const COLUMNS = `c.id, c.title, c.pinned_at AS "pinnedAt", c.archived_at AS "archivedAt",
  c.created_at AS "createdAt", c.updated_at AS "updatedAt"`;

export async function findConversation(sql: Sql, id: string, accountId: string): Promise<ConversationRow | null> {
  const { rows } = await sql.query<ConversationRow>(
    `SELECT ${COLUMNS} FROM owl.conversation c WHERE c.id = $1 AND c.account_id = $2 AND c.deleted_at IS NULL`,
    [id, accountId],
  );
  return rows[0] ?? null;
}

export async function insertConversation(
  sql: Sql,
  conversation: { id: string; accountId: string; title: string },
): Promise<ConversationRow> {
  const { rows } = await sql.query<ConversationRow>(
    `INSERT INTO owl.conversation AS c (id, account_id, title) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`,
    [conversation.id, conversation.accountId, conversation.title],
  );
  return rows[0] as ConversationRow;
}

interface ConversationQuery {
  readonly accountId: string;
  readonly archived: boolean;
  /** Words looked for in titles, questions and answers; null: all. */
  readonly search: string | null;
  /** `cursor` and id of the last row of the page before. */
  readonly before: { readonly cursor: string; readonly id: string } | null;
  readonly limit: number;
}

/** The account's conversations, newest activity first. */
export async function listConversations(sql: Sql, query: ConversationQuery): Promise<readonly ConversationListRow[]> {
  const { rows } = await sql.query<ConversationListRow>(
    `SELECT ${COLUMNS}, n.state AS "turnState",
            (extract(epoch FROM c.updated_at) * 1000000)::bigint::text AS cursor
       FROM owl.conversation c
       LEFT JOIN LATERAL (SELECT state FROM owl.turn t WHERE t.conversation_id = c.id
                           ORDER BY t.created_at DESC, t.id DESC LIMIT 1) n ON true
      WHERE c.account_id = $1 AND c.deleted_at IS NULL AND (c.archived_at IS NOT NULL) = $2
        AND ($3::text IS NULL OR c.title ILIKE $3 OR EXISTS (
              SELECT 1 FROM owl.turn t WHERE t.conversation_id = c.id AND (t.text ILIKE $3 OR t.answer ILIKE $3)))
        AND ($4::bigint IS NULL
             OR ((extract(epoch FROM c.updated_at) * 1000000)::bigint, c.id) < ($4::bigint, $5::uuid))
      ORDER BY c.updated_at DESC, c.id DESC LIMIT $6`,
    [
      query.accountId,
      query.archived,
      query.search === null ? null : `%${query.search.replace(/[\\%_]/g, "\\$&")}%`,
      query.before?.cursor ?? null,
      query.before?.id ?? null,
      query.limit,
    ],
  );
  return rows;
}

interface ConversationChange {
  readonly title?: string;
  readonly pinned?: boolean;
  readonly archived?: boolean;
}

/** Renames, pins or archives; null when it is not there. */
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
       archived_at = CASE WHEN $5::boolean IS NULL THEN archived_at WHEN $5 THEN coalesce(archived_at, clock_timestamp()) END
     WHERE c.id = $1 AND c.account_id = $2 AND c.deleted_at IS NULL RETURNING ${COLUMNS}`,
    [id, accountId, change.title ?? null, change.pinned ?? null, change.archived ?? null],
  );
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
  await sql.query("DELETE FROM owl.attachment a USING owl.turn t WHERE t.conversation_id = $1 AND a.turn_id = t.id", [
    id,
  ]);
  const { rows } = await sql.query<{ id: string; state: string }>(
    "SELECT id, state FROM owl.turn WHERE conversation_id = $1 AND state IN ('queued', 'running')",
    [id],
  );
  return rows;
}
