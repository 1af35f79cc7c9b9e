// Running rows, of one worker or of workers that are gone, and what becomes of those that nobody runs: the kind's rule.
// Invariant: settling is one transaction, guarded by attempt and state, so that it may be killed at any line and repeated
// by anyone: the reclaimer for a lost worker, a living worker for a row of its own that it does not run.

import type { Logger } from "pino";
import { JOB_KINDS, type JobKind } from "../../config/config.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import { lostJobVerdict } from "../core/lost-jobs.ts";
import type { Text } from "../text/text.ts";
import { lostEndings } from "./lost-endings.ts";
import type { Database, Sql } from "./pool.ts";
import { type RequeueDeps, requeueRow } from "./requeue.ts";
import { countReclaimed } from "./workers.ts";

export interface RunningRow {
  readonly kind: JobKind;
  readonly id: string;
  readonly attempt: number;
  readonly losses: number;
  readonly claimedBy: string;
  readonly queueJob: string | null;
  readonly format: number;
  readonly stopRequested: boolean;
  readonly failsWhenLost: boolean;
  readonly hasProgress: boolean;
}

const table = (kind: JobKind): string => `owl.${jobKindRow(kind).table}`;

// Of a turn `r`.
const HAS_PROGRESS =
  "EXISTS (SELECT 1 FROM owl.step s WHERE s.turn_id = r.id AND (s.state = 'finished' OR s.effect = 'write'))";

const rowsText = (where: string): string =>
  JOB_KINDS.map(
    (kind) =>
      `SELECT '${kind}' AS kind, r.id, r.attempt, r.losses, r.claimed_by AS "claimedBy", r.queue_job AS "queueJob",
              r.format, r.stop_requested_at IS NOT NULL AS "stopRequested",
              ${kind === "playbook" ? "r.lost = 'fail'" : "false"} AS "failsWhenLost", ${kind === "chat" ? HAS_PROGRESS : "false"} AS "hasProgress"
         FROM ${table(kind)} r LEFT JOIN owl.worker w ON w.id = r.claimed_by WHERE r.state = 'running' AND ${where}`,
  ).join(" UNION ALL ");

const OF_WORKER = rowsText("r.claimed_by = $1");
const LOST = rowsText("(w.id IS NULL OR w.gone_at IS NOT NULL OR w.stopped_at IS NOT NULL)");

/** Everything that runs under this worker's id by the database's word. */
export async function listRowsOf(sql: Sql, worker: string): Promise<readonly RunningRow[]> {
  return (await sql.query<RunningRow>(OF_WORKER, [worker])).rows;
}

/** Running rows whose worker is marked gone, has deregistered, or is not known at all. */
export async function findLostRows(sql: Sql): Promise<readonly RunningRow[]> {
  return (await sql.query<RunningRow>(LOST)).rows;
}

/** Locks the row for its one settling; false when another one has it or it no longer runs under that claim. */
async function lockRow(sql: Sql, row: RunningRow): Promise<boolean> {
  const { rowCount } = await sql.query(
    `SELECT 1 FROM ${table(row.kind)} WHERE id = $1 AND attempt = $2 AND claimed_by = $3 AND state = 'running'
      FOR UPDATE SKIP LOCKED`,
    [row.id, row.attempt, row.claimedBy],
  );
  return rowCount === 1;
}

export interface SettleDeps extends RequeueDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly text: Text;
  /** A copy of the database was just put back. */
  readonly isRestored?: boolean;
}

/** Ends or requeues a row nobody runs, by its kind's rule (`isAlone`: nobody could go on with it); false when another one did or it has ended. */
export async function settleRow(deps: SettleDeps, row: RunningRow, isAlone = false): Promise<boolean> {
  const facts = { ...row, isAlone, isRestored: deps.isRestored === true };
  const { verdict, reason } = lostJobVerdict(jobKindRow(row.kind), facts);
  const done = await deps.db.attempt(async (sql) => {
    if (!(await lockRow(sql, row))) return undefined;
    if (verdict === "requeue") {
      if (!(await requeueRow(deps, sql, row, { lost: 1, begun: true }))) return undefined;
    } else {
      if (!(await lostEndings[row.kind](sql, row, deps.text))) return undefined;
      if (row.queueJob) await deps.queue.remove(sql, row.kind, [row.queueJob]);
    }
    await countReclaimed(sql, row.claimedBy);
    return true;
  });
  if (done) {
    const fields = { kind: row.kind, job: row.id, worker: row.claimedBy, verdict, why: reason };
    deps.log.warn(fields, "lost job reclaimed");
  }
  return done === true;
}

/** A row that was claimed and never begun goes back in line untouched; false when it is no longer ours. */
export async function returnRow(deps: Omit<SettleDeps, "text">, row: RunningRow): Promise<boolean> {
  const done = await deps.db.attempt(
    async (sql) => (await requeueRow(deps, sql, row, { lost: 0, begun: false })) || undefined,
  );
  if (done) deps.log.info({ kind: row.kind, job: row.id }, "claim handed back untouched");
  return done === true;
}
