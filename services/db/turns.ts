// Turns: one statement, one function. Invariant: an ending is one UPDATE guarded by state (and attempt, for a worker),
// its row count is the answer; the answer's text is always that of the stored deltas, byte for byte.

import { jobKindRow } from "../core/job-kinds.ts";
import type { TurnCause, TurnEndState, TurnState } from "../core/turn.ts";
import { storableJson } from "../core/wire/json.ts";
import { ATTACHED, type AttachmentRow } from "./attachments.ts";
import { type Before, cursorText } from "./keyset.ts";
import { POSITION } from "./line.ts";
import { LOOSE_COMMIT, type Sql } from "./pool.ts";
import { type JobQueue, takeOutText } from "./queue.ts";
import { titleText } from "./titles.ts";
import { type AskedStep, askedText } from "./waiting.ts";

export interface TurnRow {
  readonly id: string;
  readonly conversationId: string;
  readonly accountId: string;
  readonly state: TurnState;
  readonly text: string;
  readonly answer: string | null;
  readonly message: string | null;
  readonly createdAt: Date;
  readonly claimedAt: Date | null;
  readonly endedAt: Date | null;
  readonly stopRequested: boolean;
  /** Steps its owner is asked about. */
  readonly waitsFor: readonly AskedStep[];
  /** The last stored event that `answer` covers: a stream resumed after it repeats nothing. */
  readonly seq: number;
  /** Tool calls so far, oldest first. */
  readonly tools: readonly Record<string, unknown>[];
  readonly attachments: readonly AttachmentRow[];
  /** All versions of it, oldest first; none where it is the only one. */
  readonly versions: readonly string[];
  /** What its owner thought of the answer. */
  readonly feedback: { readonly good: boolean; readonly note: string } | null;
}

const TURN_COLUMNS = `t.id, t.conversation_id AS "conversationId", t.account_id AS "accountId", t.state, t.text,
  coalesce(t.answer, e.text) AS answer, t.message, t.created_at AS "createdAt", t.claimed_at AS "claimedAt",
  t.ended_at AS "endedAt", t.stop_requested_at IS NOT NULL AS "stopRequested", coalesce(e.seq, 0) AS seq,
  coalesce(e.tools, '[]'::jsonb) AS tools, ${askedText("chat", "t")} AS "waitsFor",
  coalesce((SELECT jsonb_agg(${ATTACHED} ORDER BY a.position) FROM owl.attachment a WHERE a.turn_id = t.id), '[]'::jsonb) AS attachments,
  to_jsonb(owl.turn_versions(t.conversation_id, t.id)) AS versions,
  (SELECT jsonb_build_object('good', f.good, 'note', f.note) FROM owl.feedback f WHERE f.turn_id = t.id) AS feedback`;

const TURN_EVENTS = `LEFT JOIN LATERAL (
    SELECT max(v.seq) AS seq,
           string_agg(v.data->>'text', '' ORDER BY v.seq) FILTER (WHERE v.kind = 'delta' AND t.answer IS NULL) AS text,
           jsonb_agg(v.data ORDER BY v.seq) FILTER (WHERE v.kind = 'tool') AS tools
      FROM owl.turn_event v WHERE v.turn_id = t.id) e ON true`;

interface NewTurn {
  readonly id: string;
  readonly conversationId: string;
  readonly accountId: string;
  readonly text: string;
  readonly queueJob: string;
  readonly claimMs: number;
  /** How many the account may have in line; absent: nobody counts. */
  readonly most?: number;
  /** What it follows (its own id: nothing); absent: the last turn of what is shown. */
  readonly parentId?: string;
  /** The request that asked; absent: none did. */
  readonly requestId?: string;
  /** Steps of it are to stand on record: only code that goes on by them may run it. */
  readonly begun?: boolean;
}

/**
 * A queued turn, its queue job and its first event, in one statement that wakes workers and streams. Its commit is not
 * waited for on disk: `flush` before anybody is told. "running": one of that conversation has not ended yet;
 * "notFound": there is no such conversation of that account; "full": the account has `most` in line. Each ends the
 * caller's transaction, if there is one.
 */
