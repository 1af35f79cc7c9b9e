// What people thought of answers. Invariant: only the owner of an ended turn says it; whoever administers reads the turns
// that feedback was given on, no others, and none of a chat that was deleted.

import { type Before, beforeText, beforeValues, cursorText } from "./keyset.ts";
import type { Sql } from "./pool.ts";

/** Says it, or says it anew; the turn's conversation, null where the account has no such ended turn. */
export async function giveFeedback(
  sql: Sql,
  turn: { readonly id: string; readonly accountId: string },
  feedback: { readonly good: boolean; readonly note: string },
): Promise<string | null> {
  const { rows } = await sql.query<{ id: string }>(
    `WITH t AS (SELECT id, account_id, conversation_id FROM owl.turn
                 WHERE id = $1 AND account_id = $2 AND ended_at IS NOT NULL),
     f AS (INSERT INTO owl.feedback (turn_id, account_id, good, note) SELECT id, account_id, $3, $4 FROM t
           ON CONFLICT (turn_id) DO UPDATE SET good = excluded.good, note = excluded.note, at = excluded.at)
     SELECT conversation_id AS id, pg_notify('owl_observe', 'conversation:' || conversation_id) FROM t`,
    [turn.id, turn.accountId, feedback.good, feedback.note],
  );
  return rows[0]?.id ?? null;
}

/** Takes it back; false where there is none. */
export async function takeBackFeedback(sql: Sql, turnId: string, accountId: string): Promise<boolean> {
  const { rows } = await sql.query(
    `WITH f AS (DELETE FROM owl.feedback WHERE turn_id = $1 AND account_id = $2 RETURNING turn_id)
     SELECT pg_notify('owl_observe', 'conversation:' || t.conversation_id) FROM f JOIN owl.turn t ON t.id = f.turn_id`,
    [turnId, accountId],
  );
  return rows.length === 1;
}

interface FeedbackRow {
  readonly id: string;
  readonly cursor: string;
  readonly conversationId: string;
  readonly own: boolean;
  readonly account: string;
  readonly at: Date;
  readonly good: boolean;
  readonly note: string;
  readonly question: string;
  readonly answer: string;
  readonly model: string | null;
  readonly assistant: string | null;
}

const FROM = `owl.feedback f JOIN owl.turn t ON t.id = f.turn_id
  JOIN owl.conversation c ON c.id = t.conversation_id AND c.deleted_at IS NULL`;

/** The newest first; `reader` is who administers. */
export async function listFeedback(
  sql: Sql,
  query: {
    readonly reader: string;
    readonly good: boolean | null;
    readonly before: Before;
    readonly limit: number;
  },
): Promise<readonly FeedbackRow[]> {
  const { rows } = await sql.query<FeedbackRow>(
    `SELECT t.id, ${cursorText("f.at")} AS cursor, c.id AS "conversationId", c.account_id = $1 AS own, a.name AS account,
            f.at, f.good, f.note, left(t.text, 2000) AS question, left(coalesce(t.answer, ''), 8000) AS answer, t.model,
            (SELECT s.name FROM owl.assistant s
              WHERE s.id = c.assistant_id AND (s.account_id = c.account_id OR s.shared)) AS assistant
       FROM ${FROM} JOIN owl.account a ON a.id = f.account_id
      WHERE ($2::boolean IS NULL OR f.good = $2) AND ${beforeText("f.at", "f.turn_id", "$3", "$4")}
      ORDER BY f.at DESC, f.turn_id DESC LIMIT $5`,
    [query.reader, query.good, ...beforeValues(query.before), query.limit],
  );
  return rows;
}

export async function countFeedback(
  sql: Sql,
): Promise<{ readonly good: number; readonly bad: number; readonly noted: number }> {
  const { rows } = await sql.query<{ good: number; bad: number; noted: number }>(
    `SELECT count(*) FILTER (WHERE f.good)::int AS good, count(*) FILTER (WHERE NOT f.good)::int AS bad,
            count(*) FILTER (WHERE f.note <> '')::int AS noted FROM ${FROM}`,
  );
  return rows[0] ?? { good: 0, bad: 0, noted: 0 };
}
