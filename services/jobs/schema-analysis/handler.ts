// The schema-analysis kind's handler. Invariant: it ends its row through context.end, fenced by the attempt.

import { abortCauseOf } from "../../core/abort.ts";
import type { Handler, JobContext } from "../handler.ts";

function end(context: JobContext, reason: string) {
  const stopped = abortCauseOf(context.signal) === "stopped";
  return context.end(async (sql) => {
    const { rowCount } = await sql.query(
      `UPDATE owl.schema_analysis SET state = $3, message = $4, ended_at = clock_timestamp()
        WHERE id = $1 AND attempt = $2 AND state = 'running'`,
      [
        context.id,
        context.attempt,
        stopped ? "stopped" : "failed",
        stopped ? null : context.text("job.error", { reason }),
      ],
    );
    return rowCount === 1;
  });
}

/** Runs one schema-analysis job. */
export function createSchemaAnalysisHandler(): Handler {
  return {
    run: (context) => end(context, "this kind of work is not available in this release"),
    fail: (context, error) => end(context, error instanceof Error ? error.message : String(error)),
  };
}
