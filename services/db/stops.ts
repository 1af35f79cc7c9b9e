// Stopping a job on its user's word. Invariant: one statement, whichever way the row goes meanwhile: one that waits ends at
// once and takes its queue job along, one that runs is left to its worker with the wish noted; a hand-back that is met on
// the way is waited for and then counts as waiting (its new queue job, too new for that statement to see, goes after it).

import { JOB_KINDS, type JobKind } from "../../config/config.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import type { Sql } from "./pool.ts";
import { takeOutText } from "./queue.ts";

// What a row that waits becomes, and what its table has to have said besides.
const STOPPED: Readonly<Record<JobKind, string>> = {
  chat: "state = 'stopped', cause = 'stopped'",
  transcription: "state = 'cancelled', moved_at = clock_timestamp()",
  playbook: "state = 'stopped'",
  "schema-analysis": "state = 'stopped'",
};

/** In line, or for its owner's word: nobody runs it. */
const WAITS = "t.state IN ('queued', 'waiting')";

/** `SET` for a row that waits or runs: each assignment of `STOPPED` holds for a waiting one only. */
function assignments(kind: JobKind): string {
  const ended = `${STOPPED[kind]}, ended_at = clock_timestamp()`
    .split(", ")
    .map((one) => one.split(" = "))
    .map(([column, value]) => `${column} = CASE WHEN ${WAITS} THEN ${value} ELSE t.${column} END`);
  const wish = `stop_requested_at = CASE WHEN ${WAITS} THEN t.stop_requested_at
              ELSE coalesce(t.stop_requested_at, clock_timestamp()) END`;
  return [...ended, wish].join(", ");
}

// A turn's conversation is locked before it (pool.ts has the order), and told of its end with it.
const CHAT_LOCKS = `held AS MATERIALIZED (
    SELECT c.id FROM owl.conversation c WHERE c.id = (SELECT o.conversation_id FROM owl.turn o WHERE o.id = $1)
       FOR NO KEY UPDATE),`;
const CHAT_TELLS = `touched AS (
    UPDATE owl.conversation c SET updated_at = over.ended_at FROM over WHERE c.id = over.conversation_id),
  noted AS (
    INSERT INTO owl.turn_event (turn_id, seq, kind, data)
    SELECT over.id, coalesce((SELECT max(v.seq) FROM owl.turn_event v WHERE v.turn_id = over.id), 0) + 1, 'end',
           '{"state":"stopped","message":null}' FROM over),`;

function stopText(kind: JobKind): string {
  const isChat = kind === "chat";
  const told = isChat ? "pg_notify('owl_turn', id::text)" : `pg_notify('owl_observe', '${kind}:' || id::text)`;
  return `WITH ${isChat ? CHAT_LOCKS : ""}
  asked AS (
    UPDATE owl.${jobKindRow(kind).table} t SET ${assignments(kind)} ${isChat ? "FROM held" : ""}
     WHERE t.id = $1 AND (t.state = 'running' OR ${WAITS}) ${isChat ? "AND t.conversation_id = held.id" : ""}
    RETURNING t.*),
  over AS (SELECT * FROM asked WHERE ended_at IS NOT NULL),
  ${isChat ? CHAT_TELLS : ""}
  settled AS (${takeOutText(kind, "over", "waiting")})
  SELECT CASE WHEN ended_at IS NULL THEN pg_notify('owl_stop', '${kind}:' || id::text) ELSE ${told} END,
         ended_at IS NOT NULL AS ended, queue_job AS "queueJob" FROM asked`;
}

const tidyText = (kind: JobKind): string =>
  `WITH ended AS (SELECT $1::uuid AS queue_job) ${takeOutText(kind, "ended", "waiting")}`;

const STOP = Object.fromEntries(JOB_KINDS.map((kind) => [kind, stopText(kind)])) as Readonly<Record<JobKind, string>>;

/** "ended": it waited and is over; "asked": its worker is told to stop it; "over": it had ended before. */
export async function stopRow(sql: Sql, kind: JobKind, id: string): Promise<"ended" | "asked" | "over"> {
  const { rows } = await sql.query<{ ended: boolean; queueJob: string | null }>(STOP[kind], [id]);
  const row = rows[0];
  if (row === undefined) return "over";
  if (!row.ended) return "asked";
  await sql.query(tidyText(kind), [row.queueJob]);
  return "ended";
}
