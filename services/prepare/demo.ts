// The demo data source: a database of its own with a small sales schema, read by a role that can do nothing else.
// Invariant: owl.data_source names it only once it is whole; each step before that may be repeated.

import pg from "pg";
import type { Random } from "../../config/time.ts";
import type { Database } from "../db/pool.ts";
import { boundReader } from "./demo-bounds.ts";
import { DEMO_SCHEMA } from "./demo-schema.ts";

const DATABASE = "owl_demo";
const READER = "owl_demo_reader";

interface DemoWanted {
  readonly db: Database;
  readonly random: Random;
  /** The metastore's URL: same server. */
  readonly url: string;
  /** A role that may create databases and roles (managed server), or null: the metastore's own is tried. */
  readonly adminUrl: string | null;
}

/** Makes it where it is missing; answers a sentence. A server that does not allow it is a notice, not a failure. */
export async function ensureDemo(wanted: DemoWanted): Promise<string> {
  const { rows } = await wanted.db.query<{ url: string }>("SELECT url FROM owl.data_source WHERE name = 'demo'");
  const isThere = rows[0] !== undefined && (await answers(rows[0].url));
  const admin = await connect(wanted.adminUrl ?? wanted.url);
  try {
    const refusal = await whyNot(admin);
    const inDemo = urlOf(wanted.adminUrl ?? wanted.url, { database: DATABASE });
    if (isThere) {
      // Bounds that a later release added; a role that may not set them leaves them as they are.
      if (refusal === null) await bound(inDemo).catch(() => undefined);
      return "The demo data source is in place.";
    }
    if (refusal) return refusal;
    await ensureDatabase(admin);
    const password = wanted.random.token(24);
    await ensureReader(admin, password);
    await fill(inDemo);
    await bound(inDemo);
    await wanted.db.query(
      `INSERT INTO owl.data_source (name, url) VALUES ('demo', $1)
       ON CONFLICT (name) DO UPDATE SET url = excluded.url`,
      [urlOf(wanted.url, { user: READER, password, database: DATABASE })],
    );
    return "The demo data source was added (database owl_demo).";
  } finally {
    await admin.end();
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

async function answers(url: string): Promise<boolean> {
  try {
    const client = await connect(url);
    try {
      await client.query("SELECT 1 FROM orders LIMIT 1");
      return true;
    } finally {
      await client.end();
    }
  } catch {
    return false;
  }
}

async function whyNot(admin: pg.Client): Promise<string | null> {
  const { rows } = await admin.query<{ may: boolean; other: boolean }>(
    `SELECT (rolsuper OR (rolcreatedb AND rolcreaterole)) AS may,
            EXISTS (SELECT 1 FROM pg_database d WHERE d.datname = $1
                     AND shobj_description(d.oid, 'pg_database') IS DISTINCT FROM 'Owl demo data'
                     AND d.datdba <> r.oid) AS other
       FROM pg_roles r WHERE rolname = current_user`,
    [DATABASE],
  );
  if (rows[0]?.other) return `No demo data source: a database ${DATABASE} of someone else's is there.`;
  if (rows[0]?.may) return null;
  return "No demo data source: the database role may not create databases and roles. Name your own under dataSources.";
}

async function ensureDatabase(admin: pg.Client): Promise<void> {
  const { rowCount } = await admin.query("SELECT 1 FROM pg_database WHERE datname = $1", [DATABASE]);
  if (!rowCount) {
    await admin.query(`CREATE DATABASE ${DATABASE} ENCODING 'UTF8' TEMPLATE template0`);
  }
  await admin.query(`COMMENT ON DATABASE ${DATABASE} IS 'Owl demo data'`);
  await admin.query(`REVOKE ALL ON DATABASE ${DATABASE} FROM PUBLIC`);
}

async function ensureReader(admin: pg.Client, password: string): Promise<void> {
  const { rowCount } = await admin.query("SELECT 1 FROM pg_roles WHERE rolname = $1", [READER]);
  if (!rowCount) await admin.query(`CREATE ROLE ${READER} NOLOGIN`);
  await admin.query(
    `ALTER ROLE ${READER} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD ${pg.escapeLiteral(password)}`,
  );
  await admin.query(`ALTER ROLE ${READER} SET default_transaction_read_only = on`);
  await admin.query(`GRANT CONNECT ON DATABASE ${DATABASE} TO ${READER}`);
}

async function fill(url: string): Promise<void> {
  const client = await connect(url);
  try {
    await client.query("BEGIN");
    const { rows } = await client.query<{ there: boolean }>("SELECT to_regclass('public.orders') IS NOT NULL AS there");
    if (!rows[0]?.there) await client.query(DEMO_SCHEMA);
    await client.query(`REVOKE ALL ON SCHEMA public FROM PUBLIC`);
    await client.query(`GRANT USAGE ON SCHEMA public TO ${READER}`);
    await client.query(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${READER}`);
    await client.query("COMMIT");
  } finally {
    await client.end();
  }
}

async function bound(url: string): Promise<void> {
  const client = await connect(url);
  try {
    await boundReader(client, READER);
  } finally {
    await client.end();
  }
}

/** `url` with another user, password or database; keeps where the server is. */
function urlOf(
  url: string,
  change: { readonly user?: string; readonly password?: string; readonly database?: string },
): string {
  const parts = new pg.Client({ connectionString: url });
  const user = change.user ?? parts.user ?? "";
  const password = change.password ?? (change.user === undefined ? String(parts.password ?? "") : "");
  const query = new URLSearchParams({ host: parts.host, port: String(parts.port) });
  const original = url.includes("?") ? new URLSearchParams(url.slice(url.indexOf("?") + 1)) : new URLSearchParams();
  for (const [name, value] of original) if (name.startsWith("ssl")) query.set(name, value);
  const secret = password === "" ? "" : `:${encodeURIComponent(password)}`;
  return `postgres://${encodeURIComponent(user)}${secret}@/${change.database ?? parts.database ?? ""}?${query}`;
}
