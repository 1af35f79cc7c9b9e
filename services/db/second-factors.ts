// Second factors: one statement, one function. Invariants: a code's step is taken once and never an earlier one after it;
// a recovery code is stored as its hash and is gone once it was taken.

import type { Sql } from "./pool.ts";

interface SecondFactorRow {
  readonly secret: Buffer;
  /** Null: begun, not confirmed; sign-in does not ask for it. */
  readonly confirmedAt: Date | null;
  readonly recoveryCodes: number;
}

export async function findSecondFactor(sql: Sql, accountId: string): Promise<SecondFactorRow | null> {
  const { rows } = await sql.query<SecondFactorRow>(
    `SELECT f.secret, f.confirmed_at AS "confirmedAt",
            (SELECT count(*)::int FROM owl.recovery_code c WHERE c.account_id = f.account_id) AS "recoveryCodes"
       FROM owl.second_factor f WHERE f.account_id = $1`,
    [accountId],
  );
  return rows[0] ?? null;
}

/** Keeps a secret to be confirmed, in place of an earlier one that never was; false when one is confirmed. */
export async function beginSecondFactor(sql: Sql, accountId: string, secret: Buffer): Promise<boolean> {
  const { rowCount } = await sql.query(
    `INSERT INTO owl.second_factor (account_id, secret) VALUES ($1, $2)
     ON CONFLICT (account_id) DO UPDATE SET secret = excluded.secret, used_step = 0
      WHERE owl.second_factor.confirmed_at IS NULL`,
    [accountId, secret],
  );
  return rowCount === 1;
}

/** Turns it on with the step of the code that confirmed `secret`; false when it is on, or the secret another one by now. */
export async function confirmSecondFactor(
  sql: Sql,
  factor: {
    readonly accountId: string;
    readonly secret: Buffer;
    readonly step: number;
    readonly recoveryHashes: readonly Buffer[];
  },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH confirmed AS (
       UPDATE owl.second_factor SET confirmed_at = clock_timestamp(), used_step = $3
        WHERE account_id = $1 AND secret = $2 AND confirmed_at IS NULL RETURNING account_id)
     INSERT INTO owl.recovery_code (account_id, hash)
     SELECT confirmed.account_id, h FROM confirmed, unnest($4::bytea[]) h`,
    [factor.accountId, factor.secret, factor.step, factor.recoveryHashes],
  );
  return (rowCount ?? 0) > 0;
}

/** Takes the code of a step; false when that step, or a later one, was taken. */
export async function takeStep(sql: Sql, accountId: string, step: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE owl.second_factor SET used_step = $2
      WHERE account_id = $1 AND confirmed_at IS NOT NULL AND used_step < $2`,
    [accountId, step],
  );
  return rowCount === 1;
}

export async function takeRecoveryCode(sql: Sql, accountId: string, hash: Buffer): Promise<boolean> {
  const { rowCount } = await sql.query("DELETE FROM owl.recovery_code WHERE account_id = $1 AND hash = $2", [
    accountId,
    hash,
  ]);
  return rowCount === 1;
}

/** False when there was none. */
export async function removeSecondFactor(sql: Sql, accountId: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH codes AS (DELETE FROM owl.recovery_code WHERE account_id = $1)
     DELETE FROM owl.second_factor WHERE account_id = $1`,
    [accountId],
  );
  return rowCount === 1;
}
