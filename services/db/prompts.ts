// Prompts. Invariant: one is read by its owner and, while it is shared, by everyone; it is changed by its owner, and deleted
// by an administrator too while it is shared.

import type { Sql } from "./pool.ts";

interface ListedRow {
  readonly id: string;
  readonly name: string;
  readonly beginning: string;
  readonly shared: boolean;
  readonly own: boolean;
  readonly by: string;
}

interface Written {
  readonly name: string;
  readonly text: string;
  readonly shared: boolean;
}

const LISTED = "p.id, p.name, left(p.text, 120) AS beginning, p.shared, p.account_id = $1 AS own, a.name AS by";
const FROM = "owl.prompt p JOIN owl.account a ON a.id = p.account_id";
const MOST_SHARED = 500;

/** The account's own, then those of the team, by name. */
export async function listPrompts(sql: Sql, accountId: string): Promise<readonly ListedRow[]> {
  const { rows } = await sql.query<ListedRow>(
    `(SELECT ${LISTED} FROM ${FROM} WHERE p.account_id = $1 ORDER BY p.name, p.id)
     UNION ALL
     (SELECT ${LISTED} FROM ${FROM} WHERE p.shared AND p.account_id <> $1 AND a.deleted_at IS NULL
       ORDER BY p.name, p.id LIMIT ${MOST_SHARED})`,
    [accountId],
  );
  return rows;
}

export async function findPrompt(sql: Sql, id: string, accountId: string): Promise<(ListedRow & Written) | null> {
  const { rows } = await sql.query<ListedRow & Written>(
    `SELECT ${LISTED}, p.text FROM ${FROM}
      WHERE p.id = $2 AND (p.account_id = $1 OR (p.shared AND a.deleted_at IS NULL))`,
    [accountId, id],
  );
  return rows[0] ?? null;
}

export async function countPrompts(sql: Sql, accountId: string): Promise<number> {
  const { rows } = await sql.query<{ n: number }>("SELECT count(*)::int AS n FROM owl.prompt WHERE account_id = $1", [
    accountId,
  ]);
  return rows[0]?.n ?? 0;
}

export async function insertPrompt(sql: Sql, id: string, accountId: string, written: Written): Promise<void> {
  await sql.query("INSERT INTO owl.prompt (id, account_id, name, text, shared) VALUES ($1, $2, $3, $4, $5)", [
    id,
    accountId,
    written.name,
    written.text,
    written.shared,
  ]);
}

/** Replaces what was written; false when the account has none such. */
export async function changePrompt(sql: Sql, id: string, accountId: string, written: Written): Promise<boolean> {
  const { rowCount } = await sql.query(
    "UPDATE owl.prompt SET name = $3, text = $4, shared = $5 WHERE id = $1 AND account_id = $2",
    [id, accountId, written.name, written.text, written.shared],
  );
  return rowCount === 1;
}

/** `anyShared`: also one of the team's that is not the account's own. */
export async function deletePrompt(sql: Sql, id: string, accountId: string, anyShared: boolean): Promise<boolean> {
  const { rowCount } = await sql.query(
    "DELETE FROM owl.prompt WHERE id = $1 AND (account_id = $2 OR (shared AND $3))",
    [id, accountId, anyShared],
  );
  return rowCount === 1;
}
