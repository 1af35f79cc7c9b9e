// Rows that wait although no queue job stands for them (a job that was lost, by a restored dump or a hand in the tables):
// they would wait for ever. Invariant: a bounded page a look, oldest first and round again, however many wait; a row and
// its job are written in one transaction, so one statement's snapshot never shows a healthy row without its job.

import type { Logger } from "pino";
import { JOB_KINDS, type JobKind } from "../../config/config.ts";
import type { Random } from "../../config/time.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import type { Database } from "./pool.ts";
import { type JobQueue, waitingJobText } from "./queue.ts";

const AT_ONCE = 2_000;

interface Mark {
  readonly at: string;
  readonly id: string;
}
const START: Mark = { at: "-infinity", id: "00000000-0000-0000-0000-000000000000" };

interface Page {
  readonly last: Mark | null;
  readonly strays: readonly { readonly id: string; readonly queueJob: string | null; readonly format: number }[];
}

// An item of a paused batch is in no line, and rightly so.
const isPaused = (kind: JobKind): string =>
  kind === "transcription"
    ? "EXISTS (SELECT 1 FROM owl.batch b WHERE b.id = p.batch_id AND b.state = 'paused')"
    : "false";

const pageText = (kind: JobKind): string => `
  WITH page AS MATERIALIZED (
    SELECT r.* FROM owl.${jobKindRow(kind).table} r
     WHERE r.state = 'queued' AND r.format <= $3 AND (r.created_at, r.id) > ($1::timestamptz, $2::uuid)
     ORDER BY r.created_at, r.id LIMIT ${AT_ONCE})
  SELECT (SELECT jsonb_build_object('at', p.created_at::text, 'id', p.id) FROM page p
           ORDER BY p.created_at DESC, p.id DESC LIMIT 1) AS last,
         (SELECT coalesce(jsonb_agg(jsonb_build_object('id', p.id, 'queueJob', p.queue_job, 'format', p.format)), '[]')
            FROM page p
           WHERE NOT EXISTS (SELECT 1 FROM ${waitingJobText(kind, "p.queue_job")} j) AND NOT ${isPaused(kind)}) AS strays`;

interface Strays {
  /** Looks at a page of each kind's waiting rows and puts the strays in line; answers how many. */
  runOnce(): Promise<number>;
}

export function createStrays(deps: {
  readonly db: Database;
  readonly queue: Pick<JobQueue, "enqueue">;
  readonly random: Random;
  readonly log: Logger;
}): Strays {
  const { db, queue, random, log } = deps;
  const marks = new Map<JobKind, Mark>();

  async function heal(kind: JobKind, stray: Page["strays"][number]): Promise<boolean> {
    const queueJob = random.uuid();
    const healed = await db.attempt(async (sql) => {
      const { rowCount } = await sql.query(
        `UPDATE owl.${jobKindRow(kind).table} SET queue_job = $3
          WHERE id = $1 AND state = 'queued' AND queue_job IS NOT DISTINCT FROM $2`,
        [stray.id, stray.queueJob, queueJob],
      );
      if (rowCount !== 1) return undefined;
      await queue.enqueue(sql, kind, { id: stray.id, queueJob, format: stray.format });
      return true;
    });
    if (healed) log.warn({ kind, job: stray.id }, "a waiting job had lost its place in line and got a new one");
    return healed === true;
  }

  return {
    async runOnce() {
      let count = 0;
      for (const kind of JOB_KINDS) {
        const { at, id } = marks.get(kind) ?? START;
        const { rows } = await db.query<Page>(pageText(kind), [at, id, jobKindRow(kind).format]);
        const page = rows[0];
        marks.set(kind, page?.last ?? START);
        for (const stray of page?.strays ?? []) if (await heal(kind, stray)) count += 1;
      }
      return count;
    },
  };
}
