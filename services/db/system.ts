// Between web and owld: rows only. Web reads what owld wrote (status, offers, past rollouts) and writes approvals and
// wishes to cancel; owld executes them.

import type { Sql } from "./pool.ts";

/** owld's last status document and its age, or null when it never wrote one. */
export async function findSystemStatus(sql: Sql): Promise<{ status: unknown; ageMs: number } | null> {
  const { rows } = await sql.query<{ status: unknown; ageMs: number }>(
    `SELECT status, (extract(epoch FROM clock_timestamp() - at) * 1000)::int AS "ageMs" FROM owl.system_status WHERE id = 1`,
  );
  return rows[0] ?? null;
}

interface OfferRow {
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

interface RollbackRow {
  readonly version: string;
  readonly plan: Readonly<Record<string, unknown>>;
  /** When owld counted. */
  readonly at: Date;
}

/** Releases owld could go back to, the one that ran last first. */
export async function listRollbacks(sql: Sql): Promise<readonly RollbackRow[]> {
  const { rows } = await sql.query<RollbackRow>("SELECT version, plan, at FROM owl.rollback_offer ORDER BY place");
  return rows;
}

export type ApprovalKind = "update" | "restart" | "rollback";

interface ApprovalRow {
  readonly id: string;
  readonly kind: ApprovalKind;
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
    readonly kind: ApprovalKind;
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

/** Past rollouts as owld told them, newest first, without their steps; each with the wishes to cancel it. */
export async function listRollouts(sql: Sql): Promise<readonly object[]> {
  const { rows } = await sql.query<{ rollout: object; cancels: object[] }>(
    `SELECT r.rollout - 'steps' - 'ledger' - 'notes' AS rollout,
            coalesce((SELECT jsonb_agg(jsonb_build_object('by', c.account_name, 'state', c.state, 'message', c.message)
                                       ORDER BY c.created_at)
                        FROM owl.rollout_cancel c WHERE c.rollout = r.id AND c.created_at >= r.started_at), '[]') AS cancels
       FROM owl.rollout_report r ORDER BY r.started_at DESC, r.id DESC`,
  );
  return rows.map(({ rollout, cancels }) => ({ ...rollout, cancels }));
}

/** A past rollout with its steps and its ledger, or null. */
export async function findRollout(sql: Sql, id: string): Promise<object | null> {
  const { rows } = await sql.query<{ rollout: object }>("SELECT rollout FROM owl.rollout_report WHERE id = $1", [id]);
  return rows[0]?.rollout ?? null;
}

/** Where a rollout stands by what owld wrote last; null: it wrote nothing of it. */
export async function rolloutStanding(sql: Sql, id: string): Promise<"running" | "ended" | null> {
  const { rows } = await sql.query<{ running: boolean; ended: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM owl.rollout_report WHERE id = $1) AS ended,
            EXISTS (SELECT 1 FROM owl.system_status
                     WHERE status #>> '{rollout,id}' = $1 AND status #>> '{rollout,state}' = 'running')
            OR EXISTS (SELECT 1 FROM owl.approval WHERE state = 'running' AND rollout = $1) AS running`,
    [id],
  );
  const [row] = rows;
  return row?.ended ? "ended" : row?.running ? "running" : null;
}

/** Writes a wish to cancel for owld to execute; false while one for that rollout waits. */
export async function insertCancel(
  sql: Sql,
  wish: {
    readonly id: string;
    readonly rollout: string;
    readonly account: { readonly id: string; readonly name: string };
  },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `INSERT INTO owl.rollout_cancel (id, rollout, account_id, account_name) VALUES ($1, $2, $3, $4)
     ON CONFLICT (rollout) WHERE state = 'waiting' DO NOTHING`,
    [wish.id, wish.rollout, wish.account.id, wish.account.name],
  );
  return rowCount === 1;
}
