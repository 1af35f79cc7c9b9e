// Accounts, sessions and failed sign-ins. Invariant: a session's id is stored hashed only.

import type { Role } from "../core/approval.ts";
import type { Sql } from "./pool.ts";

export interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly passwordHash: string;
  readonly initialPassword: boolean;
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
}

/** An account with the identity provider it comes from, when one does. */
type ListedAccount = AccountRow & { readonly issuer: string | null };

const COLUMNS = `a.id, a.name, a.role, a.password_hash AS "passwordHash", a.initial_password AS "initialPassword",
  a.created_at AS "createdAt", a.disabled_at AS "disabledAt"`;

/** The account of that (lower-case) name. */
export async function findAccount(sql: Sql, name: string): Promise<AccountRow | null> {
  const { rows } = await sql.query<AccountRow>(`SELECT ${COLUMNS} FROM owl.account a WHERE name = $1`, [name]);
  return rows[0] ?? null;
}

export async function listAccounts(sql: Sql): Promise<readonly ListedAccount[]> {
  const { rows } = await sql.query<ListedAccount>(
    `SELECT ${COLUMNS}, (SELECT min(i.issuer) FROM owl.identity i WHERE i.account_id = a.id) AS issuer
       FROM owl.account a WHERE a.deleted_at IS NULL ORDER BY name`,
  );
  return rows;
}

/** Inserts an account; false when the name is taken. */
export async function insertAccount(
  sql: Sql,
  account: { id: string; name: string; role: Role; passwordHash: string; initialPassword: boolean },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `INSERT INTO owl.account (id, name, role, password_hash, initial_password) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (name) DO NOTHING`,
    [account.id, account.name, account.role, account.passwordHash, account.initialPassword],
  );
  return rowCount === 1;
}

/** Sets a password, ends every session of the account and forgets its devices but `keepDevice`. */
export async function setPassword(
  sql: Sql,
  id: string,
  password: { readonly hash: string; readonly initial: boolean; readonly keepDevice: Buffer | null },
): Promise<void> {
  await sql.query(
    `WITH changed AS (UPDATE owl.account SET password_hash = $2, initial_password = $3 WHERE id = $1),
          forgotten AS (DELETE FROM owl.device WHERE account_id = $1 AND id_hash IS DISTINCT FROM $4)
     DELETE FROM owl.session WHERE account_id = $1`,
    [id, password.hash, password.initial, password.keepDevice],
  );
}

/** The same password under today's figures, unless it was changed meanwhile. */
export async function replaceHash(sql: Sql, id: string, old: string, next: string): Promise<void> {
  await sql.query("UPDATE owl.account SET password_hash = $3 WHERE id = $1 AND password_hash = $2", [id, old, next]);
}

/** Disables (and signs out) or enables an account; false when it is not there. */
export async function setDisabled(sql: Sql, name: string, disabled: boolean): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH signed_out AS (
       DELETE FROM owl.session s USING owl.account a WHERE $2 AND s.account_id = a.id AND a.name = $1)
     UPDATE owl.account SET disabled_at = CASE WHEN $2 THEN coalesce(disabled_at, clock_timestamp()) END
      WHERE name = $1`,
    [name, disabled],
  );
  return rowCount === 1;
}

/**
 * Signs the account out for good and frees its name; what it owns is erased bit by bit (retention.ts), it itself last.
 * False when it is not there.
 */
export async function markAccountDeleted(sql: Sql, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH signed_out AS (DELETE FROM owl.session WHERE account_id = $1),
          unlinked AS (DELETE FROM owl.identity WHERE account_id = $1)
     UPDATE owl.account SET deleted_at = clock_timestamp(), disabled_at = coalesce(disabled_at, clock_timestamp()),
            name = 'deleted-' || id, password_hash = ''
      WHERE id = $1 AND deleted_at IS NULL`,
    [id],
  );
  return rowCount === 1;
}

/** Whoever takes an administrator away waits here for another one who does, and then counts what is left. */
export async function lockAdministrators(sql: Sql): Promise<void> {
  await sql.query("SELECT 1 FROM owl.account WHERE role = 'administrator' ORDER BY id FOR UPDATE");
}

/** How many administrators can still sign in. */
export async function countAdministrators(sql: Sql): Promise<number> {
  const { rows } = await sql.query<{ n: number }>(
    "SELECT count(*)::int AS n FROM owl.account WHERE role = 'administrator' AND disabled_at IS NULL",
  );
  return rows[0]?.n ?? 0;
}

/** Sessions kept of an account, those seen last: somebody who signs in over and over fills no table. */
const SESSIONS_KEPT = 500;

