// Schema analyses and their table descriptions, stored table by table. Invariant: a worker's writes name its attempt.

import { jobKindRow } from "../core/job-kinds.ts";
import { storableJson } from "../core/wire/json.ts";
import type { RunState } from "../core/wire/playbook.ts";
import { type Before, beforeText, beforeValues, cursorText } from "./keyset.ts";
import type { Sql } from "./pool.ts";
import type { Fence } from "./transcriptions.ts";

export interface SchemaAnalysisRow {
  readonly id: string;
  readonly dataSource: string;
  readonly state: RunState;
  readonly message: string | null;
  readonly tablesTotal: number | null;
  readonly tablesDone: number;
  readonly stopRequested: boolean;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  readonly cursor: string;
}

interface ColumnDescription {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

interface TableDescription {
  readonly schema: string;
  readonly table: string;
  readonly description: string;
  readonly columns: readonly ColumnDescription[];
}

const ANALYSIS = `SELECT a.id, a.data_source AS "dataSource", a.state, a.message, a.tables_total AS "tablesTotal",
    (SELECT count(*)::int FROM owl.table_description d WHERE d.analysis_id = a.id) AS "tablesDone",
    a.stop_requested_at IS NOT NULL AS "stopRequested", a.created_at AS "createdAt", a.ended_at AS "endedAt",
    ${cursorText("a.created_at")} AS cursor
  FROM owl.schema_analysis a`;

export async function insertSchemaAnalysis(
  sql: Sql,
  one: {
    readonly id: string;
    readonly accountId: string;
    readonly dataSource: string;
    readonly queueJob: string;
    readonly requestId: string;
  },
): Promise<void> {
  await sql.query(
    `INSERT INTO owl.schema_analysis (id, account_id, data_source, queue_job, format, request_id)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [one.id, one.accountId, one.dataSource, one.queueJob, jobKindRow("schema-analysis").freshFormat, one.requestId],
  );
}

export async function findSchemaAnalysis(sql: Sql, id: string, accountId: string): Promise<SchemaAnalysisRow | null> {
  const { rows } = await sql.query<SchemaAnalysisRow>(`${ANALYSIS} WHERE a.id = $1 AND a.account_id = $2`, [
    id,
    accountId,
  ]);
  return rows[0] ?? null;
}

/** Newest first. */
export async function listSchemaAnalyses(
  sql: Sql,
  query: {
    readonly accountId: string;
    readonly before: Before;
    readonly limit: number;
  },
): Promise<readonly SchemaAnalysisRow[]> {
  const { rows } = await sql.query<SchemaAnalysisRow>(
    `${ANALYSIS} WHERE a.account_id = $1
       AND ${beforeText("a.created_at", "a.id", "$2", "$3")}
     ORDER BY a.created_at DESC, a.id DESC LIMIT $4`,
    [query.accountId, ...beforeValues(query.before), query.limit],
  );
  return rows;
}

export async function listTableDescriptions(sql: Sql, id: string): Promise<readonly TableDescription[]> {
  const { rows } = await sql.query<TableDescription>(
    `SELECT table_schema AS schema, table_name AS "table", description, columns FROM owl.table_description
      WHERE analysis_id = $1 ORDER BY table_schema, table_name`,
    [id],
  );
  return rows;
}

/** The data source to analyse; null when the claim is lost. */
export async function loadAnalysisToDo(sql: Sql, fence: Fence): Promise<{ readonly dataSource: string } | null> {
  const { rows } = await sql.query<{ dataSource: string }>(
    `SELECT data_source AS "dataSource" FROM owl.schema_analysis WHERE id = $1 AND attempt = $2 AND state = 'running'`,
    [fence.id, fence.attempt],
  );
  return rows[0] ?? null;
}

export async function storeTablesTotal(sql: Sql, fence: Fence, total: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    "UPDATE owl.schema_analysis SET tables_total = $3 WHERE id = $1 AND attempt = $2 AND state = 'running'",
    [fence.id, fence.attempt, total],
  );
  return rowCount === 1;
}

/** Stores one table's description; false when the claim is lost. */
export async function storeTableDescription(sql: Sql, fence: Fence, one: TableDescription): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH held AS (
       SELECT id FROM owl.schema_analysis WHERE id = $1 AND attempt = $2 AND state = 'running' FOR UPDATE),
     stored AS (
       INSERT INTO owl.table_description (analysis_id, table_schema, table_name, description, columns, attempt)
       SELECT held.id, $3, $4, $5, $6::jsonb, $2 FROM held
       ON CONFLICT (analysis_id, table_schema, table_name) DO UPDATE SET description = excluded.description,
          columns = excluded.columns, attempt = excluded.attempt, stored_at = clock_timestamp()
       RETURNING analysis_id)
     SELECT pg_notify('owl_observe', 'schema-analysis:' || analysis_id::text) FROM stored`,
    [fence.id, fence.attempt, one.schema, one.table, one.description, storableJson(one.columns)],
  );
  return rowCount === 1;
}

export async function endSchemaAnalysis(
  sql: Sql,
  fence: Fence,
  end: { readonly state: "done" | "failed" | "stopped"; readonly message: string | null },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH ended AS (
       UPDATE owl.schema_analysis SET state = $3, message = $4, ended_at = clock_timestamp()
        WHERE id = $1 AND attempt = $2 AND state = 'running' RETURNING id)
     SELECT pg_notify('owl_observe', 'schema-analysis:' || id::text) FROM ended`,
    [fence.id, fence.attempt, end.state, end.message],
  );
  return rowCount === 1;
}

/** An analysis that failed or was stopped, and what it was asked for by whom. */
interface EndedAnalysis {
  readonly id: string;
  readonly accountId: string;
  readonly dataSource: string;
}

/**
 * Those of `ids` in one of the states `from` that no later analysis of the same account and data source has taken the
 * place of. They are locked first and looked at in a statement of their own: of two that ask at once, the second sees
 * what the first has begun.
 */
export async function lockLatestEnded(
  sql: Sql,
  ids: readonly string[],
  from: readonly ("failed" | "stopped")[],
): Promise<readonly EndedAnalysis[]> {
  await sql.query("SELECT 1 FROM owl.schema_analysis WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE", [ids]);
  const { rows } = await sql.query<EndedAnalysis>(
    `SELECT a.id, a.account_id AS "accountId", a.data_source AS "dataSource" FROM owl.schema_analysis a
      WHERE a.id = ANY($1::uuid[]) AND a.state = ANY($2) AND NOT EXISTS (
        SELECT 1 FROM owl.schema_analysis later
         WHERE later.account_id = a.account_id AND later.data_source = a.data_source
           AND (later.created_at, later.id) > (a.created_at, a.id))
      ORDER BY a.created_at, a.id`,
    [ids, from],
  );
  return rows;
}
