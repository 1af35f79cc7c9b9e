// What a responder needs of a turn: its question, what it follows, and what stands before it (instructions, the chat's
// assistant). One statement a turn.

import type { Role } from "../core/approval.ts";
import type { Assistant } from "../core/assistant.ts";
import type { Sql } from "./pool.ts";

export const HISTORY_TURNS = 30;

interface TurnToAnswer {
  readonly accountId: string;
  readonly role: Role;
  readonly text: string;
  /** The model that was chosen; null: the usual one. */
  readonly model: string | null;
  /** The turns it follows, oldest first, at most HISTORY_TURNS. */
  readonly history: readonly { readonly text: string; readonly answer: string | null }[];
  /** Files are attached in its conversation (attachments.ts reads them). */
  readonly hasFiles: boolean;
  /** Of everyone, of its account, of its chat; those there are. */
  readonly instructions: readonly string[];
  /** That of its chat; null: none, or one that is gone. */
  readonly assistant: Assistant | null;
}

/** null when it is not there. */
export async function findTurnToAnswer(sql: Sql, id: string): Promise<TurnToAnswer | null> {
  const { rows } = await sql.query<TurnToAnswer>(
    `SELECT t.account_id AS "accountId", t.text, t.model,
            (SELECT a.role FROM owl.account a WHERE a.id = t.account_id) AS role,
            coalesce((SELECT jsonb_agg(jsonb_build_object('text', h.text, 'answer', h.answer) ORDER BY w.n DESC)
                        FROM owl.turn_path(owl.turn_parent(t.id), ${HISTORY_TURNS}) w
                        JOIN owl.turn h ON h.id = w.id AND h.ended_at IS NOT NULL), '[]'::jsonb) AS history,
            EXISTS (SELECT 1 FROM owl.turn o JOIN owl.attachment a ON a.turn_id = o.id
                     WHERE o.conversation_id = t.conversation_id) AS "hasFiles",
            to_jsonb(array_remove(
              ARRAY(SELECT i.text FROM owl.instructions i WHERE i.account_id IS NULL OR i.account_id = t.account_id
                     ORDER BY i.account_id NULLS FIRST) || c.instructions, NULL)) AS instructions,
            (SELECT jsonb_build_object('name', s.name, 'instructions', s.instructions, 'model', s.model,
                      'temperature', s.temperature, 'tools', s.tools, 'dataSources', s.data_sources)
               FROM owl.assistant s
              WHERE s.id = c.assistant_id AND (s.account_id = t.account_id OR s.shared)) AS assistant
       FROM owl.turn t JOIN owl.conversation c ON c.id = t.conversation_id WHERE t.id = $1`,
    [id],
  );
  return rows[0] ?? null;
}
