// What preflight reads of the database: does it answer, its limits, strangers, pending migrations, measured turns.
// One read-only transaction within a bound; nothing is created, not even a temporary table.

import { join } from "node:path";
import { Client } from "pg";
import type { Config } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import { assessBudget } from "../core/connection-budget.ts";
import { type Migration, planMigrations } from "../core/migration-plan.ts";
import type { DatabaseFacts } from "../core/preflight.ts";
import { wordsOf } from "../core/text/refusal.ts";
import { findDumpPrograms } from "../postgres/dump-programs.ts";
import { type ConnectionLimits, readLimits } from "../postgres/limits.ts";
import { readApplied, readMigrations } from "../postgres/migrate.ts";
import { findPooler } from "./pooler.ts";

const BOUND_MS = 5_000;
/** Before a restart. */
const QUICK_BOUND_MS = 1_000;
/** Fewer answered turns say nothing about the longest ones. */
const ENOUGH_TURNS = 20;

interface DatabaseReading {
  readonly facts: DatabaseFacts;
  readonly sizeBytes: number | null;
  readonly turnP95Ms: number | null;
}

interface Answer {
  readonly limits: ConnectionLimits;
  readonly strangers: DatabaseFacts["strangers"];
  readonly migrations: DatabaseFacts["migrations"];
  readonly sizeBytes: number;
  readonly turnP95Ms: number | null;
  readonly pooler: DatabaseFacts["pooler"];
}

/** Reads it all. `url` null: a managed database that is not up. `quick`: within a second, and no program is run. */
export async function readDatabase(
  config: Config,
  url: string | null,
  migrationsDir: string,
  path: string,
  quick = false,
): Promise<DatabaseReading> {
  const boundMs = quick ? QUICK_BOUND_MS : BOUND_MS;
  const answer = url === null ? null : await ask(config, url, migrationsDir, boundMs).catch(asError);
  const ok = answer instanceof Error ? null : answer;
  const programs = quick ? null : await findDumpPrograms(path);
  const facts: DatabaseFacts = {
    kind: config.database ? "external" : "managed",
    answers: ok !== null,
    reason: answer instanceof Error ? answer.message : null,
    version: ok?.limits.version ?? null,
    major: ok?.limits.major ?? null,
    maxConnections: ok?.limits.maxConnections ?? null,
    budget: assessBudget(config.services, ok?.limits.limit ?? null),
    strangers: ok?.strangers ?? { count: 0, names: [] },
    migrations: ok?.migrations ?? null,
    pooler: ok?.pooler ?? null,
    pgDump: programs && { path: join(programs.dir, "pg_dump"), major: programs.major },
  };
  return { facts, sizeBytes: ok?.sizeBytes ?? null, turnP95Ms: ok?.turnP95Ms ?? null };
}

async function ask(config: Config, url: string, migrationsDir: string, boundMs: number): Promise<Answer> {
  const client = new Client({
    connectionString: url,
    application_name: "owl/preflight",
    connectionTimeoutMillis: boundMs,
    query_timeout: boundMs,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("BEGIN READ ONLY");
    const limits = await readLimits(client);
    const size = await client.query<{ bytes: string }>("SELECT pg_database_size(current_database()) AS bytes");
    return {
      limits,
      strangers: await readStrangers(client),
      migrations: config.bundled ? await readPending(client, migrationsDir) : null,
      sizeBytes: Number(size.rows[0]?.bytes ?? 0),
      turnP95Ms: config.bundled ? await readTurnLength(client) : null,
      // Our own server is reached directly; in a hurry the question of before an update counts.
      pooler: config.database !== null && boundMs > QUICK_BOUND_MS ? await findPooler(url, boundMs) : null,
    };
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function readStrangers(client: Client): Promise<DatabaseFacts["strangers"]> {
  const { rows } = await client.query<{ name: string; count: number }>(
    `SELECT coalesce(nullif(application_name, ''), '(unnamed)') AS name, count(*)::int AS count
     FROM pg_stat_activity
     WHERE usesysid IS NOT NULL AND datid IS NOT NULL AND application_name NOT LIKE 'owl/%' AND pid <> pg_backend_pid()
     GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`,
  );
  return { count: rows.reduce((sum, row) => sum + row.count, 0), names: rows.map((row) => row.name) };
}

async function readPending(client: Client, dir: string): Promise<DatabaseFacts["migrations"]> {
  let files: readonly Migration[];
  try {
    files = await readMigrations(dir);
  } catch (error) {
    return { pending: [], compatible: true, refusal: (text) => wordsOf(error, text).sentence };
  }
  const plan = planMigrations(files, await readApplied(client));
  if (plan.verdict === "refused")
    return { pending: [], compatible: true, refusal: (text) => plan.words(text).sentence };
  if (plan.verdict === "upToDate") return { pending: [], compatible: true, refusal: null };
  return { pending: plan.pending.map((one) => one.name), compatible: plan.compatible, refusal: null };
}

async function readTurnLength(client: Client): Promise<number | null> {
  const there = await client.query<{ there: boolean }>("SELECT to_regclass('owl.turn') IS NOT NULL AS there");
  if (!there.rows[0]?.there) return null;
  const { rows } = await client.query<{ count: number; p95: number | null }>(
    `SELECT count(*)::int AS count,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM ended_at - claimed_at) * 1000) AS p95
     FROM owl.turn
     WHERE state = 'answered' AND claimed_at IS NOT NULL AND ended_at > now() - interval '14 days'`,
  );
  const row = rows[0];
  return row && row.count >= ENOUGH_TURNS ? row.p95 : null;
}