/** Opens a session; false when the account was disabled or its password changed since `passwordHash` was read. */
export async function insertSession(
  sql: Sql,
  session: {
    readonly idHash: Buffer;
    readonly accountId: string;
    readonly passwordHash: string;
    readonly lifeMs: number;
  },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH old AS (
       DELETE FROM owl.session WHERE id_hash = ANY(ARRAY(
         SELECT id_hash FROM owl.session WHERE account_id = $2 ORDER BY seen_at DESC OFFSET ${SESSIONS_KEPT - 1})))
     INSERT INTO owl.session (id_hash, account_id, expires_at)
     SELECT $1, a.id, clock_timestamp() + make_interval(secs => $4::float8 / 1000) FROM owl.account a
      WHERE a.id = $2 AND a.password_hash = $3 AND a.disabled_at IS NULL FOR KEY SHARE`,
    [session.idHash, session.accountId, session.passwordHash, session.lifeMs],
  );
  return rowCount === 1;
}

/** Devices kept of an account, the newest ones. */
const DEVICES_KEPT = 20;

/** Notes that the account is used with this device. */
export async function keepDevice(sql: Sql, idHash: Buffer, accountId: string): Promise<void> {
  await sql.query(
    `WITH old AS (
       DELETE FROM owl.device WHERE account_id = $2 AND id_hash IN (
         SELECT id_hash FROM owl.device WHERE account_id = $2 AND id_hash <> $1 ORDER BY seen_at DESC OFFSET $3))
     INSERT INTO owl.device (id_hash, account_id) VALUES ($1, $2)
     ON CONFLICT (id_hash, account_id) DO UPDATE SET seen_at = clock_timestamp()`,
    [idHash, accountId, DEVICES_KEPT - 1],
  );
}

export async function isDeviceOf(sql: Sql, idHash: Buffer, accountId: string): Promise<boolean> {
  const { rowCount } = await sql.query("SELECT 1 FROM owl.device WHERE id_hash = $1 AND account_id = $2", [
    idHash,
    accountId,
  ]);
  return rowCount === 1;
}

type SessionRow = AccountRow & {
  /** It was last extended more than an hour ago; one that an identity provider opened never is. */
  readonly due: boolean;
  readonly byProvider: boolean;
  /** Opened within the last quarter of an hour. */
  readonly isFresh: boolean;
};

/** The account of a living session. */
export async function findSession(sql: Sql, idHash: Buffer): Promise<SessionRow | null> {
  const { rows } = await sql.query<SessionRow>(
    `SELECT ${COLUMNS}, s.issuer IS NOT NULL AS "byProvider",
            s.issuer IS NULL AND s.seen_at < statement_timestamp() - interval '1 hour' AS due,
            s.created_at > statement_timestamp() - interval '15 minutes' AS "isFresh"
       FROM owl.session s JOIN owl.account a ON a.id = s.account_id
      WHERE s.id_hash = $1 AND s.expires_at > statement_timestamp() AND a.disabled_at IS NULL`,
    [idHash],
  );
  return rows[0] ?? null;
}

export async function extendSession(sql: Sql, idHash: Buffer, lifeMs: number): Promise<void> {
  await sql.query(
    `UPDATE owl.session SET seen_at = clock_timestamp(),
            expires_at = clock_timestamp() + make_interval(secs => $2::float8 / 1000) WHERE id_hash = $1`,
    [idHash, lifeMs],
  );
}

export async function deleteSession(sql: Sql, idHash: Buffer): Promise<void> {
  await sql.query("DELETE FROM owl.session WHERE id_hash = $1", [idHash]);
}

/** Failed sign-ins of each subject within the last `windowS` seconds. */
export async function countLoginFailures(
  sql: Sql,
  subjects: readonly string[],
  windowS: number,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql.query<{ subject: string; n: number }>(
    `SELECT subject, count(*)::int AS n FROM owl.login_failure
      WHERE subject = ANY($1) AND at > statement_timestamp() - make_interval(secs => $2) GROUP BY subject`,
    [subjects, windowS],
  );
  return new Map(rows.map((row) => [row.subject, row.n]));
}

export async function recordLoginFailure(sql: Sql, subjects: readonly string[]): Promise<void> {
  await sql.query("INSERT INTO owl.login_failure (subject) SELECT unnest($1::text[])", [subjects]);
}

/** Forgets all of `whole`, and the newest one of each of `newest`. */
export async function forgetLoginFailures(
  sql: Sql,
  whole: readonly string[],
  newest: readonly string[] = [],
): Promise<void> {
  await sql.query(
    `DELETE FROM owl.login_failure WHERE subject = ANY($1::text[]) OR ctid IN (
       SELECT (SELECT f.ctid FROM owl.login_failure f WHERE f.subject = s ORDER BY f.at DESC LIMIT 1)
         FROM unnest($2::text[]) s)`,
    [whole, newest],
  );
}

/** Removes what has expired, at most `limit` of each; answers how many. */
export async function sweepSessions(sql: Sql, limit: number): Promise<number> {
  const { rows } = await sql.query<{ n: number }>(
    `WITH failures AS (
       DELETE FROM owl.login_failure WHERE ctid = ANY(ARRAY(
         SELECT ctid FROM owl.login_failure WHERE at < statement_timestamp() - interval '1 day' LIMIT $1)) RETURNING 1),
     devices AS (
       DELETE FROM owl.device WHERE ctid = ANY(ARRAY(
         SELECT ctid FROM owl.device WHERE seen_at < statement_timestamp() - interval '1 year' LIMIT $1)) RETURNING 1),
     tokens AS (
       DELETE FROM owl.api_token WHERE id = ANY(ARRAY(
         SELECT id FROM owl.api_token WHERE expires_at < statement_timestamp() - interval '30 days' LIMIT $1)) RETURNING 1),
     sessions AS (
       DELETE FROM owl.session WHERE id_hash = ANY(ARRAY(
         SELECT id_hash FROM owl.session WHERE expires_at < statement_timestamp() LIMIT $1)) RETURNING 1)
     SELECT ((SELECT count(*) FROM failures) + (SELECT count(*) FROM devices)
             + (SELECT count(*) FROM tokens)
             + (SELECT count(*) FROM sessions))::int AS n`,
    [limit],
  );
  return rows[0]?.n ?? 0;
}
