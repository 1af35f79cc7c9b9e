// Sweeps: what has had its time, or was deleted, goes. Invariants: a step is one small transaction that finds its rows by
// an index and takes a bounded number of them; it answers how many, 0 when nothing is left; a job that has not ended is
// never touched, nor anything that one needs.

import type { RetentionConfig } from "../../config/config.ts";
import { JOB_KINDS, type JobKind } from "../../config/config.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import { sweepSessions } from "./accounts.ts";
import { forgetUnsentAttachments } from "./attachments.ts";
import { forgetIdempotencyKeys } from "./idempotency-keys.ts";
import type { Sql } from "./pool.ts";
import { sweepShares } from "./shares.ts";
import { expireUploads } from "./uploads.ts";
import { forgetWorkers } from "./workers.ts";

export interface Sweep {
  readonly name: string;
  step(sql: Sql): Promise<number>;
}

/** Rows of their own, and things that carry much with them, per step. */
const ROWS = 500;
const HEAVY = 50;
const UPLOAD_HOURS = 48;
const UNSENT_HOURS = 24;
const TICK_MS = 30 * 86_400_000;
// Of the statement, not of the clock: what may change from row to row is no bound of an index.
const OLD = "statement_timestamp() - make_interval(secs => $1::float8 / 1000)";

async function count(sql: Sql, text: string, values: readonly unknown[] = []): Promise<number> {
  return (await sql.query(text, values)).rowCount;
}

/** What has had its time by the configuration; kinds that are kept for ever have no sweep. */
export function retentionSweeps(kept: RetentionConfig): readonly Sweep[] {
  const after = (name: string, ms: number | null, step: (sql: Sql, ms: number) => Promise<number>): readonly Sweep[] =>
    ms === null ? [] : [{ name, step: (sql) => step(sql, ms) }];
  return [
    { name: "sessions", step: (sql) => sweepSessions(sql, ROWS) },
    { name: "idempotency keys", step: (sql) => forgetIdempotencyKeys(sql, ROWS) },
    { name: "workers", step: (sql) => forgetWorkers(sql) },
    { name: "unsent attachments", step: (sql) => forgetUnsentAttachments(sql, UNSENT_HOURS, ROWS) },
    { name: "ended links", step: (sql) => sweepShares(sql, ROWS) },
    { name: "unfinished uploads", step: (sql) => expireUploads(sql, UPLOAD_HOURS, ROWS) },
    ...after("ticks of schedules", TICK_MS, forgetTicks),
    ...after("events", kept.eventsMs, forgetDeltas),
    ...after("conversations", kept.conversationsMs, endIdleConversations),
    ...after("batches", kept.batchesMs, forgetBatches),
    ...after("transcriptions", kept.transcriptionsMs, forgetTranscriptions),
    ...after("runs", kept.runsMs, forgetRuns),
    ...after("analyses", kept.analysesMs, forgetAnalyses),
    ...after("uploads", kept.uploadsMs, forgetUploads),
    ...after("audit", kept.auditMs, forgetAudit),
  ];
}

/** What people deleted: gone for them at once, and from here on from the database. */
export const DELETION_SWEEPS: readonly Sweep[] = [
  { name: "deleted conversations", step: eraseConversations },
  { name: "deleted batches", step: eraseBatches },
  { name: "deleted playbooks", step: erasePlaybooks },
  { name: "deleted accounts", step: eraseAccounts },
];

/**
 * The deltas of the next turns that ended so long ago. A turn keeps its answer, its tool calls and its end; only a
 * stream resumed in its middle needs them. How far it went is kept: what was looked at is never looked at again.
 */
async function forgetDeltas(sql: Sql, ms: number): Promise<number> {
  const { rows } = await sql.query<{ n: number }>(
    `WITH mark AS MATERIALIZED (
       SELECT coalesce(mark_at, '-infinity') AS at, coalesce(mark_id, '00000000-0000-0000-0000-000000000000') AS id
         FROM owl.sweep WHERE name = 'events' FOR UPDATE),
     next AS MATERIALIZED (
       SELECT t.id, t.ended_at FROM owl.turn t
        WHERE t.ended_at IS NOT NULL AND t.ended_at >= (SELECT at FROM mark) AND t.ended_at < ${OLD}
          AND (t.ended_at, t.id) > (SELECT at, id FROM mark)
        ORDER BY t.ended_at, t.id LIMIT ${HEAVY}),
     gone AS (DELETE FROM owl.turn_event v USING next WHERE v.turn_id = next.id AND v.kind = 'delta'),
     moved AS (
       UPDATE owl.sweep s SET mark_at = l.ended_at, mark_id = l.id
         FROM (SELECT id, ended_at FROM next ORDER BY ended_at DESC, id DESC LIMIT 1) l WHERE s.name = 'events')
     SELECT count(*)::int AS n FROM next`,
    [ms],
  );
  return rows[0]?.n ?? 0;
}