export async function acceptTurn(
  sql: Sql,
  queue: Pick<JobQueue, "enqueueWithin">,
  turn: NewTurn,
): Promise<"accepted" | "running" | "notFound" | "full"> {
  const { format: newest, freshFormat } = jobKindRow("chat");
  const format = turn.begun ? newest : freshFormat;
  const job = { id: turn.id, queueJob: turn.queueJob, format };
  try {
    await queue.enqueueWithin(sql, "chat", job, (insert, parameter) => ({
      text: acceptText(insert, parameter),
      values: [
        turn.id,
        turn.conversationId,
        turn.accountId,
        turn.text,
        turn.queueJob,
        turn.claimMs,
        format,
        turn.most ?? MOST_IN_LINE,
        turn.parentId ?? null,
        turn.requestId ?? null,
      ],
    }));
    return "accepted";
  } catch (error) {
    const { code, constraint, column } = error as { code?: string; constraint?: string; column?: string };
    if (code === "23505" && constraint === "turn_one_running") return "running";
    if (code === "23502" && (column === "conversation_id" || column === "turn_id")) return "notFound";
    if (code === "23503" && constraint === "turn_conversation_id_fkey") return "notFound";
    if (code === "23502" && column === "account_id") return "full";
    throw error;
  }
}

const MOST_IN_LINE = 2 ** 31 - 1;

// A conversation that is not there is NULL, and so is an account without a place in line, which the table refuses: the
// queue job must not come to be without its turn.
// A conversation that is deleted at this moment is waited for: then there is nothing to title, and the event's NULL is refused.
function acceptText(insert: string, parameter: (n: number) => string): string {
  const [id, conversationId, accountId, text = "", queueJob, claimMs, format, most, parentId, requestId] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
  ].map(parameter);
  return `WITH queued AS (${insert}),
     loose AS MATERIALIZED (SELECT ${LOOSE_COMMIT}),
     accepted AS (
       INSERT INTO owl.turn (id, conversation_id, account_id, text, queue_job, claim_deadline_at, format, parent_id,
         model, request_id)
       VALUES (${id}, (SELECT c.id FROM owl.conversation c
                        WHERE c.id = ${conversationId} AND c.account_id = ${accountId} AND c.deleted_at IS NULL),
               CASE WHEN owl.has_turn_place(${accountId}, ${most}) THEN ${accountId}::uuid END, ${text}, ${queueJob}, clock_timestamp() + make_interval(secs => ${claimMs}::float8 / 1000),
               ${format}, coalesce(${parentId}::uuid, (SELECT c.leaf_id FROM owl.conversation c WHERE c.id = ${conversationId})),
               (SELECT c.model FROM owl.conversation c WHERE c.id = ${conversationId}), ${requestId})
       RETURNING id, conversation_id),
     titled AS (
       UPDATE owl.conversation c SET updated_at = clock_timestamp(), leaf_id = NULL,
              title = CASE WHEN title = '' THEN ${titleText(text)} ELSE title END
         FROM accepted WHERE c.id = accepted.conversation_id AND c.deleted_at IS NULL
       RETURNING accepted.id),
     noted AS (
       INSERT INTO owl.turn_event (turn_id, seq, kind, data)
       SELECT titled.id, 1, 'state', '{"state":"queued"}' FROM accepted LEFT JOIN titled ON titled.id = accepted.id)
     SELECT pg_notify('owl_jobs', 'chat'), pg_notify('owl_turn', id::text) FROM accepted, loose`;
}

