// Idempotency keys: kept 24 h per account and route.

import type { Sql } from "./pool.ts";

export interface KeptAnswer {
  readonly bodyHash: Buffer;
  readonly status: number;
  readonly response: unknown;
}

/** Keeps the answer under a new key (null), or gives what was kept before; waits for a concurrent first use. */
export async function keepIdempotencyKey(
  sql: Sql,
  entry: KeptAnswer & { readonly accountId: string; readonly route: string; readonly key: string },
): Promise<KeptAnswer | null> {
  const { rowCount } = await sql.query(
    `INSERT INTO owl.idempotency_key AS k (account_id, route, key, body_hash, status, response)
     VALUES ($1, $2, $3, $4, $5, $6::jsonb)
     ON CONFLICT (account_id, route, key) DO UPDATE
        SET body_hash = excluded.body_hash, status = excluded.status, response = excluded.response,
            created_at = clock_timestamp()
      WHERE k.created_at < statement_timestamp() - interval '24 hours'`,
    [entry.accountId, entry.route, entry.key, entry.bodyHash, entry.status, JSON.stringify(entry.response)],
  );
  if (rowCount === 1) return null;
  const { rows } = await sql.query<KeptAnswer>(
    `SELECT body_hash AS "bodyHash", status, response FROM owl.idempotency_key
      WHERE account_id = $1 AND route = $2 AND key = $3`,
    [entry.accountId, entry.route, entry.key],
  );
  return rows[0] ?? null;
}

/** Forgets keys older than 24 h, at most `limit`; answers how many. */
export async function forgetIdempotencyKeys(sql: Sql, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM owl.idempotency_key WHERE (account_id, route, key) IN (
       SELECT account_id, route, key FROM owl.idempotency_key
        WHERE created_at < statement_timestamp() - interval '24 hours' LIMIT $1)`,
    [limit],
  );
  return rowCount;
}
