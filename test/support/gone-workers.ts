// A worker that has gone, as owld's end of its process or its silence marks it: the row's trigger wakes the reclaimers.

import type { Sql } from "../../services/db/pool.ts";

export async function markWorkerGone(sql: Sql, id: string): Promise<void> {
  await sql.query(
    "UPDATE owl.worker SET gone_at = clock_timestamp() WHERE id = $1 AND gone_at IS NULL AND stopped_at IS NULL",
    [id],
  );
}
