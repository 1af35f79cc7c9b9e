// Saved assistants and instructions. Invariant: an assistant is read by its owner and, while it is shared, by everyone;
// it is changed by its owner, and deleted by an administrator too while it is shared.

import type { Assistant } from "../core/assistant.ts";
import type { Sql } from "./pool.ts";

interface AssistantRow extends Assistant {
  readonly id: string;
  readonly starters: readonly string[];
  readonly shared: boolean;
  readonly own: boolean;
  readonly by: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type Written = Omit<AssistantRow, "id" | "own" | "by" | "createdAt" | "updatedAt">;

const LISTED = "s.id, s.name, s.model, s.starters, s.shared, s.account_id = $1 AS own, a.name AS by";
const COLUMNS = `${LISTED}, s.instructions, s.temperature, s.tools, s.data_sources AS "dataSources",
  s.created_at AS "createdAt", s.updated_at AS "updatedAt"`;
const FROM = "owl.assistant s JOIN owl.account a ON a.id = s.account_id";
const MOST_SHARED = 500;

type ListedRow = Pick<AssistantRow, "id" | "name" | "model" | "starters" | "shared" | "own" | "by">;

/** The account's own, then those of the team, by name. */
export async function listAssistants(sql: Sql, accountId: string): Promise<readonly ListedRow[]> {
  const { rows } = await sql.query<ListedRow>(
    `(SELECT ${LISTED} FROM ${FROM} WHERE s.account_id = $1 ORDER BY s.name, s.id)
     UNION ALL
     (SELECT ${LISTED} FROM ${FROM} WHERE s.shared AND s.account_id <> $1 AND a.deleted_at IS NULL
       ORDER BY s.name, s.id LIMIT ${MOST_SHARED})`,
    [accountId],
  );
  return rows;
}

export async function findAssistant(sql: Sql, id: string, accountId: string): Promise<AssistantRow | null> {
  const { rows } = await sql.query<AssistantRow>(
    `SELECT ${COLUMNS} FROM ${FROM}
      WHERE s.id = $2 AND (s.account_id = $1 OR (s.shared AND a.deleted_at IS NULL))`,
    [accountId, id],
  );
  return rows[0] ?? null;
}

export async function countAssistants(sql: Sql, accountId: string): Promise<number> {
  const { rows } = await sql.query<{ n: number }>(
    "SELECT count(*)::int AS n FROM owl.assistant WHERE account_id = $1",
    [accountId],
  );
  return rows[0]?.n ?? 0;
}

const values = (written: Written) => [
  written.name,
  written.instructions,
  written.model,
  written.temperature,
  written.tools,
  written.dataSources,
  written.starters,
  written.shared,
];

export async function insertAssistant(sql: Sql, id: string, accountId: string, written: Written): Promise<void> {
  await sql.query(
    `INSERT INTO owl.assistant (id, account_id, name, instructions, model, temperature, tools, data_sources, starters, shared)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [id, accountId, ...values(written)],
  );
}

/** Replaces what was written; false when the account has none such. */
export async function changeAssistant(sql: Sql, id: string, accountId: string, written: Written): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE owl.assistant SET name = $3, instructions = $4, model = $5, temperature = $6, tools = $7, data_sources = $8,
            starters = $9, shared = $10, updated_at = clock_timestamp()
      WHERE id = $1 AND account_id = $2`,
    [id, accountId, ...values(written)],
  );
  return rowCount === 1;
}

/** `anyShared`: also one of the team's that is not the account's own. */
export async function deleteAssistant(sql: Sql, id: string, accountId: string, anyShared: boolean): Promise<boolean> {
  const { rowCount } = await sql.query(
    "DELETE FROM owl.assistant WHERE id = $1 AND (account_id = $2 OR (shared AND $3))",
    [id, accountId, anyShared],
  );
  return rowCount === 1;
}

const NOBODY = "'00000000-0000-0000-0000-000000000000'::uuid";

export async function readInstructions(
  sql: Sql,
  accountId: string,
): Promise<{ readonly everyone: string; readonly own: string }> {
  const { rows } = await sql.query<{ own: boolean; text: string }>(
    `SELECT account_id IS NOT NULL AS own, text FROM owl.instructions
      WHERE coalesce(account_id, ${NOBODY}) IN (${NOBODY}, $1)`,
    [accountId],
  );
  const of = (own: boolean): string => rows.find((row) => row.own === own)?.text ?? "";
  return { everyone: of(false), own: of(true) };
}

/** `accountId` null: of everyone. */
export async function writeInstructions(sql: Sql, accountId: string | null, text: string): Promise<void> {
  await sql.query(
    `INSERT INTO owl.instructions (account_id, text) VALUES ($1, $2)
     ON CONFLICT ((coalesce(account_id, ${NOBODY}))) DO UPDATE SET text = excluded.text`,
    [accountId, text],
  );
}
