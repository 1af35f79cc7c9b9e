// What an account holds of what is bounded (`limits` of owl.yaml). Invariant: who adds to it inserts, takes the account's
// lock and then looks, in one transaction: of two that add at once the second sees the first one's.

import type { Sql } from "./pool.ts";

export interface Usage {
  /** Questions waiting or running. */
  readonly turns: number;
  /** Uploads that are not complete, and the bytes announced for them. */
  readonly uploads: number;
  readonly uploadBytes: number;
  /** Files attached and not sent. */
  readonly attachments: number;
  /** Bytes of recordings (also those announced) and attached files. */
  readonly storedBytes: number;
}

/** Of an account that was made a moment ago. */
export const NOTHING_HELD: Usage = { turns: 0, uploads: 0, uploadBytes: 0, attachments: 0, storedBytes: 0 };

const COUNTED = `t.turns, u.uploads, u."uploadBytes", f.attachments, u.bytes + f.bytes AS "storedBytes"`;

const USAGE_OF = (account: string) => `
  LATERAL (SELECT count(*)::int AS turns FROM owl.turn
            WHERE account_id = ${account} AND state IN ('queued', 'running', 'waiting')) t,
  LATERAL (SELECT count(*) FILTER (WHERE completed_at IS NULL)::int AS uploads,
                  coalesce(sum(coalesce(length, bytes)) FILTER (WHERE completed_at IS NULL), 0)::float8 AS "uploadBytes",
                  coalesce(sum(coalesce(length, bytes)), 0)::float8 AS bytes
             FROM owl.upload WHERE account_id = ${account} AND deleted_at IS NULL) u,
  LATERAL (SELECT count(*) FILTER (WHERE turn_id IS NULL)::int AS attachments, coalesce(sum(bytes), 0)::float8 AS bytes
             FROM owl.attachment WHERE account_id = ${account}) f`;

/** Until the transaction ends, nobody else adds to what the account holds. */
export async function lockUsage(sql: Sql, accountId: string): Promise<void> {
  await sql.query("SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, 2))", [accountId]);
}

export async function readUsage(sql: Sql, accountId: string): Promise<Usage> {
  const { rows } = await sql.query<Usage>(`SELECT ${COUNTED} FROM ${USAGE_OF("$1")}`, [accountId]);
  return rows[0] as Usage;
}

/** Of every account, by its id. */
export async function listUsage(sql: Sql): Promise<ReadonlyMap<string, Usage>> {
  const { rows } = await sql.query<Usage & { id: string }>(
    `SELECT a.id, ${COUNTED} FROM owl.account a, ${USAGE_OF("a.id")}`,
  );
  return new Map(rows.map(({ id, ...usage }) => [id, usage]));
}
