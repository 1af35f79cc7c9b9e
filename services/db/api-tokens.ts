// API tokens: one statement, one function. Invariant: a token is stored as its hash only.

import type { TokenScope } from "../core/token-scopes.ts";
import type { AccountRow } from "./accounts.ts";
import type { Sql } from "./pool.ts";

interface ApiTokenRow {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly TokenScope[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
}

/** The account's, the newest first; those that expired are told for a month. */
export async function listApiTokens(sql: Sql, accountId: string): Promise<readonly ApiTokenRow[]> {
  const { rows } = await sql.query<ApiTokenRow>(
    `SELECT id, name, prefix, scopes, created_at AS "createdAt", expires_at AS "expiresAt", used_at AS "usedAt"
       FROM owl.api_token WHERE account_id = $1 ORDER BY created_at DESC, id DESC`,
    [accountId],
  );
  return rows;
}

/** When it expires; null when the account has `most` that have not. `sql` is a transaction. */
export async function insertApiToken(
  sql: Sql,
  token: {
    readonly id: string;
    readonly accountId: string;
    readonly name: string;
    readonly prefix: string;
    readonly hash: Buffer;
    readonly scopes: readonly TokenScope[];
    readonly days: number;
    readonly most: number;
  },
): Promise<Date | null> {
  // Whoever makes another one at this moment waits here, and then counts this one too.
  await sql.query("SELECT 1 FROM owl.account WHERE id = $1 FOR NO KEY UPDATE", [token.accountId]);
  const { rows } = await sql.query<{ expiresAt: Date }>(
    `INSERT INTO owl.api_token (id, account_id, name, prefix, hash, scopes, expires_at)
     SELECT $1, $2, $3, $4, $5, $6::text[], clock_timestamp() + make_interval(days => $7)
      WHERE (SELECT count(*) FROM owl.api_token WHERE account_id = $2 AND expires_at > clock_timestamp()) < $8
     RETURNING expires_at AS "expiresAt"`,
    [token.id, token.accountId, token.name, token.prefix, token.hash, token.scopes, token.days, token.most],
  );
  return rows[0]?.expiresAt ?? null;
}

/** Its name and prefix; null when it is not one of that account's. */
export async function deleteApiToken(
  sql: Sql,
  id: string,
  accountId: string,
): Promise<{ readonly name: string; readonly prefix: string } | null> {
  const { rows } = await sql.query<{ name: string; prefix: string }>(
    "DELETE FROM owl.api_token WHERE id = $1 AND account_id = $2 RETURNING name, prefix",
    [id, accountId],
  );
  return rows[0] ?? null;
}

type TokenAccount = Pick<AccountRow, "name" | "role" | "initialPassword"> & {
  readonly accountId: string;
  readonly tokenId: string;
  readonly prefix: string;
  readonly scopes: readonly TokenScope[];
  /** Its use was last noted more than a minute ago. */
  readonly due: boolean;
};

/** Whose living token that is. */
export async function findApiToken(sql: Sql, hash: Buffer): Promise<TokenAccount | null> {
  const { rows } = await sql.query<TokenAccount>(
    `SELECT a.id AS "accountId", a.name, a.role, a.initial_password AS "initialPassword", k.id AS "tokenId", k.prefix,
            k.scopes, coalesce(k.used_at < statement_timestamp() - interval '1 minute', true) AS due
       FROM owl.api_token k JOIN owl.account a ON a.id = k.account_id
      WHERE k.hash = $1 AND k.expires_at > statement_timestamp() AND a.disabled_at IS NULL`,
    [hash],
  );
  return rows[0] ?? null;
}

export async function noteTokenUse(sql: Sql, id: string): Promise<void> {
  await sql.query("UPDATE owl.api_token SET used_at = clock_timestamp() WHERE id = $1", [id]);
}
