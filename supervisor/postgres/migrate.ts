// Brings a metastore's schema to this release: all that is pending in one transaction under an advisory lock.
// Invariant: a migration and its row in owl.migration are there together or not at all.

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, DatabaseError } from "pg";
import { OwlError } from "../../config/errors.ts";
import { type AppliedMigration, type Migration, parseMigration, planMigrations } from "../core/migration-plan.ts";
import { Refusal } from "../core/text/refusal.ts";

/** Any two owld on one database meet at this key; 0x6f776c is "owl". */
const LOCK_KEY = 0x6f776c;

interface MigrateOptions {
  /** May migrations run that the code now running cannot live with? */
  readonly allowIncompatible: boolean;
  readonly say: (message: string) => void;
  readonly signal: AbortSignal;
  /** Ends waiting for another owld's migration. */
  readonly lockTimeoutMs?: number;
}

/** The files of `migrations/`, by number. Throws `migrate.file` for one that is misnamed or does not declare itself. */
export async function readMigrations(dir: string): Promise<readonly Migration[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith(".sql")).sort();
  const files: Migration[] = [];
  for (const name of names) {
    const sql = await readFile(join(dir, name), "utf8");
    const parsed = parseMigration(name, sql, createHash("sha256").update(sql).digest("hex"));
    if (typeof parsed === "string") throw new OwlError("migrate.file", parsed);
    files.push(parsed);
  }
  return files;
}

/** What the database says was applied; empty without our schema. Reads only. */
export async function readApplied(client: Client): Promise<readonly AppliedMigration[]> {
  const { rows } = await client.query<{ there: boolean }>("SELECT to_regclass('owl.migration') IS NOT NULL AS there");
  if (!rows[0]?.there) return [];
  const applied = await client.query<AppliedMigration>(
    "SELECT number, name, sha256, compatible FROM owl.migration ORDER BY number",
  );
  return applied.rows;
}

/** Applies what is pending; answers the names applied. Throws `migrate.*`, the database then being as it was. */
export async function migrate(url: string, dir: string, options: MigrateOptions): Promise<readonly string[]> {
  const files = await readMigrations(dir);
  const client = new Client({ connectionString: url, application_name: "owl/migrate" });
  // A server that goes away mid-statement rejects the statement; the event itself tells nothing more.
  client.on("error", () => undefined);
  const abort = () => void client.end().catch(() => undefined);
  options.signal.addEventListener("abort", abort, { once: true });
  try {
    await client.connect();
    await lock(client, options);
    return await applyPending(client, files, options);
  } catch (error) {
    options.signal.throwIfAborted();
    throw error;
  } finally {
    options.signal.removeEventListener("abort", abort);
    await client.end().catch(() => undefined);
  }
}

async function lock(client: Client, { say, lockTimeoutMs = 120_000 }: MigrateOptions): Promise<void> {
  // The server notices a killed owld also in the middle of a statement, and gives its locks back.
  await client.query(
    "SELECT set_config('client_connection_check_interval', '2s', false) FROM pg_settings WHERE name = 'client_connection_check_interval'",
  );
  const { rows } = await client.query<{ held: boolean }>("SELECT pg_try_advisory_lock($1) AS held", [LOCK_KEY]);
  if (rows[0]?.held) return;
  say("Waiting for another migration of this database to end.");
  await client.query(`SET lock_timeout = ${lockTimeoutMs}`);
  try {
    await client.query("SELECT pg_advisory_lock($1)", [LOCK_KEY]);
  } catch (error) {
    throw new OwlError("migrate.locked", "Another migration of this database runs and does not end.", {
      next: "See who: SELECT * FROM pg_stat_activity WHERE application_name = 'owl/migrate'",
      cause: error,
    });
  }
}

async function applyPending(client: Client, files: readonly Migration[], options: MigrateOptions) {
  const plan = planMigrations(files, await readApplied(client));
  if (plan.verdict === "refused") throw new Refusal(plan.code, plan.words);
  if (plan.verdict === "upToDate") return [];
  if (!plan.compatible && !options.allowIncompatible) {
    const first = plan.pending.find((one) => !one.compatible);
    throw new OwlError("migrate.incompatible", `migrations/${first?.name} cannot be applied while services run.`, {
      next: "Update by owlctl update, which stops them first.",
    });
  }
  await refuseForeignSchema(client);
  options.say(`Migrating the database: ${plan.pending.map((one) => one.name).join(", ")}.`);
  await client.query("BEGIN");
  let current = "owl.migration";
  try {
    // A statement that waits for a lock would make every later one of the services wait behind it.
    await client.query("SET LOCAL lock_timeout = '10s'");
    await client.query("CREATE SCHEMA IF NOT EXISTS owl");
    await client.query("SET LOCAL search_path = owl, public");
    await client.query(`CREATE TABLE IF NOT EXISTS owl.migration (
      number integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, compatible boolean NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now())`);
    for (const one of plan.pending) {
      current = one.name;
      await client.query(one.sql);
      await client.query("INSERT INTO owl.migration (number, name, sha256, compatible) VALUES ($1, $2, $3, $4)", [
        one.number,
        one.name,
        one.sha256,
        one.compatible,
      ]);
    }
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw failed(current, error);
  }
  return plan.pending.map((one) => one.name);
}

/** A team's database may have a schema of our name: nothing is mixed into it. */
async function refuseForeignSchema(client: Client): Promise<void> {
  const { rows } = await client.query<{ foreign: boolean }>(
    `SELECT to_regclass('owl.migration') IS NULL AND EXISTS (
       SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'owl') AS foreign`,
  );
  if (!rows[0]?.foreign) return;
  throw new OwlError("migrate.foreignSchema", "The database has a schema owl with tables that are not Owl's.", {
    next: "Give Owl a database of its own in database.url.",
  });
}

function failed(name: string, error: unknown): OwlError {
  const why = error instanceof Error ? error.message : String(error);
  const denied = error instanceof DatabaseError && error.code === "42501";
  return new OwlError("migrate.failed", `Migration ${name} failed and changed nothing: ${why}.`, {
    next: denied ? "Let the role create a schema: GRANT CREATE ON DATABASE … TO …" : "Start again when it is resolved.",
    cause: error,
  });
}