export interface NewTurnEvent {
  readonly kind: "delta" | "tool";
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Appends events of a running turn in order; null when the claim is lost (nothing was stored), else the last event's
 * number. `repeat`: these very events were sent before and it is not known whether they were stored; `after` is the
 * number the turn's last event had then, null before the first ones. They are stored unless they are there already.
 * The caller notifies (owl_turn).
 */
export async function appendTurnEvents(
  sql: Sql,
  turn: { readonly id: string; readonly attempt: number },
  events: readonly NewTurnEvent[],
  repeat: { readonly after: number | null } | null = null,
): Promise<number | null> {
  const { rows } = await sql.query<{ seq: number }>(
    `WITH held AS (
       SELECT id FROM owl.turn WHERE id = $1 AND attempt = $2 AND state = 'running' FOR UPDATE),
     base AS (SELECT held.id, coalesce((SELECT max(seq) FROM owl.turn_event WHERE turn_id = $1), 0) AS seq FROM held),
     missing AS (
       SELECT base.id, base.seq FROM base
        WHERE NOT $4 OR CASE WHEN $5::int IS NOT NULL THEN base.seq = $5::int
              ELSE NOT EXISTS (SELECT 1 FROM owl.turn_event WHERE turn_id = $1 AND kind IN ('delta', 'tool')) END),
     stored AS (
       INSERT INTO owl.turn_event (turn_id, seq, kind, data)
       SELECT missing.id, missing.seq + v.n, v.event->>'kind', v.event->'data'
         FROM missing, jsonb_array_elements($3::jsonb) WITH ORDINALITY AS v(event, n)
       RETURNING seq)
     SELECT greatest(base.seq, (SELECT max(seq) FROM stored)) AS seq FROM base`,
    [turn.id, turn.attempt, storableJson(events), repeat !== null, repeat?.after ?? null],
  );
  return rows[0]?.seq ?? null;
}

/** What another version of that turn of the conversation follows (null: nothing), and how many there are; null: no such turn. */
export async function findVersionPoint(
  sql: Sql,
  turn: { readonly id: string; readonly conversationId: string; readonly accountId: string },
): Promise<{ readonly parentId: string | null; readonly versions: number } | null> {
  const { rows } = await sql.query<{ parentId: string | null; versions: number }>(
    `SELECT p.id AS "parentId", (SELECT count(*)::int FROM owl.turn_children(t.conversation_id, p.id)) AS versions
       FROM owl.turn t, owl.turn_parent(t.id) p(id) 
      WHERE t.id = $1 AND t.conversation_id = $2 AND t.account_id = $3`,
    [turn.id, turn.conversationId, turn.accountId],
  );
  return rows[0] ?? null;
}

interface TurnEnding {
  readonly state: TurnEndState;
  readonly cause: TurnCause;
  readonly message: string | null;
}

// The end event is stored with the ending, so that a stream always finds one; the queue job goes with it. The conversation
// is locked first, as whoever deletes it does.
const END_TURN = (what: "running" | "waiting", guard: string, told = "pg_notify('owl_turn', id::text), ") => `
  WITH held AS MATERIALIZED (
    SELECT c.id FROM owl.conversation c WHERE c.id = (SELECT o.conversation_id FROM owl.turn o WHERE o.id = $1)
       FOR NO KEY UPDATE),
  ended AS (
    UPDATE owl.turn t SET state = $2, cause = $3, message = $4, ended_at = clock_timestamp(),
           answer = (SELECT string_agg(v.data->>'text', '' ORDER BY v.seq) FROM owl.turn_event v
                      WHERE v.turn_id = t.id AND v.kind = 'delta')
      FROM held
     WHERE t.id = $1 AND t.conversation_id = held.id AND ${guard} RETURNING t.id, t.conversation_id, t.ended_at, t.queue_job),
  touched AS (
    UPDATE owl.conversation c SET updated_at = ended.ended_at FROM ended WHERE c.id = ended.conversation_id),
  noted AS (
    INSERT INTO owl.turn_event (turn_id, seq, kind, data)
    SELECT ended.id, coalesce((SELECT max(seq) FROM owl.turn_event WHERE turn_id = ended.id), 0) + 1, 'end',
           jsonb_build_object('state', $2::text, 'message', $4::text) FROM ended),
  settled AS (${takeOutText("chat", "ended", what)})
  SELECT ${told}id FROM ended`;

const END_OWN_TURN = "t.attempt = $5 AND t.state = 'running'";

/** A worker ends the turn it runs; false when its claim is lost. `tell` false: the caller notifies (owl_turn) after it. */
export async function endTurn(
  sql: Sql,
  turn: { readonly id: string; readonly attempt: number },
  ending: TurnEnding,
  tell = true,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    tell ? END_TURN("running", END_OWN_TURN) : END_TURN("running", END_OWN_TURN, ""),
    [turn.id, ending.state, ending.cause, ending.message, turn.attempt],
  );
  return rowCount === 1;
}

/** Web ends a turn nobody has claimed; false when it is no longer queued. */
export async function endQueuedTurn(sql: Sql, id: string, ending: TurnEnding): Promise<boolean> {
  const { rowCount } = await sql.query(END_TURN("waiting", "t.state = 'queued'"), [
    id,
    ending.state,
    ending.cause,
    ending.message,
  ]);
  return rowCount === 1;
}

/** Queued turns past their claim deadline by the database's clock, oldest first; `begun`: a worker had begun it once. */
export async function findUnclaimedTurns(
  sql: Sql,
  limit: number,
): Promise<readonly { readonly id: string; readonly begun: boolean }[]> {
  const { rows } = await sql.query<{ id: string; begun: boolean }>(
    `SELECT id, attempt > 0 AS begun FROM owl.turn WHERE state = 'queued' AND claim_deadline_at <= statement_timestamp()
      ORDER BY claim_deadline_at LIMIT $1`,
    [limit],
  );
  return rows;
}

/** The turn, when it is that account's. */
export async function findTurn(sql: Sql, id: string, accountId: string): Promise<TurnRow | null> {
  const { rows } = await sql.query<TurnRow>(
    `SELECT ${TURN_COLUMNS} FROM owl.turn t JOIN owl.conversation c ON c.id = t.conversation_id AND c.deleted_at IS NULL
       ${TURN_EVENTS} WHERE t.id = $1 AND t.account_id = $2`,
    [id, accountId],
  );
  return rows[0] ?? null;
}

