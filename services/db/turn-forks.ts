// A question asked again from a step of its answer: in a new conversation, with what came before copied there. Invariants:
// what is copied was its owner's; steps before that one stand as they are on record and are not called again, and a call
// whose outcome is not known is asked about, as it would be where it was made.

import { failure } from "../core/wire/errors.ts";
import { CONTENT } from "./attachments.ts";
import { insertConversation } from "./conversations.ts";
import type { Sql } from "./pool.ts";
import type { JobQueue } from "./queue.ts";
import { HISTORY_TURNS } from "./turn-to-answer.ts";
import { acceptTurn } from "./turns.ts";

interface Fork {
  /** The turn and the step it is asked again from. */
  readonly of: string;
  readonly n: number;
  readonly accountId: string;
  readonly id: string;
  readonly conversationId: string;
  readonly queueJob: string;
  readonly claimMs: number;
  readonly requestId: string;
  readonly most: number;
}

interface ForkedTurn {
  readonly text: string;
  readonly title: string;
  readonly model: string | null;
  readonly assistantId: string | null;
  readonly instructions: string | null;
  readonly hasEnded: boolean;
}

/** Throws `turn.notFound`, `turn.running`; "full": the account has `most` in line. `sql` is a transaction. */
export async function forkTurn(
  sql: Sql,
  queue: Pick<JobQueue, "enqueueWithin">,
  fork: Fork,
): Promise<"accepted" | "full"> {
  const { rows } = await sql.query<ForkedTurn>(
    `SELECT t.text, c.title, t.model, c.assistant_id AS "assistantId", c.instructions, t.ended_at IS NOT NULL AS "hasEnded"
       FROM owl.turn t JOIN owl.conversation c ON c.id = t.conversation_id AND c.deleted_at IS NULL
      WHERE t.id = $1 AND t.account_id = $2`,
    [fork.of, fork.accountId],
  );
  const source = rows[0];
  if (source === undefined) throw failure("turn.notFound");
  if (!source.hasEnded) throw failure("turn.running");
  const { conversationId, accountId, id } = fork;
  await insertConversation(sql, { ...source, id: conversationId, accountId });
  await sql.query(COPY_HISTORY, [fork.of, conversationId]);
  const steps = await sql.query<{ one: number }>(`SELECT 1 AS one ${KEPT_STEPS} LIMIT 1`, [fork.of, fork.n]);
  const begun = steps.rows.length > 0;
  const accepted = await acceptTurn(sql, queue, { ...fork, text: source.text, begun });
  if (accepted !== "accepted") return "full";
  await sql.query(COPY_FILES, [fork.of, id]);
  if (begun) {
    await sql.query(COPY_STEPS, [fork.of, fork.n, id]);
    await sql.query("UPDATE owl.turn SET attempt = 1 WHERE id = $1", [id]);
  }
  return "accepted";
}

const FILE_COLUMNS = `account_id, position, ${CONTENT}`;

// What the model would be told of the turns that it follows, and what the page shows of them: one after the other there.
const COPY_HISTORY = `
  WITH earlier AS MATERIALIZED (
    SELECT w.id, gen_random_uuid() AS copy
      FROM owl.turn_path(owl.turn_parent($1), ${HISTORY_TURNS}) w
      JOIN owl.turn p ON p.id = w.id AND p.ended_at IS NOT NULL),
  turns AS (
    INSERT INTO owl.turn (id, conversation_id, account_id, text, state, claim_deadline_at, answer, message, cause,
                          created_at, claimed_at, ended_at)
    SELECT e.copy, $2, p.account_id, p.text, p.state, p.claim_deadline_at, p.answer, p.message, p.cause,
           p.created_at, p.claimed_at, p.ended_at
      FROM earlier e JOIN owl.turn p ON p.id = e.id),
  events AS (
    INSERT INTO owl.turn_event (turn_id, seq, kind, data, at)
    SELECT e.copy, v.seq, v.kind, v.data, v.at FROM earlier e JOIN owl.turn_event v ON v.turn_id = e.id)
  INSERT INTO owl.attachment (id, turn_id, ${FILE_COLUMNS})
  SELECT gen_random_uuid(), e.copy, ${FILE_COLUMNS.replaceAll(/\w+/g, "a.$&")}
    FROM earlier e JOIN owl.attachment a ON a.turn_id = e.id`;

const COPY_FILES = `
  INSERT INTO owl.attachment (id, turn_id, ${FILE_COLUMNS})
  SELECT gen_random_uuid(), $2, ${FILE_COLUMNS} FROM owl.attachment WHERE turn_id = $1`;

const KEPT_STEPS = `
  FROM owl.step s WHERE s.turn_id = $1 AND s.position < $2
   AND (s.state IN ('finished', 'failed') OR (s.state IN ('started', 'unknown') AND s.effect = 'write'))`;

// Attempt 0: it was taken where the question was asked first.
const COPY_STEPS = `
  INSERT INTO owl.step (turn_id, position, step_id, kind, tool, effect, argument_hash, input, output, message, text_length,
                        release, started_at, ended_at, attempt, state)
  SELECT $3, s.position, s.step_id, s.kind, s.tool, s.effect, s.argument_hash, s.input, s.output, s.message, s.text_length,
         s.release, s.started_at, s.ended_at, 0, CASE s.state WHEN 'started' THEN 'unknown' ELSE s.state END ${KEPT_STEPS}`;
