// The rows between owld and the pages: status, offers and past rollouts are posted; approvals and wishes to cancel are
// taken and their progress written back.
// Invariant: best effort and bounded; a database that is away delays the pages, never owld.

import { Pool, type QueryResultRow } from "pg";
import type { Bulletin, WaitingApproval, WaitingCancel } from "../ports.ts";

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
    async postRollouts(rollouts) {
      // One statement: nobody reads the list half replaced.
      await ask(
        `WITH told AS (SELECT value AS rollout FROM jsonb_array_elements($1::jsonb)),
              gone AS (DELETE FROM owl.rollout_report WHERE id NOT IN (SELECT rollout->>'id' FROM told))
         INSERT INTO owl.rollout_report (id, started_at, rollout)
         SELECT rollout->>'id', (rollout->>'startedAt')::timestamptz, rollout FROM told
         ON CONFLICT (id) DO UPDATE SET started_at = EXCLUDED.started_at, rollout = EXCLUDED.rollout`,
        [JSON.stringify(rollouts)],
      );
    },
    async postRollbacks(rollbacks) {
      await ask(
        `WITH told AS (SELECT value AS one, ordinality AS place FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY),
              gone AS (DELETE FROM owl.rollback_offer WHERE version NOT IN (SELECT one->>'version' FROM told))
         INSERT INTO owl.rollback_offer (version, place, plan, at)
         SELECT one->>'version', place, one->'plan', clock_timestamp() FROM told
         ON CONFLICT (version) DO UPDATE SET place = EXCLUDED.place, plan = EXCLUDED.plan, at = EXCLUDED.at`,
        [JSON.stringify(rollbacks)],
      );
    },
    async openCancel() {
      const [row] = await ask<WaitingCancel>(
        `SELECT id, rollout, account_name AS by FROM owl.rollout_cancel WHERE state = 'waiting' ORDER BY created_at LIMIT 1`,
        [],
      );
      return row ?? null;
    },
    async noteCancel(id, state, message) {
      await ask(
        `UPDATE owl.rollout_cancel SET state = $2, message = $3, ended_at = clock_timestamp()
          WHERE id = $1 AND state = 'waiting'`,
        [id, state, message],
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
