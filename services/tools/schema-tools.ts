// Tools over a data source's catalogue: list its tables, describe one.

import { z } from "zod";
import { failure } from "../core/wire/errors.ts";
import type { Sources } from "./sources.ts";
import type { Tool } from "./tool.ts";

const listInput = z.object({ dataSource: z.string().describe("Name of the data source") });
const describeInput = listInput.extend({ table: z.string().describe("Table name, with its schema where needed") });

const LIST = `SELECT n.nspname AS schema, c.relname AS table,
    CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'table' END AS kind,
    CASE WHEN c.reltuples < 0 THEN NULL ELSE c.reltuples::bigint END AS rows_about,
    obj_description(c.oid, 'pg_class') AS comment
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
   AND n.nspname NOT LIKE 'pg_%' AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
 ORDER BY 1, 2`;

const DESCRIBE = `SELECT n.nspname || '.' || c.relname AS table, a.attname AS column,
    format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS nullable,
    col_description(c.oid, a.attnum) AS comment
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.oid = to_regclass($1) ORDER BY a.attnum`;

/** `list_tables` */
export function createListTables(sources: Sources): Tool<z.infer<typeof listInput>> {
  return {
    name: "list_tables",
    description: "Lists the schemas and tables of a data source, with comments and approximate row counts.",
    input: listInput,
    async run({ dataSource }, { signal, accountId }) {
      const { columns, rows } = await sources.run(dataSource, LIST, signal, [], accountId);
      return { value: { columns, rows }, rows: rows.length, table: { columns, rows } };
    },
  };
}

/** `describe_table` */
export function createDescribeTable(sources: Sources): Tool<z.infer<typeof describeInput>> {
  return {
    name: "describe_table",
    description: "Describes a table's columns: name, type, nullable, comment.",
    input: describeInput,
    async run({ dataSource, table }, { signal, accountId }) {
      const { columns, rows } = await sources.run(dataSource, DESCRIBE, signal, [table], accountId);
      if (rows.length === 0) {
        throw failure("table.notFound", { table, source: dataSource });
      }
      return { value: { columns, rows }, rows: rows.length, table: { columns, rows } };
    },
  };
}