/** Marked as if their owners had deleted them; pinned ones stay. */
function endIdleConversations(sql: Sql, ms: number): Promise<number> {
  return count(
    sql,
    `UPDATE owl.conversation SET deleted_at = clock_timestamp() WHERE id = ANY(ARRAY(
       SELECT c.id FROM owl.conversation c
        WHERE c.pinned_at IS NULL AND c.deleted_at IS NULL AND c.updated_at < ${OLD}
          AND NOT EXISTS (SELECT 1 FROM owl.turn t WHERE t.conversation_id = c.id AND t.ended_at IS NULL)
        ORDER BY c.updated_at LIMIT ${ROWS} FOR UPDATE SKIP LOCKED))`,
    [ms],
  );
}

/** Turns first, a few at a time with their events and files, then the conversations that have none. */
async function eraseConversations(sql: Sql): Promise<number> {
  const turns = await count(
    sql,
    `DELETE FROM owl.turn WHERE id = ANY(ARRAY(
       SELECT t.id FROM owl.conversation c JOIN owl.turn t ON t.conversation_id = c.id
        WHERE c.deleted_at IS NOT NULL AND t.ended_at IS NOT NULL ORDER BY c.deleted_at LIMIT ${HEAVY}))`,
  );
  if (turns > 0) return turns;
  return count(
    sql,
    `DELETE FROM owl.conversation WHERE id = ANY(ARRAY(
       SELECT c.id FROM owl.conversation c WHERE c.deleted_at IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM owl.turn t WHERE t.conversation_id = c.id)
        ORDER BY c.deleted_at LIMIT ${ROWS} FOR UPDATE SKIP LOCKED))`,
  );
}

/** Its runs first: by their own time, or with their account. */
function erasePlaybooks(sql: Sql): Promise<number> {
  return count(
    sql,
    `DELETE FROM owl.playbook WHERE id = ANY(ARRAY(
       SELECT p.id FROM owl.playbook p WHERE p.deleted_at IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM owl.playbook_run r WHERE r.playbook_id = p.id) LIMIT ${ROWS}))`,
  );
}

/**
 * Transcriptions that `which` finds, with their segments; the rows of uploads that were kept for their sake alone too.
 * `deleted`: by their owner, with the recordings uploaded for them.
 */
async function dropTranscriptions(
  sql: Sql,
  which: string,
  values: readonly unknown[],
  deleted = false,
): Promise<number> {
  const { rows } = await sql.query<{ upload: string | null }>(
    `DELETE FROM owl.transcription WHERE id = ANY(ARRAY(${which} LIMIT ${HEAVY})) AND ended_at IS NOT NULL
     RETURNING upload_id AS upload`,
    values,
  );
  const uploads = [...new Set(rows.flatMap(({ upload }) => upload ?? []))];
  if (uploads.length > 0) {
    await sql.query(
      `DELETE FROM owl.upload u WHERE u.id = ANY($1::uuid[]) AND (u.deleted_at IS NOT NULL OR $2)
          AND NOT EXISTS (SELECT 1 FROM owl.transcription t WHERE t.upload_id = u.id)`,
      [uploads, deleted],
    );
  }
  return rows.length;
}

/** Items first, as everywhere, then the batches that have none. */
async function dropBatches(sql: Sql, column: "ended_at" | "deleted_at", which: string, values: readonly unknown[]) {
  const items = await dropTranscriptions(
    sql,
    `SELECT t.id FROM owl.batch b JOIN owl.transcription t ON t.batch_id = b.id
      WHERE b.${column} ${which} AND t.ended_at IS NOT NULL ORDER BY b.${column}`,
    values,
    column === "deleted_at",
  );
  if (items > 0) return items;
  return count(
    sql,
    `DELETE FROM owl.batch WHERE id = ANY(ARRAY(
       SELECT b.id FROM owl.batch b WHERE b.${column} ${which}
          AND NOT EXISTS (SELECT 1 FROM owl.transcription t WHERE t.batch_id = b.id) LIMIT ${ROWS}))`,
    values,
  );
}

function forgetBatches(sql: Sql, ms: number): Promise<number> {
  return dropBatches(sql, "ended_at", `IS NOT NULL AND b.ended_at < ${OLD}`, [ms]);
}

function eraseBatches(sql: Sql): Promise<number> {
  return dropBatches(sql, "deleted_at", "IS NOT NULL", []);
}