const SHOWN_LEAF = `coalesce((SELECT c.leaf_id FROM owl.conversation c WHERE c.id = $1),
  (SELECT l.id FROM owl.turn l WHERE l.conversation_id = $1 ORDER BY l.created_at DESC, l.id DESC LIMIT 1))`;

/** Characters of text on one page of turns: a page ends at the turn that goes past it. */
const PAGE_CHARACTERS = 1_000_000;

/**
 * The last turns of a conversation as it is shown, before a mark, last first: at most `limit`, and as many as the text
 * allows.
 */
export async function listTurns(
  sql: Sql,
  query: {
    readonly conversationId: string;
    readonly before: Before;
    readonly limit: number;
    /** The last turn there is to be; absent: that of what is shown. */
    readonly leaf?: string;
  },
): Promise<{
  readonly turns: readonly (TurnRow & { readonly cursor: string })[];
  readonly hasMore: boolean;
  /** State of the conversation's newest turn; null without one. */
  readonly newest: TurnState | null;
}> {
  const { rows } = await sql.query<TurnRow & { cursor: string; more: boolean; newest: TurnState }>(
    `SELECT ${TURN_COLUMNS}, ${cursorText("t.created_at")} AS cursor, p.n < p.found AS more,
            (SELECT l.state FROM owl.turn l WHERE l.conversation_id = $1
              ORDER BY l.created_at DESC, l.id DESC LIMIT 1) AS newest
       FROM (SELECT w.id, w.n, count(*) OVER () AS found,
                    coalesce(sum(length(o.text) + coalesce(length(o.answer), 0) + e.tools) OVER (ORDER BY w.n ROWS BETWEEN
                      UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS characters
               FROM owl.turn_path(
                      CASE WHEN $2::uuid IS NULL THEN coalesce($4::uuid, ${SHOWN_LEAF})
                           ELSE owl.turn_parent((SELECT b.id FROM owl.turn b WHERE b.id = $2 AND b.conversation_id = $1)) END,
                      $3 + 1) w
               JOIN owl.turn o ON o.id = w.id
               CROSS JOIN LATERAL (SELECT coalesce(sum(length(v.data::text)), 0) AS tools FROM owl.turn_event v
                                    WHERE v.turn_id = o.id AND v.kind = 'tool') e) p
       JOIN owl.turn t ON t.id = p.id ${TURN_EVENTS}
      WHERE p.n <= $3 AND p.characters < ${PAGE_CHARACTERS} ORDER BY p.n`,
    [query.conversationId, query.before?.id ?? null, query.limit, query.leaf ?? null],
  );
  const turns = rows.map(({ more: _more, newest: _newest, ...row }) => row);
  return { turns, hasMore: rows.at(-1)?.more ?? false, newest: rows[0]?.newest ?? null };
}

/** How many waiting turns come before this one (line.ts), at most 1,000 counted. */
export async function queuePosition(sql: Sql, id: string): Promise<number> {
  const { rows } = await sql.query<{ n: number }>(POSITION, [id]);
  return rows[0]?.n ?? 0;
}

interface TurnEventRow {
  readonly seq: number;
  readonly kind: "state" | "delta" | "tool" | "rewind" | "end";
  readonly data: Readonly<Record<string, unknown>>;
}

/** Of one look at a turn's events. */
export const MOST_EVENTS = 2_000;

/** Stored events after `seq`, in order; MOST_EVENTS at most. */
export async function listTurnEvents(sql: Sql, id: string, afterSeq: number): Promise<readonly TurnEventRow[]> {
  const { rows } = await sql.query<TurnEventRow>(
    "SELECT seq, kind, data FROM owl.turn_event WHERE turn_id = $1 AND seq > $2 ORDER BY seq LIMIT $3",
    [id, afterSeq, MOST_EVENTS],
  );
  return rows;
}

/** What earlier attempts told of an answer. */
export interface ToldSoFar {
  readonly text: string;
  /** The last stored event. */
  readonly seq: number;
  /** Ids of tool calls whose end was told. */
  readonly ends: readonly string[];
}

export async function findTold(sql: Sql, id: string): Promise<ToldSoFar> {
  const { rows } = await sql.query<ToldSoFar>(
    `SELECT coalesce(string_agg(data->>'text', '' ORDER BY seq) FILTER (WHERE kind = 'delta'), '') AS text,
            coalesce(max(seq), 0) AS seq,
            coalesce(jsonb_agg(data->>'id') FILTER (WHERE kind = 'tool' AND data->>'state' IN ('done', 'failed')), '[]') AS ends
       FROM owl.turn_event WHERE turn_id = $1`,
    [id],
  );
  return rows[0] ?? { text: "", seq: 0, ends: [] };
}
