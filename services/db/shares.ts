// Read-only links. Invariants: a link shows what was shown when it was made, and nothing that came later; one whose time
// is over, or whose conversation or account is gone, is not found; of its token only the hash is here.

import type { Sql } from "./pool.ts";

interface ShareRow {
  readonly id: string;
  readonly conversationId: string;
  readonly title: string;
  readonly forAnyone: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const COLUMNS = `s.id, s.conversation_id AS "conversationId", c.title, s.for_anyone AS "forAnyone",
  s.created_at AS "createdAt", s.expires_at AS "expiresAt"`;
const LIVING = "s.expires_at > statement_timestamp() AND c.deleted_at IS NULL";

interface NewShare {
  readonly id: string;
  readonly conversationId: string;
  readonly accountId: string;
  readonly tokenHash: Buffer;
  readonly forAnyone: boolean;
  readonly lifeMs: number;
}

/** null: there is no such conversation of that account, or nothing was asked in it. */
export async function insertShare(sql: Sql, share: NewShare): Promise<ShareRow | null> {
  const { rows } = await sql.query<ShareRow>(
    `WITH c AS MATERIALIZED (
       SELECT c.id, c.account_id, c.title, c.deleted_at, coalesce(c.leaf_id,
                (SELECT t.id FROM owl.turn t WHERE t.conversation_id = c.id
                  ORDER BY t.created_at DESC, t.id DESC LIMIT 1)) AS leaf_id
         FROM owl.conversation c WHERE c.id = $2 AND c.account_id = $3 AND c.deleted_at IS NULL),
     s AS (
       INSERT INTO owl.share (id, conversation_id, account_id, token_hash, for_anyone, leaf_id, expires_at)
       SELECT $1, c.id, c.account_id, $4, $5, c.leaf_id, clock_timestamp() + make_interval(secs => $6::float8 / 1000)
         FROM c WHERE c.leaf_id IS NOT NULL RETURNING *)
     SELECT ${COLUMNS} FROM s JOIN c ON c.id = s.conversation_id`,
    [share.id, share.conversationId, share.accountId, share.tokenHash, share.forAnyone, share.lifeMs],
  );
  return rows[0] ?? null;
}

/** The account's living ones, newest first; of one conversation where it is named. */
export async function listShares(
  sql: Sql,
  accountId: string,
  conversationId: string | null,
): Promise<readonly ShareRow[]> {
  const { rows } = await sql.query<ShareRow>(
    `SELECT ${COLUMNS} FROM owl.share s JOIN owl.conversation c ON c.id = s.conversation_id
      WHERE s.account_id = $1 AND ($2::uuid IS NULL OR s.conversation_id = $2) AND ${LIVING}
      ORDER BY s.created_at DESC, s.id DESC`,
    [accountId, conversationId],
  );
  return rows;
}

/** Ends one of the account's links; gives its conversation, null where there is no such link. */
export async function deleteShare(sql: Sql, id: string, accountId: string): Promise<string | null> {
  const { rows } = await sql.query<{ conversationId: string }>(
    'DELETE FROM owl.share WHERE id = $1 AND account_id = $2 RETURNING conversation_id AS "conversationId"',
    [id, accountId],
  );
  return rows[0]?.conversationId ?? null;
}

interface FoundShare extends ShareRow {
  readonly by: string;
  /** The last turn it shows. */
  readonly leafId: string;
}

/** What a token stands for now. */
export async function findShare(sql: Sql, tokenHash: Buffer): Promise<FoundShare | null> {
  const { rows } = await sql.query<FoundShare>(
    `SELECT ${COLUMNS}, s.leaf_id AS "leafId", a.name AS by
       FROM owl.share s JOIN owl.conversation c ON c.id = s.conversation_id JOIN owl.account a ON a.id = s.account_id
      WHERE s.token_hash = $1 AND ${LIVING} AND a.disabled_at IS NULL AND a.deleted_at IS NULL`,
    [tokenHash],
  );
  return rows[0] ?? null;
}

/** Forgets those whose time is over. */
export async function sweepShares(sql: Sql, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM owl.share WHERE id = ANY(ARRAY(
       SELECT id FROM owl.share WHERE expires_at < statement_timestamp() ORDER BY expires_at LIMIT $1))`,
    [limit],
  );
  return rowCount;
}
