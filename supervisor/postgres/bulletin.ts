// The rows between owld and the pages: status and offers are posted, approvals are taken and their progress written back.
// Invariant: best effort and bounded; a database that is away delays the pages, never owld.

import { Pool, type QueryResultRow } from "pg";
import type { Bulletin, WaitingApproval } from "../ports.ts";

const BOUND_MS = 2_000;

/** Over the metastore's URL; connects when first used. */
export function createBulletin(url: string): Bulletin {
  const pool = new Pool({
    connectionString: url,
    application_name: "owl/owld",
    max: 1,
    connectionTimeoutMillis: BOUND_MS,
    query_timeout: BOUND_MS,
    statement_timeout: BOUND_MS,
    allowExitOnIdle: true,
  });
  pool.on("error", () => undefined);
  const ask = async <Row extends QueryResultRow>(sql: string, values: unknown[]): Promise<readonly Row[]> =>
    (await pool.query<Row>(sql, values)).rows;

  return {
    async postStatus(status) {
      await ask(
        `INSERT INTO owl.system_status (id, status, at) VALUES (1, $1, clock_timestamp())
         ON CONFLICT (id) DO UPDATE SET status = EXCLUDED.status, at = EXCLUDED.at`,
        [JSON.stringify(status)],
      );
    },
    async postOffers(offers) {
      await ask("DELETE FROM owl.release_offer WHERE NOT version = ANY($1)", [offers.map(({ version }) => version)]);
      for (const { version, manifest, plan, notes } of offers)
        await ask(
          `INSERT INTO owl.release_offer (version, manifest, plan, notes) VALUES ($1, $2, $3, $4)
           ON CONFLICT (version) DO UPDATE SET manifest = EXCLUDED.manifest, plan = EXCLUDED.plan, notes = EXCLUDED.notes`,
          [version, JSON.stringify(manifest), JSON.stringify(plan), notes],
        );
    },
    async openApproval() {
      const [row] = await ask<WaitingApproval>(
        `SELECT id, kind, version, services, account_name AS by, state, rollout FROM owl.approval
          WHERE state IN ('waiting', 'running') ORDER BY created_at LIMIT 1`,
        [],
      );
      return row ?? null;
    },
    async noteApproval(id, { state, rollout, message }) {
      await ask(
        `UPDATE owl.approval SET state = $2, rollout = coalesce($3, rollout), progress = coalesce($4::jsonb, progress), message = $5,
                ended_at = CASE WHEN $2 IN ('succeeded', 'failed', 'refused') THEN clock_timestamp() END
          WHERE id = $1 AND state IN ('waiting', 'running')`,
        [id, state, rollout?.id ?? null, rollout === null ? null : JSON.stringify(rollout), message],
      );
    },
    stop: () => pool.end(),
  };
}
