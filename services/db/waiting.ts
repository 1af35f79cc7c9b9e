// Rows that wait for their owner's word on a step that is to be allowed or may have acted, and the word itself. Invariants: a waiting row holds
// no worker and no queue job; an answer is bound to row, step, tool and argument hash, is written once, and puts the row
// back in line (or ends it) in the same transaction, when no other step of it waits.

import type { StepAnswer } from "../core/journal.ts";
import { failure } from "../core/wire/errors.ts";
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
  /** May it be called, or did it take effect? */
  readonly asks: "approval" | "outcome";
  readonly startedAt: Date | string;
}

/** For a select list: what the row `owner` waits for, as JSON; empty where it does not wait. */
export const askedText = (kind: WaitingKind, owner: string): string => `(SELECT coalesce(jsonb_agg(jsonb_build_object(
    'n', q.position, 'id', q.step_id, 'name', q.tool, 'input', q.input, 'argumentHash', q.argument_hash,
    'asks', CASE q.state WHEN 'asked' THEN 'approval' ELSE 'outcome' END, 'startedAt', q.started_at) ORDER BY q.position), '[]'::jsonb)
   FROM owl.step q WHERE q.${owners[kind].column} = ${owner}.id AND ${owner}.state = 'waiting'
    AND q.state IN ('asked', 'unknown') AND q.answer IS NULL)`;

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

/** What a waiting row asks, whose it is and where in the pages it is seen; null when it is not there. */
export async function findAsked(
  sql: Sql,
  kind: WaitingKind,
  id: string,
): Promise<{ readonly accountId: string; readonly place: string; readonly steps: readonly AskedStep[] } | null> {
  const place = kind === "chat" ? "'/c/' || o.conversation_id" : "'/playbook-runs/' || o.id";
  const { rows } = await sql.query<{ accountId: string; place: string; steps: readonly AskedStep[] }>(
    `SELECT o.account_id AS "accountId", ${place} AS place, ${askedText(kind, "o")} AS steps
       FROM ${owners[kind].table} o WHERE o.id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

/** Who may answer and has a mail address for a name, the owner first. */
export async function listAnswerers(
  sql: Sql,
  accountId: string,
  who: { readonly owner: boolean; readonly administrators: boolean },
): Promise<readonly string[]> {
  const { rows } = await sql.query<{ name: string }>(
    `SELECT name FROM owl.account
      WHERE ((id = $1 AND $3) OR ($2 AND role = 'administrator')) AND disabled_at IS NULL AND name LIKE '%_@_%'
      ORDER BY id = $1 DESC, name LIMIT 20`,
    [accountId, who.administrators, who.owner],
  );
  return rows.map(({ name }) => name);
}

interface Word {
  readonly kind: WaitingKind;
  readonly id: string;
  readonly accountId: string;
  /** The name of whoever gives it. */
  readonly by: string;
  /** Whether whoever gives it may allow or refuse what their own work asks, and what others' does. */
  readonly may: { readonly own: boolean; readonly others: boolean };
  readonly n: number;
  readonly name: string;
  readonly argumentHash: string | null;
  readonly answer: StepAnswer;
}

/**
 * The owner's word. "answered": another word was first; "notWaiting": the row does not wait, or not for this very call;
 * "notApprover": administrators
 * decide; "notFound": there is no such row that the account may answer for. `sql` is a transaction.
 */
export async function answerStep(
  deps: RequeueDeps,
  sql: Sql,
  word: Word,
): Promise<"taken" | "answered" | "notWaiting" | "notApprover" | "notFound"> {
  const { table, column } = owners[word.kind];
  const isApproval = word.answer === "allow" || word.answer === "refuse";
  const refusal = failure("tool.refused", { who: word.by });
  // In the order of locks (pool.ts): a stop will want the conversation.
  if (word.kind === "chat" && word.answer === "stop") {
    await sql.query(
      `SELECT 1 FROM owl.conversation c WHERE c.id = (SELECT t.conversation_id FROM owl.turn t WHERE t.id = $1)
          FOR NO KEY UPDATE`,
      [word.id],
    );
  }
  const { rows } = await sql.query<{ state: string; attempt: number; format: number }>(
    `SELECT state, attempt, format FROM ${table} WHERE id = $1 AND (account_id = $2 OR $3) FOR UPDATE`,
    [word.id, word.accountId, word.may.others && isApproval],
  );
  const row = rows[0];
  if (row === undefined) return "notFound";
  if (isApproval && !word.may.own && !word.may.others) return "notApprover";
  const { rowCount } =
    row.state === "waiting"
      ? await sql.query(
          `UPDATE owl.step SET answer = $5, answered_by = $6, answered_at = clock_timestamp(),
                  state = CASE $5 WHEN 'happened' THEN 'finished' WHEN 'refuse' THEN 'failed' ELSE state END,
                  output = CASE WHEN $5 = 'refuse' THEN $8::jsonb ELSE output END,
                  message = CASE WHEN $5 = 'refuse' THEN $9 ELSE message END,
                  ended_at = CASE WHEN $5 = 'refuse' THEN clock_timestamp() ELSE ended_at END
            WHERE ${column} = $1 AND position = $2 AND tool = $3 AND argument_hash IS NOT DISTINCT FROM $4
              AND state = $7 AND answer IS NULL`,
          [
            word.id,
            word.n,
            word.name,
            word.argumentHash,
            word.answer,
            word.accountId,
            isApproval ? "asked" : "unknown",
            JSON.stringify({ code: refusal.code, next: refusal.next }),
            refusal.message,
          ],
        )
      : { rowCount: 0 };
  if (rowCount !== 1) {
    const { rows: given } = await sql.query(
      `SELECT 1 FROM owl.step WHERE ${column} = $1 AND position = $2 AND answered_at IS NOT NULL`,
      [word.id, word.n],
    );
    return given.length > 0 ? "answered" : "notWaiting";
  }
  if (word.answer === "stop") {
    await stopRow(sql, word.kind, word.id);
    return "taken";
  }
  const { rows: open } = await sql.query(
    `SELECT 1 FROM owl.step WHERE ${column} = $1 AND answer IS NULL
        AND (state = 'asked' OR (state = 'unknown' AND coalesce(effect, 'write') = 'write')) LIMIT 1`,
    [word.id],
  );
  if (open.length === 0) {
    const { kind, id } = word;
    await requeueRow(deps, sql, { kind, id, ...row, queueJob: null, claimedBy: null }, { lost: 0, begun: true });
  }
  return "taken";
}
