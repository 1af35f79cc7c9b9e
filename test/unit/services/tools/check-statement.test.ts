// What a statement may name. The database's role is the wall; this is the fence in front of it.

import { expect, test } from "vitest";
import { readingStatement } from "../../../../services/tools/check-statement.ts";

test.each([
  "SELECT pg_terminate_backend(1)",
  "select PG_CANCEL_BACKEND(1)",
  'SELECT "pg_catalog"."pg_terminate_backend"(1)',
  "SELECT query FROM pg_catalog.pg_stat_activity",
  'SELECT query FROM "pg_catalog" . "pg_stat_activity"',
  "EXPLAIN SELECT query FROM pg_stat_activity",
  "TABLE pg_catalog.pg_stat_activity",
  "SELECT pg_stat_get_activity(NULL)",
  "SELECT pg_logical_emit_message(false, 'a', 'b')",
  "WITH l AS (SELECT pg_advisory_lock(1)) SELECT 1",
  "SELECT pg_try_advisory_lock(1)",
  "SELECT pg_notify('owl_jobs', 'chat')",
  "SELECT pg_read_file('/etc/passwd')",
  "SELECT lo_create(0)",
  "SELECT loread(1, 2)",
  "SELECT set_config('statement_timeout', '0', false)",
  "SELECT query_to_xml('select pg_' || 'terminate_backend(1)', true, true, '')",
  "SELECT table_to_xml('x'::regclass, true, true, '')",
  "SELECT * FROM dblink('x', 'y') AS t(a int)",
  'SELECT U&"\\0070g_terminate_backend"(1)',
  "SELECT repeat('x', 1000000000)",
  "SELECT repeat('x', 1e9::int)",
  "SELECT repeat('x', 1000 * 1000*1000)",
  "SELECT repeat('x', 1 << 30)",
  "SELECT rpad('x', power(10, 9)::int)",
  "SELECT repeat('x', x'3B9ACA00'::int)",
  "SELECT repeat('x', (10 ^ 9)::int)",
  "SELECT E'\\'', repeat('x', power(10, 9)::int), ''",
  "SELECT $$'$$, repeat('x', power(10, 9)::int), $$'$$",
  `SELECT 1 AS "'", repeat('x', (10 ^ 9)::int), 1 AS "'"`,
  "SELECT repeat('x', (10 ^ 9)::int) --'\n, ''",
  "SELECT format('%1000000000s', '')",
  "SELECT lpad('x', 1_000_000_000)",
  "SELECT repeat(repeat('x', 1000000), 1000)",
  "SELECT length(repeat(repeat(repeat('x', 1000), 1000), 1000))",
  "DELETE FROM t",
  "/* SELECT */ DELETE FROM t",
])("%s is refused", (sql) => {
  expect(() => readingStatement(sql)).toThrow(expect.objectContaining({ code: "sql.refused" }));
});

test.each([
  "SELECT 6 * 7 AS answer",
  "  -- a question\n(SELECT 1)",
  "SELECT pg_sleep(8)",
  "SELECT relname FROM pg_class WHERE relname NOT LIKE 'pg_%'",
  "SELECT pg_size_pretty(pg_total_relation_size('orders'))",
  "SELECT lo_orderkey, my_pg_name FROM lineorder",
  "SELECT repeat('█', (sum(amount) / 1000000)::int), format('%-20s', name) FROM sales WHERE name ~ '^a' GROUP BY name",
  "SELECT lpad(month::text, 2, '0'), repeat('*', 20) FROM sales WHERE id = 12345",
  `SELECT repeat('x', total) AS "Bar" FROM sales`,
  "SELECT 5000000000 AS big",
  "EXPLAIN SELECT 1",
])("%s is run", (sql) => {
  expect(() => readingStatement(sql)).not.toThrow();
});

test.each([
  ["SELECT query FROM pg_stat_activity", /^WITH pg_stat_activity AS \([\s\S]*\) SELECT query FROM pg_stat_activity$/],
  [
    "WITH a AS (SELECT 1) SELECT * FROM a, pg_stat_activity",
    /^WITH pg_stat_activity AS \([\s\S]*\), {2}a AS \(SELECT 1\) /,
  ],
  ["with recursive a AS (SELECT 1) TABLE pg_stat_activity", /^with recursive pg_stat_activity AS /],
])("of sessions %s sees its own alone", (sql, run) => expect(readingStatement(sql)).toMatch(run));
