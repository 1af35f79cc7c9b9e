// How a lost job's row is ended where its kind is not requeued: by table, so that web and worker reclaim alike.
// Invariant: each statement is guarded by attempt and state; one that finds the row already ended changes nothing.

import type { JobKind } from "../../config/config.ts";
import { turnEndOfLoss } from "../core/turn.ts";
import type { Text } from "../text/text.ts";
import type { Sql } from "./pool.ts";
import { endTurn } from "./turns.ts";

interface LostRow {
  readonly id: string;
  readonly attempt: number;
  readonly stopRequested: boolean;
}

/** Ends the locked lost row as failed, or as stopped where a stop was asked for; false when it had ended. */
type EndLost = (sql: Sql, row: LostRow, text: Text) => Promise<boolean>;

/** A kind whose row has nothing more to tell than state and message. */
function endPlain(table: string, stopped: string, messageKey: Parameters<Text>[0]): EndLost {
  return async (sql, row, text) => {
    const { rowCount } = await sql.query(
      `UPDATE owl.${table} SET state = $3, message = $4, losses = losses + 1, ended_at = clock_timestamp()
        WHERE id = $1 AND attempt = $2 AND state = 'running'`,
      [row.id, row.attempt, row.stopRequested ? stopped : "failed", row.stopRequested ? null : text(messageKey)],
    );
    return rowCount === 1;
  };
}

export const lostEndings: Readonly<Record<JobKind, EndLost>> = {
  async chat(sql, row, text) {
    const end = turnEndOfLoss(row.stopRequested);
    return endTurn(sql, row, { ...end, message: end.state === "failed" ? text("turn.cut") : null });
  },
  transcription: endPlain("transcription", "cancelled", "transcription.lost"),
  async playbook(sql, row, text) {
    const { rowCount } = await sql.query(
      `WITH cut AS (
         UPDATE owl.step SET state = 'unknown', ended_at = clock_timestamp()
          WHERE run_id = $1 AND state = 'started' RETURNING step_id)
       UPDATE owl.playbook_run SET state = $3, message = $4, losses = losses + 1, ended_at = clock_timestamp(),
              stopped_at_step = coalesce((SELECT step_id FROM cut LIMIT 1), stopped_at_step)
        WHERE id = $1 AND attempt = $2 AND state = 'running'`,
      [row.id, row.attempt, row.stopRequested ? "stopped" : "failed", row.stopRequested ? null : text("playbook.lost")],
    );
    return rowCount === 1;
  },
  "schema-analysis": endPlain("schema_analysis", "stopped", "schemaAnalysis.lost"),
};
