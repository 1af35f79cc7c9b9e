// Runs of playbooks, and their steps as they are told (journal.ts marks them).

import type { Role } from "../core/approval.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import type { LostRule, PlaybookStep, StepState } from "../core/playbook.ts";
import type { RunState } from "../core/wire/playbook.ts";
import { type Before, beforeText, beforeValues, cursorText } from "./keyset.ts";
import type { Sql } from "./pool.ts";
import type { Fence } from "./transcriptions.ts";
import { type AskedStep, askedText } from "./waiting.ts";

export interface PlaybookRunRow {
  readonly id: string;
  readonly playbookId: string;
  readonly name: string;
  readonly state: RunState;
  readonly message: string | null;
  readonly stoppedAtStep: string | null;
  readonly stopRequested: boolean;
  readonly steps: readonly PlaybookStep[];
  readonly createdAt: Date;
  readonly claimedAt: Date | null;
  readonly endedAt: Date | null;
  /** Steps its owner is asked about. */
  readonly waitsFor: readonly AskedStep[];
  readonly cursor: string;
}

export interface StepRow {
  readonly position: number;
  readonly state: Exclude<StepState, "waiting" | "notReached">;
  readonly input: unknown;
  readonly output: unknown;
  readonly message: string | null;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
}

const RUN = `SELECT r.id, r.playbook_id AS "playbookId", r.name, r.state, r.message, r.stopped_at_step AS "stoppedAtStep",
    r.stop_requested_at IS NOT NULL AS "stopRequested", r.steps, r.created_at AS "createdAt",
    r.claimed_at AS "claimedAt", r.ended_at AS "endedAt", ${askedText("playbook", "r")} AS "waitsFor",
    ${cursorText("r.created_at")} AS cursor
  FROM owl.playbook_run r`;

/** Its format, which its queue job has too. */
export async function insertPlaybookRun(
  sql: Sql,
  run: {
    readonly id: string;
    readonly accountId: string;
    readonly playbookId: string;
    readonly name: string;
    readonly steps: readonly PlaybookStep[];
    readonly lost: LostRule;
    readonly queueJob: string;
    readonly requestId?: string;
  },
): Promise<number> {
  const { format: newest, freshFormat } = jobKindRow("playbook");
  // Code of before would call what is to be allowed first.
  const format = run.steps.some((step) => step.approval) ? newest : freshFormat;
  await sql.query(
    `INSERT INTO owl.playbook_run (id, account_id, playbook_id, name, steps, queue_job, format, lost, request_id)
     VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9)`,
    [
      run.id,
      run.accountId,
      run.playbookId,
      run.name,
      JSON.stringify(run.steps),
      run.queueJob,
      format,
      run.lost,
      run.requestId ?? null,
    ],
  );
  return format;
}

export async function findPlaybookRun(sql: Sql, id: string, accountId: string): Promise<PlaybookRunRow | null> {
  const { rows } = await sql.query<PlaybookRunRow>(`${RUN} WHERE r.id = $1 AND r.account_id = $2`, [id, accountId]);
  return rows[0] ?? null;
}

/** Deletes one that has ended, with its steps. */
export async function deletePlaybookRun(sql: Sql, id: string, accountId: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    "DELETE FROM owl.playbook_run WHERE id = $1 AND account_id = $2 AND ended_at IS NOT NULL",
    [id, accountId],
  );
  return rowCount === 1;
}

/** Newest first; `playbookId` null: of all playbooks. */
export async function listPlaybookRuns(
  sql: Sql,
  query: {
    readonly accountId: string;
    readonly playbookId: string | null;
    readonly before: Before;
    readonly limit: number;
  },
): Promise<readonly PlaybookRunRow[]> {
  const { rows } = await sql.query<PlaybookRunRow>(
    `${RUN} WHERE r.account_id = $1 AND ${beforeText("r.created_at", "r.id", "$2", "$3")}
       ${query.playbookId === null ? "" : "AND r.playbook_id = $5"}
     ORDER BY r.created_at DESC, r.id DESC LIMIT $4`,
    [
      query.accountId,
      ...beforeValues(query.before),
      query.limit,
      ...(query.playbookId === null ? [] : [query.playbookId]),
    ],
  );
  return rows;
}

/** The steps that were begun, in order. */
export async function listSteps(sql: Sql, runId: string): Promise<readonly StepRow[]> {
  const { rows } = await sql.query<StepRow>(
    `SELECT position, state, input, output, message, started_at AS "startedAt", ended_at AS "endedAt"
       FROM owl.step WHERE run_id = $1 ORDER BY position`,
    [runId],
  );
  return rows;
}

interface RunToDo {
  readonly accountId: string;
  readonly role: Role;
  readonly steps: readonly PlaybookStep[];
}

/** What the worker of this attempt has to run; null when the claim is lost. */
export async function loadRunToDo(sql: Sql, fence: Fence): Promise<RunToDo | null> {
  const { rows } = await sql.query<RunToDo>(
    `SELECT r.account_id AS "accountId", a.role, r.steps FROM owl.playbook_run r JOIN owl.account a ON a.id = r.account_id
      WHERE r.id = $1 AND r.attempt = $2 AND r.state = 'running'`,
    [fence.id, fence.attempt],
  );
  return rows[0] ?? null;
}

/** Ends the run; a step that was started and has no end becomes unknown with it. False when the claim is lost. */
export async function endPlaybookRun(
  sql: Sql,
  fence: Fence,
  end: {
    readonly state: "done" | "failed" | "stopped";
    readonly message: string | null;
    readonly atStep: string | null;
  },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH ended AS (
       UPDATE owl.playbook_run SET state = $3, message = $4, stopped_at_step = $5, ended_at = clock_timestamp()
        WHERE id = $1 AND attempt = $2 AND state = 'running' RETURNING id),
     cut AS (
       UPDATE owl.step s SET state = 'unknown', ended_at = clock_timestamp()
         FROM ended WHERE s.run_id = ended.id AND s.state = 'started')
     SELECT pg_notify('owl_observe', 'playbook:' || id::text) FROM ended`,
    [fence.id, fence.attempt, end.state, end.message, end.atStep],
  );
  return rowCount === 1;
}
