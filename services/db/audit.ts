// The audit trail: who did what from where. Rows are added, never changed.

import type { Sql } from "./pool.ts";

export interface AuditEntry {
  readonly accountId: string | null;
  readonly accountName: string | null;
  readonly address: string | null;
  /** `noun.pastTense`: `session.opened`, `account.disabled`. */
  readonly action: string;
  readonly target?: string | null;
  readonly detail?: Readonly<Record<string, unknown>>;
}

interface AuditRow {
  readonly id: number;
  readonly at: Date;
  readonly account: string | null;
  readonly address: string | null;
  readonly action: string;
  readonly target: string | null;
  readonly detail: Record<string, unknown>;
}

export async function recordAudit(sql: Sql, entry: AuditEntry): Promise<void> {
  await sql.query(
    `INSERT INTO owl.audit (account_id, account_name, address, action, target, detail)
     VALUES ($1, $2, $3, $4, $5, $6::jsonb)`,
    [
      entry.accountId,
      entry.accountName,
      entry.address,
      entry.action,
      entry.target ?? null,
      JSON.stringify(entry.detail ?? {}),
    ],
  );
}

/** The newest entries before `beforeId` (null: from the newest). */
export async function listAudit(sql: Sql, beforeId: number | null, limit: number): Promise<readonly AuditRow[]> {
  const { rows } = await sql.query<AuditRow>(
    `SELECT id::int AS id, at, account_name AS account, address, action, target, detail FROM owl.audit
      WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`,
    [beforeId, limit],
  );
  return rows;
}
