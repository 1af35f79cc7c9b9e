// Between web and owld: rows only. Web reads what owld wrote (status, offers) and writes approvals; owld executes them.

import type { Sql } from "./pool.ts";

/** owld's last status document and its age, or null when it never wrote one. */
export async function findSystemStatus(sql: Sql): Promise<{ status: unknown; ageMs: number } | null> {
  const { rows } = await sql.query<{ status: unknown; ageMs: number }>(
    `SELECT status, (extract(epoch FROM clock_timestamp() - at) * 1000)::int AS "ageMs" FROM owl.system_status WHERE id = 1`,
  );
  return rows[0] ?? null;
}

export interface OfferRow {
  readonly version: string;
  readonly notes: string;
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly plan: Readonly<Record<string, unknown>>;
  readonly offeredAt: Date;
}

/** Releases owld offers, newest first. */
export async function listOffers(sql: Sql): Promise<readonly OfferRow[]> {
  const { rows } = await sql.query<OfferRow>(
    `SELECT version, notes, manifest, plan, offered_at AS "offeredAt" FROM owl.release_offer ORDER BY offered_at DESC`,
  );
  return rows;
}

export interface ApprovalRow {
  readonly id: string;
  readonly kind: "update" | "restart";
  readonly version: string | null;
  readonly services: readonly string[] | null;
  readonly by: string;
  readonly state: "waiting" | "running" | "succeeded" | "failed" | "refused";
  readonly rollout: string | null;
  readonly progress: unknown;
  readonly message: string | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

/** The latest approvals, newest first. */
export async function listApprovals(sql: Sql, limit: number): Promise<readonly ApprovalRow[]> {
  const { rows } = await sql.query<ApprovalRow>(
    `SELECT id, kind, version, services, account_name AS by, state, rollout, progress, message,
            created_at AS "createdAt", ended_at AS "endedAt" FROM owl.approval ORDER BY created_at DESC, id DESC LIMIT $1`,
    [limit],
  );
  return rows;
}

/** Writes an approval for owld to execute; false while another one is open. */
export async function insertApproval(
  sql: Sql,
  approval: {
    readonly id: string;
    readonly kind: "update" | "restart";
    readonly version: string | null;
    readonly services: readonly string[] | null;
    readonly account: { readonly id: string; readonly name: string };
  },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `INSERT INTO owl.approval (id, kind, version, services, account_id, account_name) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT ((true)) WHERE state IN ('waiting', 'running') DO NOTHING`,
    [approval.id, approval.kind, approval.version, approval.services, approval.account.id, approval.account.name],
  );
  return rowCount === 1;
}
