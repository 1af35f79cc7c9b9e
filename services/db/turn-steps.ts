// How a turn was answered, from its journal: what was called, by which release, and how often it was interrupted.

import type { JournalState, StepKind } from "../core/journal.ts";
import type { Sql } from "./pool.ts";
import type { Used } from "./spending.ts";

interface TakenStep {
  readonly n: number;
  readonly kind: StepKind;
  readonly name: string;
  readonly state: JournalState;
  readonly attempt: number;
  readonly release: string | null;
  readonly input: unknown;
  readonly rows: number | null;
  readonly message: string | null;
  readonly startedAt: Date | string;
  readonly endedAt: Date | string | null;
}

interface Receipt {
  readonly attempts: number;
  readonly losses: number;
  readonly used: Used | null;
  readonly steps: readonly TakenStep[];
}

/** The turn's steps in order; null when it is not that account's. */
export async function findReceipt(sql: Sql, id: string, accountId: string): Promise<Receipt | null> {
  const { rows } = await sql.query<Receipt>(
    `SELECT greatest(t.attempt - k.taken, 0) AS attempts, t.losses, CASE WHEN t.cost IS NOT NULL THEN jsonb_build_object(
              'inputTokens', t.input_tokens, 'outputTokens', t.output_tokens, 'cost', t.cost) END AS used, coalesce((SELECT jsonb_agg(jsonb_build_object('n', s.position,
              'kind', s.kind, 'name', s.tool, 'state', s.state, 'attempt', greatest(s.attempt - k.taken, 0), 'release', s.release,
              'input', s.input, 'rows', CASE WHEN s.kind = 'tool' AND jsonb_typeof(s.output->'rows') = 'number'
                                             THEN s.output->'rows' END,
              'message', s.message, 'startedAt', s.started_at, 'endedAt', s.ended_at) ORDER BY s.position)
         FROM owl.step s WHERE s.turn_id = t.id), '[]'::jsonb) AS steps
       FROM owl.turn t JOIN owl.conversation c ON c.id = t.conversation_id AND c.deleted_at IS NULL
       -- Asked again from a step: what was taken over counts as no attempt.
       CROSS JOIN LATERAL (SELECT EXISTS (SELECT 1 FROM owl.step o WHERE o.turn_id = t.id AND o.attempt = 0)::int AS taken) k
      WHERE t.id = $1 AND t.account_id = $2`,
    [id, accountId],
  );
  return rows[0] ?? null;
}
