// What the demo's reader may cost and see. As superuser the bounds are such that the role cannot raise them, and what
// every role may do by default on a server (look at and end sessions, locks, WAL, large objects) is closed to it.
// Invariant: may be repeated; what is in place is not written again.

import type pg from "pg";

/** Longer than any statement of ours is let run (services/tools/statement.ts). */
const TIMEOUT = "240s";

/** Anybody's to lower and raise, so only a start: the statement's own limits hold beside them. */
const SETTINGS = {
  statement_timeout: TIMEOUT,
  lock_timeout: "5s",
  work_mem: "16MB",
  max_parallel_workers_per_gather: "0",
};
/** A superuser's to set. */
const FIRM_SETTINGS = { temp_file_limit: "256MB" };

const CLOSED_FUNCTIONS = [
  "pg_terminate_backend|pg_cancel_backend|pg_stat_get_activity|pg_stat_get_backend.*|pg_stat_get_progress_info",
  "pg_logical_.*|pg_(try_)?advisory_.*|pg_notify|pg_export_snapshot|pg_current_xact_id|txid_current",
  "lo_.*|loread|lowrite|set_config|.*_to_xml.*|ts_stat|ts_rewrite",
].join("|");

/** On a connection to the demo's database, as the role that made it. */
export async function boundReader(admin: pg.Client, reader: string): Promise<void> {
  const { rows } = await admin.query<{ firm: boolean }>(
    "SELECT rolsuper AS firm FROM pg_roles WHERE rolname = current_user",
  );
  const firm = rows[0]?.firm ?? false;
  for (const [name, value] of Object.entries({ ...SETTINGS, ...(firm ? FIRM_SETTINGS : {}) })) {
    await admin.query(`ALTER ROLE ${reader} SET ${name} = '${value}'`);
  }
  await admin.query(`ALTER ROLE ${reader} CONNECTION LIMIT 100`);
  if (!firm) return;
  await admin.query(`
    DO $$
    DECLARE one regprocedure;
    BEGIN
      FOR one IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace
                    AND p.proname ~ '^(${CLOSED_FUNCTIONS})$' AND has_function_privilege('${reader}', p.oid, 'EXECUTE') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', one);
      END LOOP;
    END $$`);
  await admin.query("REVOKE SELECT ON pg_catalog.pg_stat_activity, pg_catalog.pg_locks FROM PUBLIC");
}
