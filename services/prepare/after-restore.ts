// One-shot after a copy of the database was put back, before anything starts: what the copy holds as queued or running
// may have been run since it was taken, so every such job is ended or requeued by its kind's lost-job rule.
// Invariant: no tool is called again for it; every step is repeatable after a kill.

import { pino } from "pino";
import { JOB_KINDS } from "../../config/config.ts";
import { asError, OwlError } from "../../config/errors.ts";
import { systemClock as clock, systemRandom as random } from "../../config/system-time.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import type { Listener } from "../db/listen.ts";
import { createDatabase } from "../db/pool.ts";
import { createQueue } from "../db/queue.ts";
import { createReclaimer } from "../db/reclaimer.ts";
import { readInstance } from "../instance.ts";
import { textOf } from "../text/text.ts";

/** Claims nothing and is no instance: a worker row that is gone from the beginning. */
const NOBODY = "restored-copy";

const NO_LISTENER: Pick<Listener, "on"> = { on: () => () => undefined };

async function endRestoredJobs(): Promise<number> {
  process.env.OWL_INSTANCE ??= "prepare";
  const { databaseUrl: url, config, id } = readInstance(process.env);
  const onError = (): void => undefined;
  const db = createDatabase({ url, max: 3, statementTimeoutMs: 300_000, onError });
  const queue = createQueue({ database: db, instance: id, upkeep: false, onError, onWarning: onError });
  try {
    await queue.start();
    await db.query(
      `INSERT INTO owl.worker (id, release, pid, host, gone_at) VALUES ($1, 'none', 0, '', now())
       ON CONFLICT (id) DO UPDATE SET gone_at = now()`,
      [NOBODY],
    );
    await db.query("UPDATE owl.worker SET gone_at = now() WHERE gone_at IS NULL AND stopped_at IS NULL", []);
    for (const kind of JOB_KINDS) {
      const row = jobKindRow(kind);
      if (row.lost === "requeue") continue;
      // Claimed in the name of nobody, a waiting job is lost like a running one.
      await db.query(
        `UPDATE owl.${row.table} SET state = 'running', attempt = attempt + 1, claimed_by = $1, claimed_at = clock_timestamp()
          WHERE state = 'queued'`,
        [NOBODY],
      );
    }
    const reclaimer = createReclaimer({
      db,
      queue,
      // Nobody wakes this one: it is called, and is never started.
      listener: NO_LISTENER,
      clock,
      random,
      log: pino({ level: "silent" }),
      text: textOf(config.language),
      stalledAfterMs: config.heartbeat.stalledAfterMs,
      healthyForMs: () => 0,
    });
    let ended = 0;
    for (let dealt = -1; dealt !== 0; ended += dealt) dealt = await reclaimer.runOnce();
    return ended;
  } finally {
    await queue.stop();
    await db.stop();
  }
}

try {
  const ended = await endRestoredJobs();
  process.stdout.write(`${JSON.stringify({ message: `${ended} jobs of the copy were ended or put back in line.` })}\n`);
} catch (error) {
  const next = error instanceof OwlError && error.next ? ` ${error.next}` : "";
  process.stderr.write(`${asError(error).message}${next}\n`);
  process.exitCode = 1;
}