function forgetTranscriptions(sql: Sql, ms: number): Promise<number> {
  const which = `SELECT id FROM owl.transcription WHERE batch_id IS NULL AND ended_at IS NOT NULL AND ended_at < ${OLD}
    ORDER BY ended_at`;
  return dropTranscriptions(sql, which, [ms]);
}

function forgetRuns(sql: Sql, ms: number): Promise<number> {
  return count(
    sql,
    `DELETE FROM owl.playbook_run WHERE id = ANY(ARRAY(
       SELECT id FROM owl.playbook_run WHERE ended_at IS NOT NULL AND ended_at < ${OLD}
        ORDER BY ended_at LIMIT ${HEAVY}))`,
    [ms],
  );
}

function forgetTicks(sql: Sql, ms: number): Promise<number> {
  return count(
    sql,
    `DELETE FROM owl.schedule_tick WHERE (schedule_id, tick_at) IN (
       SELECT schedule_id, tick_at FROM owl.schedule_tick WHERE at < ${OLD} ORDER BY at LIMIT ${ROWS})`,
    [ms],
  );
}

/** The newest finished one of a data source stays: it is what the model is told of it. */
function forgetAnalyses(sql: Sql, ms: number): Promise<number> {
  return count(
    sql,
    `DELETE FROM owl.schema_analysis WHERE id = ANY(ARRAY(
       SELECT a.id FROM owl.schema_analysis a WHERE a.ended_at IS NOT NULL AND a.ended_at < ${OLD}
          AND (a.state <> 'done' OR a.ended_at < (SELECT n.ended_at FROM owl.schema_analysis n
                WHERE n.state = 'done' AND n.data_source = a.data_source ORDER BY n.ended_at DESC LIMIT 1))
        ORDER BY a.ended_at LIMIT ${HEAVY}))`,
    [ms],
  );
}

/** The recording goes; its row stays as long as a transcription names it. */
async function forgetUploads(sql: Sql, ms: number): Promise<number> {
  const { rows } = await sql.query<{ id: string }>(
    `SELECT u.id FROM owl.upload u WHERE u.deleted_at IS NULL AND u.completed_at IS NOT NULL AND u.completed_at < ${OLD}
        AND NOT EXISTS (SELECT 1 FROM owl.transcription t WHERE t.upload_id = u.id AND t.state IN ('queued', 'running'))
      ORDER BY u.completed_at LIMIT ${ROWS} FOR UPDATE SKIP LOCKED`,
    [ms],
  );
  await sql.query(
    `WITH gone AS (
       DELETE FROM owl.upload u WHERE u.id = ANY($1::uuid[])
          AND NOT EXISTS (SELECT 1 FROM owl.transcription t WHERE t.upload_id = u.id) RETURNING u.id)
     UPDATE owl.upload SET deleted_at = clock_timestamp()
      WHERE id = ANY($1::uuid[]) AND id NOT IN (SELECT id FROM gone)`,
    [rows.map(({ id }) => id)],
  );
  return rows.length;
}

/** Entries, and what was approved and cancelled. */
async function forgetAudit(sql: Sql, ms: number): Promise<number> {
  await sql.query(
    `WITH approvals AS (DELETE FROM owl.approval WHERE ended_at < ${OLD})
     DELETE FROM owl.rollout_cancel WHERE ended_at < ${OLD}`,
    [ms],
  );
  return count(
    sql,
    `DELETE FROM owl.audit WHERE id = ANY(ARRAY(SELECT id FROM owl.audit WHERE at < ${OLD} ORDER BY at LIMIT ${ROWS}))`,
    [ms],
  );
}

/** What a deleted account still owns, by what names what; the row itself when nothing is left. */
async function eraseAccounts(sql: Sql): Promise<number> {
  const { rows } = await sql.query<{ id: string }>(
    "SELECT id FROM owl.account WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT 20",
  );
  for (const { id } of rows) {
    const n = await eraseAccount(sql, id);
    if (n > 0) return n;
  }
  return 0;
}

