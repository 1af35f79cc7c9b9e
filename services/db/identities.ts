// Whom an identity provider names, and the sessions it opened: one statement, one function. Invariant: an account is found
// by issuer and subject alone; a name or a mail address never leads to one here.

import type { Role } from "../core/approval.ts";
import type { Sql } from "./pool.ts";

interface Person {
  readonly issuer: string;
  readonly subject: string;
}

interface LinkedAccount {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly isDisabled: boolean;
}

/** Two sign-ins of one person go one after the other, until this transaction's end. */
export async function lockPerson(sql: Sql, { issuer, subject }: Person): Promise<void> {
  await sql.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`owl.identity ${issuer} ${subject}`]);
}

export async function findLinked(sql: Sql, { issuer, subject }: Person): Promise<LinkedAccount | null> {
  const { rows } = await sql.query<LinkedAccount>(
    `SELECT a.id, a.name, a.role, a.disabled_at IS NOT NULL AS "isDisabled"
       FROM owl.identity i JOIN owl.account a ON a.id = i.account_id WHERE i.issuer = $1 AND i.subject = $2`,
    [issuer, subject],
  );
  return rows[0] ?? null;
}

/** Links the person to the account of that name, unless it has somebody of this provider already; false then. */
export async function linkByName(sql: Sql, { issuer, subject }: Person, name: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `INSERT INTO owl.identity (issuer, subject, account_id)
     SELECT $1, $2, a.id FROM owl.account a WHERE a.name = $3 AND a.deleted_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM owl.identity i WHERE i.account_id = a.id AND i.issuer = $1)`,
    [issuer, subject, name],
  );
  return rowCount === 1;
}

export async function setRole(sql: Sql, accountId: string, role: Role): Promise<void> {
  await sql.query("UPDATE owl.account SET role = $2 WHERE id = $1", [accountId, role]);
}

/** Opens a session for whom the provider vouches; false when the account is disabled. */
export async function insertProviderSession(
  sql: Sql,
  session: Person & {
    readonly idHash: Buffer;
    readonly accountId: string;
    readonly providerSession: string | null;
    readonly idToken: string | null;
    readonly lifeMs: number;
  },
): Promise<boolean> {
  const { idHash, accountId, issuer, subject, providerSession, idToken, lifeMs } = session;
  const { rowCount } = await sql.query(
    `INSERT INTO owl.session (id_hash, account_id, issuer, subject, provider_session, id_token, expires_at)
     SELECT $1, a.id, $3, $4, $5, $6, clock_timestamp() + make_interval(secs => $7::float8 / 1000) FROM owl.account a
      WHERE a.id = $2 AND a.disabled_at IS NULL FOR KEY SHARE`,
    [idHash, accountId, issuer, subject, providerSession, idToken, lifeMs],
  );
  return rowCount === 1;
}

/** Ends the session; what the provider said when it was opened, null where no provider opened it. */
export async function endProviderSession(
  sql: Sql,
  idHash: Buffer,
): Promise<{ readonly idToken: string | null } | null> {
  const { rows } = await sql.query<{ idToken: string | null }>(
    `DELETE FROM owl.session WHERE id_hash = $1 AND issuer IS NOT NULL RETURNING id_token AS "idToken"`,
    [idHash],
  );
  return rows[0] ?? null;
}

/**
 * Ends what the provider opened before `untilMs`: the one it calls `providerSession`, or all of the person. Answers whose
 * sessions they were.
 */
export async function endProviderSessions(
  sql: Sql,
  ended: {
    readonly issuer: string;
    readonly subject: string | null;
    readonly providerSession: string | null;
    readonly untilMs: number;
  },
): Promise<readonly { readonly accountId: string; readonly accountName: string }[]> {
  const { rows } = await sql.query<{ accountId: string; accountName: string }>(
    `WITH ended AS (
       DELETE FROM owl.session WHERE issuer = $1 AND ($2::text IS NULL OR subject = $2)
          AND ($3::text IS NULL OR provider_session = $3)
          AND ($2 IS NOT NULL OR $3 IS NOT NULL) AND created_at <= to_timestamp($4::float8 / 1000) RETURNING account_id)
     SELECT DISTINCT a.id AS "accountId", a.name AS "accountName" FROM ended JOIN owl.account a ON a.id = ended.account_id`,
    [ended.issuer, ended.subject, ended.providerSession, ended.untilMs],
  );
  return rows;
}

/** The provider no longer lets the person in: their sessions and API tokens end. */
export async function shutOut(sql: Sql, { issuer, subject }: Person): Promise<void> {
  await sql.query(
    `WITH person AS (SELECT account_id FROM owl.identity WHERE issuer = $1 AND subject = $2),
          tokens AS (DELETE FROM owl.api_token t USING person WHERE t.account_id = person.account_id)
     DELETE FROM owl.session s USING person WHERE s.account_id = person.account_id`,
    [issuer, subject],
  );
}
