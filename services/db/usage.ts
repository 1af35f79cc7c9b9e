// What an account holds of what is bounded (`limits` of owl.yaml). Invariant: who adds to it inserts, takes the account's
// lock and then looks, in one transaction: of two that add at once the second sees the first one's.

import type { Sql } from "./pool.ts";

/** By kind, of an account: each counted through an index of what is still held, not of all there ever was. */
const HELD = {
  /** Questions waiting or running. */
  turns: (account: string) =>
    `SELECT count(*)::int FROM owl.turn WHERE account_id = ${account} AND state IN ('queued', 'running', 'waiting')`,
  /** Playbook runs and analyses in line, or waiting for a word. */
  runs: (account: string) =>
    `SELECT (SELECT count(*) FROM owl.playbook_run WHERE account_id = ${account} AND state = 'queued')::int
          + (SELECT count(*) FROM owl.playbook_run WHERE account_id = ${account} AND state = 'waiting')::int
          + (SELECT count(*) FROM owl.schema_analysis WHERE account_id = ${account} AND state = 'queued')::int`,
  /** Recordings in line. */
  recordings: (account: string) =>
    `SELECT count(*)::int FROM owl.transcription WHERE account_id = ${account} AND state = 'queued'`,
  conversations: (account: string) =>
    `SELECT count(*)::int FROM owl.conversation WHERE account_id = ${account} AND deleted_at IS NULL`,
  playbooks: (account: string) =>
    `SELECT count(*)::int FROM owl.playbook WHERE account_id = ${account} AND deleted_at IS NULL`,
  /** Uploads that are not complete, and the bytes announced for them. */
  uploads: (account: string) => `SELECT count(*)::int FROM owl.upload
     WHERE account_id = ${account} AND deleted_at IS NULL AND completed_at IS NULL`,
  uploadBytes: (account: string) => `SELECT coalesce(sum(coalesce(length, bytes)), 0)::float8 FROM owl.upload
     WHERE account_id = ${account} AND deleted_at IS NULL AND completed_at IS NULL`,
  /** Files attached and not sent. */
  attachments: (account: string) =>
    `SELECT count(*)::int FROM owl.attachment WHERE account_id = ${account} AND turn_id IS NULL`,
  /** Bytes of recordings (also those announced) and attached files. */
  storedBytes: (account: string) =>
    `SELECT (SELECT coalesce(sum(coalesce(length, bytes)), 0) FROM owl.upload
              WHERE account_id = ${account} AND deleted_at IS NULL)::float8
          + (SELECT coalesce(sum(bytes), 0) FROM owl.attachment WHERE account_id = ${account})::float8`,
} as const satisfies Readonly<Record<string, (account: string) => string>>;

export type HeldKind = keyof typeof HELD;
type Usage = Readonly<Record<HeldKind, number>>;

const HELD_KINDS = Object.keys(HELD) as readonly HeldKind[];

/** Of an account that was made a moment ago. */
export const NOTHING_HELD = Object.fromEntries(HELD_KINDS.map((kind) => [kind, 0])) as Usage;

const counted = (kinds: readonly HeldKind[], account: string): string =>
  kinds.map((kind) => `(${HELD[kind](account)}) AS "${kind}"`).join(", ");

/** Until the transaction ends, nobody else adds to what the account holds. */
export async function lockUsage(sql: Sql, accountId: string): Promise<void> {
  await sql.query("SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, 2))", [accountId]);
}

export async function readUsage<Kind extends HeldKind>(
  sql: Sql,
  accountId: string,
  kinds: readonly Kind[] = HELD_KINDS as readonly Kind[],
): Promise<Pick<Usage, Kind>> {
  const { rows } = await sql.query<Pick<Usage, Kind>>(`SELECT ${counted(kinds, "$1::uuid")}`, [accountId]);
  return rows[0] as Pick<Usage, Kind>;
}

/** Of every account, by its id. */
export async function listUsage(sql: Sql): Promise<ReadonlyMap<string, Usage>> {
  const { rows } = await sql.query<Usage & { id: string }>(
    `SELECT a.id, ${counted(HELD_KINDS, "a.id")} FROM owl.account a`,
  );
  return new Map(rows.map(({ id, ...usage }) => [id, usage]));
}
