// What turns used of their models, and what accounts spent in a month. Invariant: a turn's figures and its account's are
// written by one statement, fenced by the attempt: what an earlier attempt noted already is not added again.

import type { Sql } from "./pool.ts";

export interface Used {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
}

const MONTH = "date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC')::date";

/** Notes what a running turn has used in all; false when its claim is lost. */
export async function noteUsed(
  sql: Sql,
  turn: { readonly id: string; readonly attempt: number },
  used: Used,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH before AS (
       SELECT id, account_id, coalesce(input_tokens, 0) AS input, coalesce(output_tokens, 0) AS output,
              coalesce(cost, 0) AS cost
         FROM owl.turn WHERE id = $1 AND attempt = $2 AND state = 'running' FOR UPDATE),
     noted AS (
       UPDATE owl.turn t SET input_tokens = $3, output_tokens = $4, cost = $5 FROM before WHERE t.id = before.id)
     INSERT INTO owl.spending AS s (account_id, month, input_tokens, output_tokens, cost)
     SELECT account_id, ${MONTH}, greatest($3 - input, 0), greatest($4 - output, 0), greatest($5 - cost, 0) FROM before
         ON CONFLICT (account_id, month) DO UPDATE SET input_tokens = s.input_tokens + excluded.input_tokens,
            output_tokens = s.output_tokens + excluded.output_tokens, cost = s.cost + excluded.cost`,
    [turn.id, turn.attempt, used.inputTokens, used.outputTokens, used.cost],
  );
  return rowCount === 1;
}

/** Adds to the account's month what is no turn's. */
export async function addSpending(sql: Sql, accountId: string, used: Used): Promise<void> {
  await sql.query(
    `INSERT INTO owl.spending AS s (account_id, month, input_tokens, output_tokens, cost)
     SELECT $1, ${MONTH}, $2, $3, $4
         ON CONFLICT (account_id, month) DO UPDATE SET input_tokens = s.input_tokens + excluded.input_tokens,
            output_tokens = s.output_tokens + excluded.output_tokens, cost = s.cost + excluded.cost`,
    [accountId, used.inputTokens, used.outputTokens, used.cost],
  );
}

/** What the account used this month. */
export async function readSpending(sql: Sql, accountId: string): Promise<Used> {
  const { rows } = await sql.query<Used>(
    `SELECT input_tokens::float8 AS "inputTokens", output_tokens::float8 AS "outputTokens", cost
       FROM owl.spending WHERE account_id = $1 AND month = ${MONTH}`,
    [accountId],
  );
  return rows[0] ?? { inputTokens: 0, outputTokens: 0, cost: 0 };
}
