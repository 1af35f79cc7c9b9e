// The journal in the database: the steps of turns, runs and analyses. Invariants: a step is marked started before its call
// and ended after; both marks are fenced by attempt and state of its owner's row, and the row count is the answer; a write
// of an earlier attempt is begun again only with its owner's word "again" on it, which is used up by that.

import type { JobKind } from "../../config/config.ts";
import type { JournalState, JournalStep, StepKind } from "../core/journal.ts";
import { type Effect, effectOf, type ToolName } from "../core/tool-effects.ts";
import { storableJson } from "../core/wire/json.ts";
import type { Sql } from "./pool.ts";

/** Kinds whose steps are journalled: a transcription's segments are its own record. */
export type JournalledKind = Exclude<JobKind, "transcription">;

/** Where a kind's rows lie, the step's column that names one, and the channel that tells of its steps. */
export const owners: Readonly<
  Record<JournalledKind, { readonly table: string; readonly column: string; readonly tell: string }>
> = {
  chat: { table: "owl.turn", column: "turn_id", tell: "pg_notify('owl_turn', owner::text)" },
  playbook: {
    table: "owl.playbook_run",
    column: "run_id",
    tell: "pg_notify('owl_observe', 'playbook:' || owner::text)",
  },
  "schema-analysis": {
    table: "owl.schema_analysis",
    column: "analysis_id",
    tell: "pg_notify('owl_observe', 'schema-analysis:' || owner::text)",
  },
};

/** The running attempt that writes. */
export interface StepFence {
  readonly kind: JournalledKind;
  readonly id: string;
  readonly attempt: number;
}

type StoredStep = Omit<JournalStep, "effect"> & { readonly effect: Effect | null; readonly input: unknown };

/** Every step on record, in order. */
export async function listJournal(sql: Sql, kind: JournalledKind, id: string): Promise<readonly JournalStep[]> {
  const { rows } = await sql.query<StoredStep>(
    `SELECT position AS n, step_id AS id, kind, tool AS name, argument_hash AS "argumentHash", effect, state, attempt,
            output, message, answer, text_length AS "textLength",
            CASE WHEN effect IS NULL THEN input END AS input
       FROM owl.step WHERE ${owners[kind].column} = $1 ORDER BY position`,
    [id],
  );
  return rows.map(({ input, ...step }) => ({
    ...step,
    // Written by code of before: only runs had steps then.
    effect: step.effect ?? effectOf(step.name as ToolName, (input ?? {}) as Readonly<Record<string, unknown>>),
  }));
}

interface NewStep {
  readonly state: "asked" | "started";
  readonly n: number;
  readonly id: string;
  readonly kind: StepKind;
  readonly name: string;
  readonly effect: Effect;
  readonly argumentHash: string;
  readonly input: unknown;
  readonly textLength: number | null;
}

/**
 * Reads the claim again and marks the step started (or asked about), in one statement; false when the claim is lost, or the step is on
 * record in a way that forbids its call. Sent again after an outage it answers as before.
 */
export async function beginStep(sql: Sql, fence: StepFence, step: NewStep): Promise<boolean> {
  const { table, column, tell } = owners[fence.kind];
  const { rowCount } = await sql.query(
    `WITH held AS (
       SELECT id, claimed_by FROM ${table} WHERE id = $1 AND attempt = $2 AND state = 'running' FOR UPDATE),
     begun AS (
       INSERT INTO owl.step AS s (${column}, position, step_id, kind, tool, effect, argument_hash, input, text_length,
                                  state, attempt, release)
       SELECT held.id, $3, $4, $5, $6, $7, $8, $9::jsonb, $10, $11, $2, (SELECT w.release FROM owl.worker w WHERE w.id = held.claimed_by) FROM held
       ON CONFLICT (${column}, position) DO UPDATE
          SET state = excluded.state, release = excluded.release, attempt = excluded.attempt, effect = excluded.effect, input = excluded.input,
              argument_hash = excluded.argument_hash, text_length = excluded.text_length, output = NULL, message = NULL,
              answer = NULL, answered_at = CASE WHEN excluded.state = 'started' THEN s.answered_at END, started_at = clock_timestamp(), ended_at = NULL
        WHERE s.tool = excluded.tool
          AND (excluded.state = 'asked' OR coalesce(s.argument_hash, excluded.argument_hash) = excluded.argument_hash)
          AND CASE WHEN excluded.state = 'asked' THEN s.state = 'asked'
                   WHEN s.state = 'asked' THEN s.answer = 'allow'
                   WHEN s.attempt = $2 THEN s.state = 'started' OR s.kind = 'model'
                   WHEN s.state IN ('started', 'unknown') THEN
                     (coalesce(s.effect, 'write') <> 'write' OR s.answer = 'again'
                      OR (s.effect IS NULL AND excluded.effect = 'read'))
                   ELSE s.kind = 'model' AND s.state = 'failed' END
       RETURNING s.${column} AS owner)
     SELECT ${fence.kind === "chat" ? "1" : tell} FROM begun`,
    [
      fence.id,
      fence.attempt,
      step.n,
      step.id,
      step.kind,
      step.name,
      step.effect,
      step.argumentHash,
      storableJson(step.input),
      step.textLength,
      step.state,
    ],
  );
  return rowCount === 1;
}

/** Marks how the call ended; false when the claim is lost (a write is then its owner's to judge). */
export async function endStep(
  sql: Sql,
  fence: StepFence,
  step: {
    readonly n: number;
    readonly state: Exclude<JournalState, "asked" | "started">;
    readonly output: unknown;
    readonly message: string | null;
  },
): Promise<boolean> {
  const { table, column, tell } = owners[fence.kind];
  const { rowCount } = await sql.query(
    `WITH held AS (SELECT id FROM ${table} WHERE id = $1 AND attempt = $2 AND state = 'running'),
     marked AS (
       UPDATE owl.step s SET state = $4, output = $5::jsonb, message = $6, ended_at = clock_timestamp()
         FROM held WHERE s.${column} = held.id AND s.position = $3 AND s.attempt = $2 AND s.state = 'started'
       RETURNING s.${column} AS owner),
     already AS (
       SELECT s.${column} AS owner FROM owl.step s JOIN held ON held.id = s.${column}
        WHERE s.position = $3 AND s.attempt = $2 AND s.state = $4)
     SELECT ${fence.kind === "chat" ? "1" : tell} FROM (SELECT owner FROM marked UNION SELECT owner FROM already) known`,
    [fence.id, fence.attempt, step.n, step.state, storableJson(step.output), step.message],
  );
  return rowCount === 1;
}
