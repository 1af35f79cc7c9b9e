// After a copy of the metastore was put back: every job it holds as waiting or running may have run since. Each is ended
// or requeued by its kind's lost-job rule before any service starts, so that no tool is called again.
// Invariant: told by OWL_RESTORED=1, it may be repeated: what is settled is not touched again.

import type { Logger } from "pino";
import { JOB_KINDS } from "../../config/config.ts";
import type { Clock, Random } from "../../config/time.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import type { Database } from "../db/pool.ts";
import type { JobQueue } from "../db/queue.ts";
import { createReclaimer } from "../db/reclaimer.ts";
import type { Text } from "../text/text.ts";

/** The claimer of every job that was waiting when the copy was taken: a worker that never lived. */
const NOBODY = "restored-copy";

/** Settles them; answers how many. No worker may be running. */
export async function settleRestored(deps: {
  readonly db: Database;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly text: Text;
  readonly claimMs: number;
}): Promise<number> {
  const { db } = deps;
  await db.query(
    `INSERT INTO owl.worker (id, release, pid, host, gone_at) VALUES ($1, 'none', 0, 'none', clock_timestamp())
     ON CONFLICT (id) DO UPDATE SET gone_at = clock_timestamp()`,
    [NOBODY],
  );
  await db.query("UPDATE owl.worker SET gone_at = clock_timestamp() WHERE gone_at IS NULL AND stopped_at IS NULL", []);
  // A transcription is the same when run again: what waits of it just waits on. A word of its owner that a row waits for
  // may have been given since.
  for (const kind of JOB_KINDS.filter((one) => jobKindRow(one).lost === "resume")) {
    await db.query(
      `UPDATE owl.${jobKindRow(kind).table} SET state = 'running', attempt = attempt + 1, claimed_by = $1
        WHERE state IN ('queued', 'waiting')`,
      [NOBODY],
    );
  }
  // One pass, never started: nothing wakes it.
  const listener = { on: () => () => undefined };
  return createReclaimer({ ...deps, isRestored: true, listener, stalledAfterMs: 0, healthyForMs: () => 0 }).runOnce();
}
