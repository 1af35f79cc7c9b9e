// The roles and the database of a managed server: `owl_admin` (superuser, owld and prepare only) and `owl`,
// which owns the database `owl` and is all the services get. Every statement may be run again.

import { Client, escapeIdentifier, escapeLiteral } from "pg";
import { OwlError } from "../../config/errors.ts";

export const ADMIN_ROLE = "owl_admin";
export const OWNER_ROLE = "owl";
export const DATABASE = "owl";

/** A libpq URL over a Unix socket. */
export function socketUrl(parts: {
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly socketDir: string;
  readonly port: number;
}): string {
  const query = new URLSearchParams({ host: parts.socketDir, port: String(parts.port) });
  return `postgres://${parts.user}:${encodeURIComponent(parts.password)}@/${parts.database}?${query}`;
}

/** Makes the role and the database where missing, and sets the password when it does not work. */
export async function ensureDatabase(adminUrl: string, ownerUrl: string, ownerPassword: string): Promise<void> {
  if (await canConnect(ownerUrl)) return;
  const admin = new Client({ connectionString: adminUrl, application_name: "owl/owld" });
  try {
    await admin.connect();
  } catch (error) {
    throw new OwlError("postgres.admin", `PostgreSQL refused its administrator: ${(error as Error).message}.`, {
      next: "Was admin-password in OWL_HOME/postgres replaced? Put the former one back.",
      cause: error,
    });
  }
  try {
    const role = escapeIdentifier(OWNER_ROLE);
    const { rowCount } = await admin.query("SELECT 1 FROM pg_roles WHERE rolname = $1", [OWNER_ROLE]);
    if (!rowCount) await admin.query(`CREATE ROLE ${role} LOGIN`);
    await admin.query(`ALTER ROLE ${role} LOGIN NOSUPERUSER PASSWORD ${escapeLiteral(ownerPassword)}`);
    const database = await admin.query("SELECT 1 FROM pg_database WHERE datname = $1", [DATABASE]);
    if (!database.rowCount) await admin.query(`CREATE DATABASE ${escapeIdentifier(DATABASE)} OWNER ${role}`);
    // A data source's read-only role lives on the same server and has no business in here.
    await admin.query(`REVOKE ALL ON DATABASE ${escapeIdentifier(DATABASE)} FROM PUBLIC`);
  } finally {
    await admin.end();
  }
}

async function canConnect(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, application_name: "owl/owld" });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
