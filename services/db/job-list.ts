// Jobs of all four kinds as one list, for administrators. Invariants: only our own tables are read, by their indexes (a
// million waiting jobs make a page no slower); no question, answer or other content of anybody is among the columns.

import { JOB_KINDS, type JobKind } from "../../config/config.ts";
import { jobKindRow } from "../core/job-kinds.ts";
import { type JobFilter, type JobState, sortColumn, wantedStates } from "../core/job-view.ts";
import { type Before, beforeText, beforeValues, cursorText } from "./keyset.ts";
import type { Sql } from "./pool.ts";

export interface JobRow {
  readonly kind: JobKind;
  readonly id: string;
  readonly state: JobState;
  readonly owner: string;
  readonly accountId: string;
  readonly title: string | null;
  readonly batchId: string | null;
  readonly attempt: number;
  readonly losses: number;
  readonly worker: string | null;
  /** The worker of a running job lives; true for every other job. */
  readonly workerLives: boolean;
  readonly stopRequested: boolean;
  readonly message: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  /** How long it waits or runs by the database's clock; null: it has ended. */
  readonly ageMs: number | null;
  readonly cursor: string;
}

// A turn's title would be its conversation's, which is made of the question: nobody else's to read. A file of an
// archive lies in a folder that the administrator named, so its name is shown; an upload's name is its owner's words,
// and is not. Playbooks and data sources carry names that say what is run, which is what an administrator must know.
const TITLE: Readonly<Record<JobKind, string>> = {
  chat: "NULL::text",
  transcription: "CASE WHEN r.path IS NULL THEN NULL ELSE r.name END",
  playbook: "r.name",
  "schema-analysis": "r.data_source",
};

// A transcription that was tried again waits since then.
const since = (kind: JobKind): string =>
  kind === "transcription" ? "greatest(r.created_at, r.moved_at)" : "r.created_at";
const tableOf = (kind: JobKind): string => `owl.${jobKindRow(kind).table}`;

/** More rows than any page has: the statement's text must not hold the page's own limit. */
const MOST = 201;

function branch(kind: JobKind, state: JobState, key: string, ownerAt: string | null): string {
  const ended = key === "ended_at" ? " AND r.ended_at IS NOT NULL" : "";
  const owner =
    ownerAt === null ? "" : ` AND r.account_id = (SELECT o.id FROM owl.account o WHERE o.name = ${ownerAt})`;
  return `(SELECT '${kind}' AS kind, r.id, r.${key} AS at FROM ${tableOf(kind)} r
    WHERE ($1::text IS NULL OR $1 = '${kind}') AND r.state = '${state}'${ended}${owner}
      AND ${beforeText(`r.${key}`, "r.id", "$2", "$3")}
    ORDER BY r.${key} DESC, r.id DESC LIMIT ${MOST})`;
}

function details(kind: JobKind): string {
  return `SELECT r.state, r.account_id, ${TITLE[kind]} AS title,
      ${kind === "transcription" ? "r.batch_id" : "NULL::uuid"} AS batch_id, r.attempt, r.losses, r.claimed_by,
      r.stop_requested_at IS NOT NULL AS stop_requested, r.message, r.created_at, r.claimed_at, r.ended_at,
      CASE r.state WHEN 'queued' THEN ${since(kind)} WHEN 'running' THEN r.claimed_at END AS since
    FROM ${tableOf(kind)} r WHERE p.kind = '${kind}' AND r.id = p.id`;
}

const living = (age: string): string =>
  `w.gone_at IS NULL AND w.stopped_at IS NULL
   AND w.heartbeat_at > clock_timestamp() - make_interval(secs => ${age}::float8 / 1000)`;

/** `page`: what gives kind, id and `at` of each wanted job. `ageAt`: the parameter that says when a worker is stalled. */
function rowsText(page: string, ageAt: string): string {
  return `WITH page AS MATERIALIZED (${page})
    SELECT p.kind, p.id, d.state, a.name AS owner, d.account_id AS "accountId", d.title, d.batch_id AS "batchId",
           d.attempt, d.losses, d.claimed_by AS worker, d.stop_requested AS "stopRequested", d.message,
           d.state <> 'running' OR EXISTS (SELECT 1 FROM owl.worker w WHERE w.id = d.claimed_by AND ${living(ageAt)})
             AS "workerLives",
           d.created_at AS "createdAt", d.claimed_at AS "startedAt", d.ended_at AS "endedAt",
           CASE WHEN d.since IS NOT NULL
             THEN greatest(extract(epoch FROM clock_timestamp() - d.since) * 1000, 0)::float8 END AS "ageMs",
           ${cursorText("p.at")} AS cursor
      FROM page p CROSS JOIN LATERAL (${JOB_KINDS.map(details).join(" UNION ALL ")}) d
      JOIN owl.account a ON a.id = d.account_id
     ORDER BY p.at DESC, p.id DESC`;
}

function listText(filter: JobFilter, byOwner: boolean): string {
  const key = sortColumn(filter);
  const branches = wantedStates(filter).map(({ kind, state }) => branch(kind, state, key, byOwner ? "$6" : null));
  const page = `SELECT * FROM (${branches.join(" UNION ALL ")}) b ORDER BY b.at DESC, b.id DESC LIMIT $4`;
  return rowsText(page, "$5");
}

/** Unfinished jobs the newest first, ended ones the latest end first; `owner`: an account's name. */
export async function listJobs(
  sql: Sql,
  query: {
    readonly kind: JobKind | null;
    readonly filter: JobFilter;
    readonly owner: string | null;
    readonly stalledAfterMs: number;
    readonly before: Before;
    readonly limit: number;
  },
): Promise<readonly JobRow[]> {
  const values = [query.kind, ...beforeValues(query.before), query.limit, query.stalledAfterMs];
  const { rows } = await sql.query<JobRow>(
    listText(query.filter, query.owner !== null),
    query.owner === null ? values : [...values, query.owner],
  );
  return rows;
}

const ONE = rowsText("SELECT $1::text AS kind, $2::uuid AS id, clock_timestamp() AS at", "$3");

/** The job, whoever's it is. */
export async function findJob(sql: Sql, kind: JobKind, id: string, stalledAfterMs: number): Promise<JobRow | null> {
  const { rows } = await sql.query<JobRow>(ONE, [kind, id, stalledAfterMs]);
  return rows[0] ?? null;
}

/** Ids of failed jobs of `kind`, the latest end first; `owner`: an account's name. */
export async function listFailed(
  sql: Sql,
  query: { readonly kind: JobKind; readonly owner: string | null; readonly limit: number },
): Promise<readonly string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `SELECT r.id FROM ${tableOf(query.kind)} r
      WHERE r.state = 'failed' AND r.ended_at IS NOT NULL
        ${query.owner === null ? "" : "AND r.account_id = (SELECT o.id FROM owl.account o WHERE o.name = $2)"}
      ORDER BY r.ended_at DESC, r.id DESC LIMIT $1`,
    query.owner === null ? [query.limit] : [query.limit, query.owner],
  );
  return rows.map((row) => row.id);
}
