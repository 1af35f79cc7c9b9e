// A conversation's title: its first question, until its model or a person gives another. Invariant: what a person wrote
// is never replaced.

import type { Sql } from "./pool.ts";

/** The title that a first question gives; `text` is a parameter or a column. */
export const titleText = (text: string): string => `left(regexp_replace(left(${text}, 1000), '\\s+', ' ', 'g'), 80)`;

interface Untitled {
  readonly conversationId: string;
  readonly accountId: string;
  readonly question: string;
  readonly answer: string;
}

const CHARACTERS = 2_000;

/** The beginning of an answered turn whose conversation has no other one, and no title but its question; else null. */
export async function findUntitled(sql: Sql, turnId: string): Promise<Untitled | null> {
  const { rows } = await sql.query<Untitled>(
    `SELECT c.id AS "conversationId", t.account_id AS "accountId", left(t.text, ${CHARACTERS}) AS question,
            left(t.answer, ${CHARACTERS}) AS answer
       FROM owl.turn t JOIN owl.conversation c ON c.id = t.conversation_id AND c.deleted_at IS NULL
      WHERE t.id = $1 AND t.state = 'answered' AND c.title = ${titleText("t.text")}
        AND NOT EXISTS (SELECT 1 FROM owl.turn o WHERE o.conversation_id = c.id AND o.id <> t.id)`,
    [turnId],
  );
  return rows[0] ?? null;
}

/** false: it has another title by now, or is gone. */
export async function giveTitle(sql: Sql, turnId: string, title: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH given AS (
       UPDATE owl.conversation c SET title = $2 FROM owl.turn t
        WHERE t.id = $1 AND c.id = t.conversation_id AND c.deleted_at IS NULL AND c.title = ${titleText("t.text")}
        RETURNING c.id)
     SELECT pg_notify('owl_observe', 'conversation:' || id) FROM given`,
    [turnId, title],
  );
  return rowCount === 1;
}
