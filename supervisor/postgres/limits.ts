// How many connections the server grants to ordinary roles, as it says itself now.

import type { ClientBase, Pool } from "pg";

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** `max_connections` less the reserved ones, and not above the role's or the database's own limit. */
  readonly limit: number;
  /** `18.4` */
  readonly version: string;
  readonly major: number;
}

const READ_LIMITS = `
  SELECT current_setting('max_connections')::int AS max,
         current_setting('superuser_reserved_connections')::int AS superuser,
         coalesce(current_setting('reserved_connections', true), '0')::int AS reserved,
         current_setting('server_version_num')::int AS version,
         (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user AND NOT rolsuper) AS role,
         (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS database`;

interface LimitRow {
  readonly max: number;
  readonly superuser: number;
  readonly reserved: number;
  readonly version: number;
  readonly role: number | null;
  readonly database: number | null;
}

/** Reads them; rejects with pg's error. */
export async function readLimits(db: Pick<Pool | ClientBase, "query">): Promise<ConnectionLimits> {
  const { rows } = await db.query<LimitRow>(READ_LIMITS);
  const row = rows[0];
  if (!row) throw new Error("PostgreSQL answered no limits");
  const own = [row.role, row.database].filter((limit): limit is number => limit !== null && limit >= 0);
  return {
    maxConnections: row.max,
    limit: Math.min(row.max - row.superuser - row.reserved, ...own),
    version: `${Math.floor(row.version / 10_000)}.${row.version % 10_000}`,
    major: Math.floor(row.version / 10_000),
  };
}
