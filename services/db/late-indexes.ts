// Indexes of large tables that only make reading fast. They are built beside the work of everybody (CONCURRENTLY, which
// no migration can: it runs in a transaction, and an index over a million rows there would hold up every writer), by the
// one sweeper there is. Until one is valid the statements that want it are slower, and right. Invariant: building may
// be broken off at any time; what is left half-built is dropped and built again.

import pg from "pg";

interface LateIndex {
  readonly name: string;
  /** What follows CREATE INDEX … ON. */
  readonly on: string;
  /** What it needs; where the role may not make them it is left out. */
  readonly extensions?: readonly string[];
}

const ENDED = "WHERE ended_at IS NOT NULL";
const JOB_TABLES = ["turn", "transcription", "playbook_run", "schema_analysis"] as const;

/** For conversation-search.ts: of ended turns alone, so that each turn is put in once. */
export const SEARCH_INDEX = "owl.turn_search";

export const LATE_INDEXES: readonly LateIndex[] = [
  // Lists of one account.
  {
    name: "conversation_list",
    on: "owl.conversation (account_id, (archived_at IS NOT NULL), updated_at DESC, id DESC) WHERE deleted_at IS NULL",
  },
  {
    name: "conversation_folder",
    on: "owl.conversation (account_id, folder, updated_at DESC, id DESC) WHERE folder IS NOT NULL AND deleted_at IS NULL",
  },
  {
    name: "transcription_single",
    on: "owl.transcription (account_id, created_at DESC, id DESC) WHERE batch_id IS NULL",
  },
  { name: "batch_created", on: "owl.batch (created_at DESC, id DESC)" },
  { name: "audit_account", on: "owl.audit (account_id, id)" },
  // Jobs by owner, for administrators.
  ...JOB_TABLES.map((table) => ({
    name: `${table}_account_ended`,
    on: `owl.${table} (account_id, state, ended_at, id) ${ENDED}`,
  })),
  ...JOB_TABLES.map((table) => ({
    name: `${table}_account_open`,
    on: `owl.${table} (account_id, state, created_at, id) WHERE ended_at IS NULL`,
  })),
  // What the sweeps of retention.ts look for.
  { name: "conversation_idle", on: "owl.conversation (updated_at) WHERE pinned_at IS NULL AND deleted_at IS NULL" },
  { name: "conversation_deleted", on: "owl.conversation (deleted_at) WHERE deleted_at IS NOT NULL" },
  // What names an account, where one goes for good.
  { name: "conversation_owner", on: "owl.conversation (account_id, created_at)" },
  { name: "step_answered_by", on: "owl.step (answered_by) WHERE answered_by IS NOT NULL" },
  { name: "approval_account", on: "owl.approval (account_id)" },
  { name: "rollout_cancel_account", on: "owl.rollout_cancel (account_id)" },
  { name: "batch_deleted", on: "owl.batch (deleted_at) WHERE deleted_at IS NOT NULL" },
  { name: "batch_ended", on: `owl.batch (ended_at) ${ENDED}` },
  { name: "transcription_single_ended", on: `owl.transcription (ended_at) ${ENDED} AND batch_id IS NULL` },
  { name: "playbook_run_ended", on: `owl.playbook_run (ended_at) ${ENDED}` },
  { name: "schema_analysis_ended", on: `owl.schema_analysis (ended_at) ${ENDED}` },
  { name: "schema_analysis_source", on: "owl.schema_analysis (data_source, ended_at) WHERE state = 'done'" },
  { name: "upload_completed", on: "owl.upload (completed_at) WHERE completed_at IS NOT NULL AND deleted_at IS NULL" },
  { name: "login_failure_at", on: "owl.login_failure (at)" },
  {
    name: "turn_search",
    on: `owl.turn USING gin (account_id, text gin_trgm_ops, answer gin_trgm_ops) ${ENDED}`,
    extensions: ["pg_trgm", "btree_gin"],
  },
];

interface BuiltIndexes {
  readonly built: readonly string[];
  /** What could not be built, and why. */
  readonly refused: readonly { readonly name: string; readonly error: unknown }[];
}

/** Builds those that are missing, one after the other; a signal ends it after the one that is being built. */
export async function buildLateIndexes(url: string, signal: AbortSignal): Promise<BuiltIndexes> {
  const client = new pg.Client({ connectionString: url });
  // Its statements reject then; the event tells nothing more.
  client.on("error", () => undefined);
  const built: string[] = [];
  const refused: { name: string; error: unknown }[] = [];
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; valid: boolean }>(
      `SELECT c.relname AS name, i.indisvalid AS valid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE c.relnamespace = 'owl'::regnamespace`,
    );
    const known = new Map(rows.map(({ name, valid }) => [name, valid]));
    for (const index of LATE_INDEXES) {
      if (known.get(index.name) || signal.aborted) continue;
      try {
        await build(client, index, known.has(index.name));
        built.push(index.name);
      } catch (error) {
        refused.push({ name: index.name, error });
      }
    }
    return { built, refused };
  } finally {
    await client.end();
  }
}

async function build(client: pg.Client, { name, on, extensions = [] }: LateIndex, isHalf: boolean): Promise<void> {
  if (isHalf) {
    // Another process may still be at it: its half must not be taken away.
    const { rowCount } = await client.query("SELECT 1 FROM pg_stat_progress_create_index");
    if ((rowCount ?? 0) > 0) return;
    await client.query(`DROP INDEX CONCURRENTLY IF EXISTS owl.${name}`);
  }
  for (const extension of extensions) await client.query(`CREATE EXTENSION IF NOT EXISTS ${extension}`);
  await client.query(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON ${on}`);
}
