// The roles of a team's own data sources, each asked of itself: one read-only transaction within a bound.

import { Client } from "pg";
import type { Config } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import type { PreflightFacts } from "../core/preflight.ts";
import type { SourceRole } from "../core/source-role.ts";

const BOUND_MS = 3_000;

const READ_ROLE = `
  SELECT current_user AS name, current_database() AS database, r.rolsuper AS superuser,
         (SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
           WHERE c.relkind IN ('r', 'p') AND n.nspname !~ '^pg_|^information_schema$'
             AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') LIMIT 1) AS writes,
         has_database_privilege(current_database(), 'CREATE')
           OR coalesce(has_schema_privilege(to_regnamespace('public')::oid, 'CREATE'), false) AS creates,
         ARRAY(SELECT m.rolname::text FROM pg_roles m
                WHERE m.rolname IN ('pg_write_all_data', 'pg_read_server_files', 'pg_write_server_files',
                  'pg_execute_server_program', 'pg_signal_backend', 'pg_monitor', 'pg_read_all_stats')
                  AND pg_has_role(m.oid, 'MEMBER') ORDER BY 1) AS "memberOf",
         (SELECT setting::bigint::float8 FROM pg_settings WHERE name = 'temp_file_limit') AS "tempFileLimitKiB"
    FROM pg_roles r WHERE r.rolname = current_user`;

export async function sourceFacts(config: Config): Promise<PreflightFacts["sources"]> {
  const sources = Object.entries(config.app?.dataSources ?? {});
  return Promise.all(
    sources.map(async ([name, { url }]) => {
      try {
        return { name, role: await readRole(url), error: null };
      } catch (error) {
        return { name, role: null, error: asError(error).message };
      }
    }),
  );
}

async function readRole(url: string): Promise<SourceRole> {
  const client = new Client({
    connectionString: url,
    application_name: "owl/preflight",
    connectionTimeoutMillis: BOUND_MS,
    query_timeout: BOUND_MS,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("BEGIN READ ONLY");
    const { rows } = await client.query<SourceRole>(READ_ROLE);
    if (rows[0] === undefined) throw new Error("it tells nothing of its role");
    return rows[0];
  } finally {
    await client.end().catch(() => undefined);
  }
}
