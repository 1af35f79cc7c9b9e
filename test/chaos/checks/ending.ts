// What the database must hold once all work is over: every accepted piece ended once, by the attempt that held it last,
// nothing waits, and no worker that was asked to stop took up work or left before its work.

import { systemClock } from "../../../config/system-time.ts";
import { asAdministrator } from "../faults/targets.ts";
import type { Timeline } from "../timeline.ts";

interface Rule {
  readonly sentence: string;
  /** Rows that break it. */
  readonly sql: string;
  /** What is cleared away a moment later is looked for again, so long. */
  readonly patienceMs?: number;
}

const CLAIMED = `(SELECT id::text, 'turn' AS kind, claimed_by, claimed_at, ended_at FROM owl.turn
  UNION ALL SELECT id::text, 'transcription', claimed_by, claimed_at, ended_at FROM owl.transcription
  UNION ALL SELECT id::text, 'playbook_run', claimed_by, claimed_at, ended_at FROM owl.playbook_run)`;

const RULES: readonly Rule[] = [
  {
    sentence: "accepted work is still open at the end",
    sql: `SELECT id::text, 'turn' AS kind, state FROM owl.turn WHERE ended_at IS NULL
      UNION ALL SELECT id::text, 'transcription', state FROM owl.transcription WHERE ended_at IS NULL
      UNION ALL SELECT id::text, 'playbook_run', state FROM owl.playbook_run WHERE ended_at IS NULL
      UNION ALL SELECT id::text, 'batch', state FROM owl.batch WHERE ended_at IS NULL`,
    patienceMs: 30_000,
  },
  {
    sentence: "a queue job is left without work to do",
    // The job of a row that has ended is settled a moment later; when its worker or the database is gone in that moment,
    // the queue's own backstop settles it: 90 s without a lease, looked for every 30 s by a worker that lives so long.
    sql: `SELECT id::text, name, state::text, started_on, heartbeat_on FROM pgboss.job
      WHERE state IN ('created', 'retry', 'active') AND name NOT LIKE '\\_\\_pgboss%'`,
    patienceMs: 150_000,
  },
  {
    sentence: "an ended turn has not exactly one ending on record, by its last attempt",
    sql: `SELECT t.id::text, t.state, t.attempt, e.state AS ending, e.attempt AS "endedBy"
      FROM owl.turn t FULL JOIN owl.turn_ending e ON e.turn_id = t.id
      WHERE t.ended_at IS NOT NULL AND (e.turn_id IS NULL OR e.state <> t.state OR e.attempt <> t.attempt)`,
  },
  {
    sentence: "a segment was stored by an attempt that never was",
    sql: `SELECT s.transcription_id::text AS id, s.n, s.attempt, t.attempt AS last
      FROM owl.segment s JOIN owl.transcription t ON t.id = s.transcription_id WHERE s.attempt > t.attempt`,
  },
  {
    sentence: "a batch's total is not the number of its recordings",
    sql: `SELECT b.id::text, b.total, count(t.id)::int AS recordings FROM owl.batch b
      LEFT JOIN owl.transcription t ON t.batch_id = b.id GROUP BY b.id HAVING b.total <> count(t.id)`,
  },
  {
    sentence: "a worker took up work after it was asked to stop",
    sql: `SELECT w.id, w.draining_since, c.kind, c.id AS work, c.claimed_at FROM owl.worker w
      JOIN ${CLAIMED} c ON c.claimed_by = w.id WHERE c.claimed_at > w.draining_since + interval '1 second'`,
  },
  {
    sentence: "a worker deregistered before its work had ended",
    sql: `SELECT w.id, w.stopped_at, c.kind, c.id AS work, c.ended_at FROM owl.worker w
      JOIN ${CLAIMED} c ON c.claimed_by = w.id
      WHERE w.stopped_at IS NOT NULL AND w.gone_at IS NULL AND c.ended_at > w.stopped_at`,
  },
  {
    sentence: "a worker gave a sign of life after it had deregistered",
    sql: `SELECT id, heartbeat_at, stopped_at FROM owl.worker WHERE heartbeat_at > stopped_at`,
  },
];

export async function checkEnding({ home, timeline }: { readonly home: string; readonly timeline: Timeline }) {
  for (const rule of RULES) {
    const until = systemClock.now() + (rule.patienceMs ?? 0);
    let rows = await asAdministrator<Record<string, unknown>>(home, rule.sql);
    while (rows.length > 0 && systemClock.now() < until) {
      await systemClock.sleep(1_000);
      rows = await asAdministrator<Record<string, unknown>>(home, rule.sql);
    }
    if (rows.length > 0) timeline.violation(rule.sentence, { count: rows.length, rows: rows.slice(0, 5) });
  }
}
