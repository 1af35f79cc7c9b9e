// Rows that wait for their owner's word on a step that may have acted, and the word itself. Invariants: a waiting row holds
// no worker and no queue job; an answer is bound to row, step, tool and argument hash, is written once, and puts the row
// back in line (or ends it) in the same transaction, when no other step of it waits.

import type { StepAnswer } from "../core/journal.ts";
import { type JournalledKind, owners, type StepFence } from "./journal.ts";
import type { Sql } from "./pool.ts";
import { type RequeueDeps, requeueRow } from "./requeue.ts";
import { stopRow } from "./stops.ts";

/** Kinds that may wait: an analysis only reads. */
export type WaitingKind = Exclude<JournalledKind, "schema-analysis">;

/** A step whose owner is asked, as its row tells it. */
export interface AskedStep {
  readonly n: number;
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly argumentHash: string | null;
  readonly startedAt: Date | string;
}

/** For a select list: what the row `owner` waits for, as JSON; empty where it does not wait. */
export const askedText = (kind: WaitingKind, owner: string): string => `(SELECT coalesce(jsonb_agg(jsonb_build_object(
    'n', q.position, 'id', q.step_id, 'name', q.tool, 'input', q.input, 'argumentHash', q.argument_hash,
    'startedAt', q.started_at) ORDER BY q.position), '[]'::jsonb)
   FROM owl.step q WHERE q.${owners[kind].column} = ${owner}.id AND ${owner}.state = 'waiting'
    AND q.state = 'unknown' AND q.answer IS NULL)`;

/** running -> waiting: writes that were begun and have no end are unknown from here on. False when the claim is lost. */
export async function waitForOwner(sql: Sql, fence: StepFence & { readonly kind: WaitingKind }): Promise<boolean> {
  const { table, column, tell } = owners[fence.kind];
  const { rowCount } = await sql.query(
    `UPDATE ${table} SET state = 'waiting', claimed_by = NULL, queue_job = NULL
      WHERE id = $1 AND attempt = $2 AND state = 'running'`,
    [fence.id, fence.attempt],
  );
  if (rowCount !== 1) return false;
  await sql.query(
    `UPDATE owl.step SET state = 'unknown', ended_at = clock_timestamp()
      WHERE ${column} = $1 AND state = 'started' AND coalesce(effect, 'write') = 'write'`,
    [fence.id],
  );
  if (fence.kind === "chat") {
    await sql.query(
      `INSERT INTO owl.turn_event (turn_id, seq, kind, data)
       SELECT t.id, coalesce((SELECT max(seq) FROM owl.turn_event WHERE turn_id = t.id), 0) + 1, 'state',
              jsonb_build_object('state', 'waiting', 'waitsFor', ${askedText("chat", "t")})
         FROM owl.turn t WHERE t.id = $1`,
      [fence.id],
    );
  }
  await sql.query(`SELECT ${tell} FROM (SELECT $1::uuid AS owner) o`, [fence.id]);
  return true;
}

interface Word {
  readonly kind: WaitingKind;
  readonly id: string;
  readonly accountId: string;
  readonly n: number;
  readonly name: string;
  readonly argumentHash: string | null;
  readonly answer: StepAnswer;
}

/**
 * The owner's word. "answered": another word was first; "notWaiting": the row does not wait, or not for this very call;
 * "notFound": there is no such row of that account. `sql` is a transaction.
 */
export async function answerStep(
  deps: RequeueDeps,
  sql: Sql,
  word: Word,
): Promise<"taken" | "answered" | "notWaiting" | "notFound"> {
  const { table, column } = owners[word.kind];
  // In the order of locks (pool.ts): a stop will want the conversation.
  if (word.kind === "chat" && word.answer === "stop") {
    await sql.query(
      `SELECT 1 FROM owl.conversation c WHERE c.id = (SELECT t.conversation_id FROM owl.turn t WHERE t.id = $1)
          FOR NO KEY UPDATE`,
      [word.id],
    );
  }
  const { rows } = await sql.query<{ state: string; attempt: number; format: number }>(
    `SELECT state, attempt, format FROM ${table} WHERE id = $1 AND account_id = $2 FOR UPDATE`,
    [word.id, word.accountId],
  );
  const row = rows[0];
  if (row === undefined) return "notFound";
  const { rowCount } =
    row.state === "waiting"
      ? await sql.query(
          `UPDATE owl.step SET answer = $5, answered_by = $6, answered_at = clock_timestamp(),
                  state = CASE WHEN $5 = 'happened' THEN 'finished' ELSE state END
            WHERE ${column} = $1 AND position = $2 AND tool = $3 AND argument_hash IS NOT DISTINCT FROM $4
              AND state = 'unknown' AND answer IS NULL`,
          [word.id, word.n, word.name, word.argumentHash, word.answer, word.accountId],
        )
      : { rowCount: 0 };
  if (rowCount !== 1) {
    const { rows: given } = await sql.query<{ answer: string | null }>(
      `SELECT answer FROM owl.step WHERE ${column} = $1 AND position = $2 AND answer IS NOT NULL`,
      [word.id, word.n],
    );
    return given.length > 0 ? "answered" : "notWaiting";
  }
  if (word.answer === "stop") {
    await stopRow(sql, word.kind, word.id);
    return "taken";
  }
  const { rows: open } = await sql.query(
    `SELECT 1 FROM owl.step WHERE ${column} = $1 AND state = 'unknown' AND answer IS NULL AND coalesce(effect, 'write') = 'write' LIMIT 1`,
    [word.id],
  );
  if (open.length === 0) {
    const { kind, id } = word;
    await requeueRow(deps, sql, { kind, id, ...row, queueJob: null, claimedBy: null }, { lost: 0, begun: true });
  }
  return "taken";
}
