// What one account's event stream reads. Invariant: every statement names the account; another one's turn gives nothing.

import type { Sql } from "./pool.ts";

interface LiveTurnRow {
  readonly turnId: string;
  readonly conversationId: string;
  /** Number of its last stored event. */
  readonly seq: number;
}

/** The account's turns that have not ended, and the server's time after the look: what is not among them ended before it. */
export async function listLiveTurns(
  sql: Sql,
  accountId: string,
): Promise<{ readonly turns: readonly LiveTurnRow[]; readonly at: string }> {
  const { rows } = await sql.query<LiveTurnRow & { readonly turnId: string | null; readonly at: string }>(
    `SELECT l.*, clock_timestamp()::text AS at FROM (SELECT 1) one LEFT JOIN (
       SELECT t.id AS "turnId", t.conversation_id AS "conversationId",
              coalesce((SELECT max(e.seq) FROM owl.turn_event e WHERE e.turn_id = t.id), 0) AS seq
         FROM owl.turn t JOIN owl.conversation c ON c.id = t.conversation_id AND c.deleted_at IS NULL
        WHERE t.account_id = $1 AND t.state IN ('queued', 'running', 'waiting') ORDER BY t.created_at LIMIT 500) l ON true`,
    [accountId],
  );
  const turns = rows.flatMap(({ turnId, conversationId, seq }) =>
    turnId === null ? [] : [{ turnId, conversationId, seq }],
  );
  return { turns, at: rows[0]?.at ?? "" };
}

interface FeedEventRow {
  readonly turnId: string;
  readonly conversationId: string;
  readonly seq: number;
  readonly kind: "state" | "delta" | "tool" | "rewind" | "end";
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Stored events of those turns after the given numbers, each turn's in order; at most 2,000. None of those of `noted`
 * that ended before `at` (the server's time).
 */
export async function listFeedEvents(
  sql: Sql,
  accountId: string,
  after: ReadonlyMap<string, number>,
  noted: readonly string[],
  at: string,
): Promise<readonly FeedEventRow[]> {
  const { rows } = await sql.query<FeedEventRow>(
    `SELECT e.turn_id AS "turnId", t.conversation_id AS "conversationId", e.seq, e.kind, e.data
       FROM unnest($2::uuid[], $3::int[]) AS w(turn_id, after)
       JOIN owl.turn t ON t.id = w.turn_id AND t.account_id = $1
         AND NOT (t.id = ANY($4::uuid[]) AND coalesce(t.ended_at < $5::timestamptz, false))
       JOIN owl.turn_event e ON e.turn_id = w.turn_id AND e.seq > w.after
      ORDER BY e.turn_id, e.seq LIMIT 2000`,
    [accountId, [...after.keys()], [...after.values()], noted, at],
  );
  return rows;
}

/** What notifications name, and the table it is a row of. */
const OBSERVED = new Map([
  ["turn", "turn"],
  ["conversation", "conversation"],
  ["batch", "batch"],
  ["transcription", "transcription"],
  ["playbook", "playbook_run"],
  ["playbook_run", "playbook_run"],
  ["schema-analysis", "schema_analysis"],
  ["schema_analysis", "schema_analysis"],
]);

/** Whose turn or long work that is; null for a row that is gone or a name that is not observed. */
export async function findOwner(sql: Sql, what: string, id: string): Promise<string | null> {
  const table = OBSERVED.get(what);
  if (table === undefined) return null;
  const { rows } = await sql.query<{ accountId: string }>(
    `SELECT account_id AS "accountId" FROM owl.${table} WHERE id = $1`,
    [id],
  );
  return rows[0]?.accountId ?? null;
}
