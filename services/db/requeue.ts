// Back in line: a row that ran, or waited for its owner, becomes queued under a new queue job. Invariant: one guarded
// UPDATE decides, in the transaction of the queue job's coming and going; whoever finds 0 rows writes nothing else.

import type { JobKind } from "../../config/config.ts";
import type { Random } from "../../config/time.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import type { Sql } from "./pool.ts";
import type { JobQueue } from "./queue.ts";

export interface RequeueDeps {
  readonly queue: Pick<JobQueue, "remove" | "enqueue">;
  readonly random: Random;
  /** A turn's claim limit counts anew from here. */
  readonly claimMs: number;
}

interface Requeued {
  readonly kind: JobKind;
  readonly id: string;
  readonly attempt: number;
  readonly queueJob: string | null;
  readonly format: number;
  /** running: under this very claim; null: it waits for its owner. */
  readonly claimedBy: string | null;
}

interface Why {
  /** A worker was lost under it. */
  readonly lost: 0 | 1;
  /** It was begun: only code that knows the kind's newest format can go on with what it left. */
  readonly begun: boolean;
}

/** True when it is in line again; false when another one has it, or it has ended. */
export async function requeueRow(deps: RequeueDeps, sql: Sql, row: Requeued, why: Why): Promise<boolean> {
  const queueJob = deps.random.uuid();
  const { table, format: newest } = jobKindRow(row.kind);
  const format = why.begun ? Math.max(row.format, newest) : row.format;
  const isChat = row.kind === "chat";
  const { rowCount } = await sql.query(
    `UPDATE owl.${table} SET state = 'queued', losses = losses + $4, claimed_by = NULL, claimed_at = NULL, queue_job = $5,
            format = $6${isChat ? ", claim_deadline_at = clock_timestamp() + make_interval(secs => $7::float8 / 1000)" : ""}
      WHERE id = $1 AND attempt = $2
        AND CASE WHEN $3::text IS NULL THEN state = 'waiting' ELSE state = 'running' AND claimed_by = $3 END`,
    [row.id, row.attempt, row.claimedBy, why.lost, queueJob, format, ...(isChat ? [deps.claimMs] : [])],
  );
  if (rowCount !== 1) return false;
  if (isChat) await tellQueued(sql, row.id);
  if (row.queueJob !== null) await deps.queue.remove(sql, row.kind, [row.queueJob]);
  await deps.queue.enqueue(sql, row.kind, { id: row.id, queueJob, format, priority: 1 });
  return true;
}

async function tellQueued(sql: Sql, id: string): Promise<void> {
  await sql.query(
    `WITH noted AS (
       INSERT INTO owl.turn_event (turn_id, seq, kind, data)
       SELECT $1::uuid, coalesce((SELECT max(seq) FROM owl.turn_event WHERE turn_id = $1), 0) + 1, 'state',
              '{"state":"queued"}' RETURNING turn_id)
     SELECT pg_notify('owl_turn', turn_id::text) FROM noted`,
    [id],
  );
}
