// What a data source's catalogue and a few of its rows tell. Everything is read through the read-only SQL tool.

import { OwlError } from "../../../config/errors.ts";
import type { Sources } from "../../tools/sources.ts";

export interface TableFacts {
  readonly schema: string;
  readonly table: string;
  readonly kind: string;
  readonly rowsAbout: number | null;
  readonly comment: string | null;
  readonly columns: readonly ColumnFacts[];
  /** A few rows, each value as text of at most 80 characters, null for NULL. */
  readonly samples: readonly (readonly (string | null)[])[];
}

interface ColumnFacts {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly comment: string | null;
  readonly key: "primary" | "foreign" | null;
  /** `public.customers` where it refers to one. */
  readonly refersTo: string | null;
}

interface TableName {
  readonly oid: number;
  readonly schema: string;
  readonly table: string;
  readonly kind: string;
  readonly rowsAbout: number | null;
  readonly comment: string | null;
}

const PAGE = 100;
const TABLES_LIMIT = 2_000;
const SAMPLE_ROWS = 5;
const SAMPLED_COLUMNS = 60;

const TABLES = `SELECT c.oid::int8, n.nspname, c.relname,
    CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'table' END,
    CASE WHEN c.reltuples < 0 THEN NULL ELSE c.reltuples::int8 END, obj_description(c.oid, 'pg_class')
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
   AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
   AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
   AND (n.nspname, c.relname) > ($1::name, $2::name) ORDER BY n.nspname, c.relname LIMIT ${PAGE}`;

const COLUMNS = `SELECT a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull, col_description(c.oid, a.attnum),
    EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p' AND a.attnum = ANY (k.conkey)),
    (SELECT k.confrelid::regclass::text FROM pg_constraint k
      WHERE k.conrelid = c.oid AND k.contype = 'f' AND a.attnum = ANY (k.conkey) ORDER BY k.oid LIMIT 1)
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.oid = $1::int8::oid AND has_column_privilege(c.oid, a.attnum, 'SELECT') AND a.attnum > $2::int2
 ORDER BY a.attnum LIMIT 150`;

/** Its tables and views, by name. Throws `source.notFound`, `source.away`. */
export async function listTables(sources: Sources, source: string, signal: AbortSignal): Promise<readonly TableName[]> {
  const tables: TableName[] = [];
  let after: readonly [string, string] = ["", ""];
  for (;;) {
    const { rows } = await sources.run(source, TABLES, signal, after);
    for (const row of rows) {
      const [oid, schema, table, kind, rowsAbout, comment] = row as [number, string, string, string, number, string];
      tables.push({ oid, schema, table, kind, rowsAbout, comment });
    }
    const last = tables.at(-1);
    if (rows.length < PAGE || last === undefined || tables.length >= TABLES_LIMIT) return tables;
    after = [last.schema, last.table];
  }
}

/** One table's columns and sample rows; a table that cannot be read keeps its columns and has no samples. */
export async function readTable(
  sources: Sources,
  source: string,
  name: TableName,
  signal: AbortSignal,
): Promise<TableFacts> {
  const { rows } = await sources.run(source, COLUMNS, signal, [name.oid, 0]);
  const columns = rows.map((row): ColumnFacts => {
    const [column, type, nullable, comment, primary, refersTo] = row as [
      string,
      string,
      boolean,
      string | null,
      boolean,
      string | null,
    ];
    const key = primary ? "primary" : refersTo === null ? null : "foreign";
    return { name: column, type, nullable, comment, key, refersTo };
  });
  return { ...name, columns, samples: await sample(sources, source, name, columns, signal) };
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

async function sample(
  sources: Sources,
  source: string,
  name: TableName,
  columns: readonly ColumnFacts[],
  signal: AbortSignal,
): Promise<TableFacts["samples"]> {
  if (columns.length === 0) return [];
  const list = columns
    .slice(0, SAMPLED_COLUMNS)
    .map((column) => (column.type === "bytea" ? "NULL::text" : `left(${quoted(column.name)}::text, 80)`));
  const sql = `SELECT ${list.join(", ")} FROM ${quoted(name.schema)}.${quoted(name.table)} LIMIT ${SAMPLE_ROWS}`;
  try {
    const { rows } = await sources.run(source, sql, signal);
    return rows as TableFacts["samples"];
  } catch (error) {
    // A view that fails, a foreign table whose server is down: described without rows.
    if (error instanceof OwlError && error.code === "sql.refused") return [];
    throw error;
  }
}