// Each in the order of its index: who has nothing left is found to have nothing by it, whatever most accounts have.
const OWNED: readonly ((sql: Sql, id: string) => Promise<number>)[] = [
  (sql, id) =>
    count(
      sql,
      `UPDATE owl.conversation SET deleted_at = clock_timestamp() WHERE id = ANY(ARRAY(
         SELECT id FROM owl.conversation WHERE account_id = $1 AND deleted_at IS NULL
          ORDER BY updated_at DESC LIMIT ${ROWS}))`,
      [id],
    ),
  (sql, id) =>
    dropTranscriptions(
      sql,
      "SELECT id FROM owl.transcription WHERE account_id = $1 AND ended_at IS NOT NULL ORDER BY created_at DESC",
      [id],
    ),
  // What nothing else names goes here bit by bit, and what few have goes with the account itself.
  (sql, id) =>
    count(
      sql,
      `UPDATE owl.audit SET account_id = NULL WHERE id = ANY(ARRAY(
         SELECT id FROM owl.audit WHERE account_id = $1 ORDER BY id LIMIT ${ROWS}))`,
      [id],
    ),
  ...[
    ["upload", "NOT EXISTS (SELECT 1 FROM owl.transcription t WHERE t.upload_id = o.id) ORDER BY o.created_at"],
    ["batch", "NOT EXISTS (SELECT 1 FROM owl.transcription t WHERE t.batch_id = o.id) ORDER BY o.created_at DESC"],
    ["attachment", "o.turn_id IS NULL"],
    ["idempotency_key", "true ORDER BY o.route"],
  ].map(
    ([table, free]) =>
      (sql: Sql, id: string) =>
        count(
          sql,
          `DELETE FROM owl.${table} WHERE ctid = ANY(ARRAY(
             SELECT o.ctid FROM owl.${table} o WHERE o.account_id = $1 AND ${free} LIMIT ${ROWS}))`,
          [id],
        ),
  ),
  // With their ticks, of which there may be many.
  (sql, id) =>
    count(sql, "DELETE FROM owl.schedule WHERE id = (SELECT id FROM owl.schedule WHERE account_id = $1 LIMIT 1)", [id]),
  ...["playbook_run", "schema_analysis"].map(
    (table) => (sql: Sql, id: string) =>
      count(
        sql,
        `DELETE FROM owl.${table} WHERE id = ANY(ARRAY(
           SELECT id FROM owl.${table} WHERE account_id = $1 AND ended_at IS NOT NULL
            ORDER BY created_at DESC LIMIT ${HEAVY}))`,
        [id],
      ),
  ),
];

async function eraseAccount(sql: Sql, id: string): Promise<number> {
  for (const erase of OWNED) {
    const n = await erase(sql, id);
    if (n > 0) return n;
  }
  // A job that has not ended is being stopped: it, and the account, go when it has. A turn holds its conversation.
  const held = ["conversation", "transcription", "playbook_run", "schema_analysis"].map(
    (table) => `(SELECT id FROM owl.${table} WHERE account_id = $1 ORDER BY created_at DESC LIMIT 1) IS NOT NULL`,
  );
  const { rows } = await sql.query<{ held: boolean }>(`SELECT ${held.join(" OR ")} AS held`, [id]);
  if (rows[0]?.held !== false) return 0;
  return count(sql, "DELETE FROM owl.account WHERE id = $1 AND deleted_at IS NOT NULL", [id]);
}

/** Jobs of deleted accounts that nobody asked to stop yet. */
export async function listOrphanedJobs(sql: Sql): Promise<readonly { readonly kind: JobKind; readonly id: string }[]> {
  const { rows } = await sql.query<{ kind: JobKind; id: string }>(
    JOB_KINDS.map(
      (
        kind,
      ) => `(SELECT '${kind}' AS kind, r.id FROM owl.account a JOIN owl.${jobKindRow(kind).table} r ON r.account_id = a.id
         WHERE a.deleted_at IS NOT NULL AND r.ended_at IS NULL AND r.stop_requested_at IS NULL LIMIT ${ROWS})`,
    ).join(" UNION ALL "),
  );
  return rows;
}

/** Files that no row stands for any more, for a minute: whoever was just writing one was refused by then. */
export async function listDiscardedFiles(sql: Sql): Promise<readonly string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `SELECT upload_id AS id FROM owl.discarded_file WHERE at < statement_timestamp() - interval '1 minute' LIMIT ${ROWS}`,
  );
  return rows.map(({ id }) => id);
}

/** They are off the disk. */
export async function noteFilesGone(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query("DELETE FROM owl.discarded_file WHERE upload_id = ANY($1::uuid[])", [ids]);
}

/** Takes or renews the lease of the one sweeper there is; false while another process has it. */
export async function takeSweepLease(sql: Sql, holder: string, forMs: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE owl.sweep SET holder = $1, held_until = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
      WHERE name = 'all' AND (holder = $1 OR held_until IS NULL OR held_until < statement_timestamp())`,
    [holder, forMs],
  );
  return rowCount === 1;
}

/** Gives the lease up at once. */
export async function leaveSweepLease(sql: Sql, holder: string): Promise<void> {
  await sql.query("UPDATE owl.sweep SET held_until = NULL WHERE name = 'all' AND holder = $1", [holder]);
}
