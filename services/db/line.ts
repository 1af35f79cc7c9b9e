// The line of a kind: who is next. Claims go round the accounts: a job's round is how many of its account's run, plus its
// place among those of its account that wait; lower rounds first, then older jobs; recordings of a batch after all others.
// So one member's n-th job never comes before another's first, and nobody's line holds up another's.
// Invariant: the cost is a few index look-ups an account that waits, however many jobs wait.

import type { JobKind } from "../../config/config.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import { activateText, waitingJobText } from "./queue.ts";

const table = (kind: JobKind): string => `owl.${jobKindRow(kind).table}`;

const waits = (row: string): string => `${row}.state = 'queued' AND ${row}.queue_job IS NOT NULL`;

/** What comes after all others: recordings of a batch. */
const later = (kind: JobKind, row: string): string => (kind === "transcription" ? `(${row}.batch_id IS NOT NULL)` : "");

const ordered = (kind: JobKind, row: string): string =>
  [later(kind, row), `${row}.created_at`, `${row}.id`].filter((one) => one !== "").join(", ");

/** `account`: those with something waiting, each found by one step in the index; `busy`: how many of whose run. */
const accountsText = (kind: JobKind, worker: string): string => `account AS (
    (SELECT r.account_id AS id FROM ${table(kind)} r WHERE ${waits("r")} ORDER BY r.account_id LIMIT 1)
    UNION ALL
    SELECT (SELECT r.account_id FROM ${table(kind)} r WHERE ${waits("r")} AND r.account_id > a.id
             ORDER BY r.account_id LIMIT 1)
      FROM account a WHERE a.id IS NOT NULL),
  busy AS (
    SELECT r.account_id AS id, count(*) AS n, count(*) FILTER (WHERE r.claimed_by = ${worker}) AS here
      FROM ${table(kind)} r WHERE r.state = 'running' GROUP BY 1)`;

/**
 * Takes queue jobs for the worker $1, rows of formats up to $2, $3 at most, no account beyond $4 places of this worker.
 * Gives the CTE `fetched` (queue job, its row, the fence), `nominated` (how many were there to take) and `capped`
 * (somebody waits for a place of their own). One that another claim holds at this moment is passed over.
 */
export function fetchText(kind: JobKind): string {
  const job = waitingJobText(kind, "r.queue_job");
  const from = `${table(kind)} r JOIN ${job} j ON true
         WHERE ${waits("r")} AND r.format <= $2::int`;
  const order = later(kind, "q") === "" ? "false" : later(kind, "r");
  return `WITH RECURSIVE ${accountsText(kind, "$1")},
  alive AS (SELECT w.id FROM owl.worker w WHERE w.id = $1 AND w.gone_at IS NULL AND w.stopped_at IS NULL),
  nominee AS MATERIALIZED (
    SELECT a.id AS account_id
      FROM alive, account a LEFT JOIN busy b ON b.id = a.id
      CROSS JOIN LATERAL (
        SELECT q.*, coalesce(b.n, 0) + row_number() OVER (ORDER BY q.later, q.created_at, q.id) AS round FROM (
          SELECT r.id, r.created_at, ${order} AS later FROM ${from} AND r.account_id = a.id
           ORDER BY ${ordered(kind, "r")} LIMIT greatest(0, least($3::int, $4::int - coalesce(b.here, 0)))) q) w
     WHERE a.id IS NOT NULL
     ORDER BY w.later, w.round, w.created_at, w.id LIMIT $3::int),
  taken AS MATERIALIZED (
    SELECT t.* FROM (SELECT n.account_id, count(*) AS n FROM nominee n GROUP BY 1) s
      CROSS JOIN LATERAL (
        SELECT r.id AS row, j.name, j.id FROM ${from} AND r.account_id = s.account_id
         ORDER BY ${ordered(kind, "r")} LIMIT s.n FOR UPDATE OF j SKIP LOCKED) t),
  fetched AS (${activateText("taken")}),
  seen AS (
    SELECT (SELECT count(*) FROM nominee)::int AS nominated,
           EXISTS (SELECT 1 FROM account a JOIN busy b ON b.id = a.id WHERE b.here >= $4::int) AS capped)`;
}

/** How many turns come before the waiting turn $1 in that order, at most 1,000 counted. */
export const POSITION = `WITH RECURSIVE ${accountsText("chat", "''")},
  me AS (
    SELECT t.created_at, t.id, coalesce(b.n, 0) + (
             SELECT count(*) FROM (
               SELECT 1 FROM owl.turn r WHERE ${waits("r")} AND r.account_id = t.account_id
                  AND (r.created_at, r.id) <= (t.created_at, t.id) LIMIT 1000) own) AS round
      FROM owl.turn t LEFT JOIN busy b ON b.id = t.account_id WHERE t.id = $1)
  SELECT count(*)::int AS n FROM (
    SELECT 1 FROM me CROSS JOIN account a LEFT JOIN busy b ON b.id = a.id
      CROSS JOIN LATERAL (
        SELECT q.*, coalesce(b.n, 0) + row_number() OVER (ORDER BY q.created_at, q.id) AS round FROM (
          SELECT r.created_at, r.id FROM owl.turn r WHERE ${waits("r")} AND r.account_id = a.id
           ORDER BY r.created_at, r.id LIMIT greatest(0, me.round - coalesce(b.n, 0))) q) w
     WHERE (w.round, w.created_at, w.id) < (me.round, me.created_at, me.id) LIMIT 1000) before`;
