// Runs of playbooks and their steps. Invariant: a step is marked started before its tool is called and finished after;
// both marks are fenced by attempt and state of the run, and a step's row is inserted once.

import { jobKindRow } from "../core/job-kinds.ts";
import type { PlaybookStep, StepState } from "../core/playbook.ts";
import type { RunState } from "../core/wire/playbook.ts";
import { type Before, beforeText, beforeValues, cursorText } from "./keyset.ts";
import type { Sql } from "./pool.ts";
import type { Fence } from "./transcriptions.ts";

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
  readonly cursor: string;
}

export interface StepRow {
  readonly position: number;
  readonly state: Exclude<StepState, "waiting">;
  readonly input: unknown;
  readonly output: unknown;
  readonly message: string | null;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
}

const RUN = `SELECT r.id, r.playbook_id AS "playbookId", r.name, r.state, r.message, r.stopped_at_step AS "stoppedAtStep",
    r.stop_requested_at IS NOT NULL AS "stopRequested", r.steps, r.created_at AS "createdAt",
    r.claimed_at AS "claimedAt", r.ended_at AS "endedAt",
    ${cursorText("r.created_at")} AS cursor
  FROM owl.playbook_run r`;

export async function insertPlaybookRun(
  sql: Sql,
  run: {
    readonly id: string;
    readonly accountId: string;
    readonly playbookId: string;
    readonly name: string;
    readonly steps: readonly PlaybookStep[];
    readonly queueJob: string;
  },
): Promise<void> {
  await sql.query(
    `INSERT INTO owl.playbook_run (id, account_id, playbook_id, name, steps, queue_job, format)
     VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7)`,
    [
      run.id,
      run.accountId,
      run.playbookId,
      run.name,
      JSON.stringify(run.steps),
      run.queueJob,
      jobKindRow("playbook").format,
    ],
  );
}

export async function findPlaybookRun(sql: Sql, id: string, accountId: string): Promise<PlaybookRunRow | null> {
  const { rows } = await sql.query<PlaybookRunRow>(`${RUN} WHERE r.id = $1 AND r.account_id = $2`, [id, accountId]);
  return rows[0] ?? null;
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

/** What the worker of this attempt has to run; null when the claim is lost. */
export async function loadRunToDo(
  sql: Sql,
  fence: Fence,
): Promise<{ readonly accountId: string; readonly steps: readonly PlaybookStep[] } | null> {
  const { rows } = await sql.query<{ accountId: string; steps: readonly PlaybookStep[] }>(
    `SELECT account_id AS "accountId", steps FROM owl.playbook_run WHERE id = $1 AND attempt = $2 AND state = 'running'`,
    [fence.id, fence.attempt],
  );
  return rows[0] ?? null;
}

/**
 * Reads the claim again and marks the step started, in one statement; false when the claim is lost or the step had been
 * started before: its tool must not be called.
 */
export async function markStarted(
  sql: Sql,
  fence: Fence,
  step: { readonly position: number; readonly id: string; readonly tool: string; readonly input: unknown },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH held AS (
       SELECT id FROM owl.playbook_run WHERE id = $1 AND attempt = $2 AND state = 'running' FOR UPDATE),
     begun AS (
       INSERT INTO owl.step (run_id, position, step_id, tool, input, state, attempt)
       SELECT held.id, $3, $4, $5, $6::jsonb, 'started', $2 FROM held
       ON CONFLICT (run_id, position) DO NOTHING RETURNING run_id)
     SELECT pg_notify('owl_observe', 'playbook:' || run_id::text) FROM begun`,
    [fence.id, fence.attempt, step.position, step.id, step.tool, JSON.stringify(step.input)],
  );
  return rowCount === 1;
}

/** Marks how the call ended; false when the run was ended meanwhile (the step is then unknown, and stays so). */
export async function markEnded(
  sql: Sql,
  fence: Fence,
  step: {
    readonly position: number;
    readonly state: "finished" | "failed" | "unknown";
    readonly output: unknown;
    readonly message: string | null;
  },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH marked AS (
       UPDATE owl.step s SET state = $4, output = $5::jsonb, message = $6, ended_at = clock_timestamp()
         FROM owl.playbook_run r
        WHERE s.run_id = $1 AND s.position = $3 AND s.attempt = $2 AND s.state = 'started'
          AND r.id = s.run_id AND r.attempt = $2 AND r.state = 'running' RETURNING s.run_id),
     already AS (
       SELECT s.run_id FROM owl.step s JOIN owl.playbook_run r ON r.id = s.run_id
        WHERE s.run_id = $1 AND s.position = $3 AND s.attempt = $2 AND s.state = $4
          AND r.attempt = $2 AND r.state = 'running')
     SELECT pg_notify('owl_observe', 'playbook:' || run_id::text)
       FROM (SELECT run_id FROM marked UNION SELECT run_id FROM already) known`,
    [fence.id, fence.attempt, step.position, step.state, JSON.stringify(step.output ?? null), step.message],
  );
  return rowCount === 1;
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
