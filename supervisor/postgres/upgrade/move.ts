// All of one server into a new one: by a dump of its roles and of each database, or by PostgreSQL's own pg_upgrade.
// Invariant: the old data is read only.

import { existsSync } from "node:fs";
import { chown, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, escapeLiteral } from "pg";
import { Refusal } from "../../core/text/refusal.ts";
import type { Account } from "../account.ts";
import type { Binaries } from "../binaries.ts";
import { dumpConnection } from "../copy-dump.ts";
import { lastLines, runProgram } from "../program.ts";
import { ADMIN_ROLE, DATABASE } from "../roles.ts";

const OF_NEW = ["pg_upgrade", "pg_ctl", "pg_dump", "pg_dumpall", "pg_restore", "psql", "pg_controldata", "pg_resetwal"];
const OF_OLD = ["pg_ctl", "pg_controldata", "pg_resetwal"];

/** Has this pair all that pg_upgrade runs? */
export function canUpgrade(from: Binaries, to: Binaries): boolean {
  const has = (dir: string, names: readonly string[]) => names.every((name) => existsSync(join(dir, name)));
  return has(to.dir, OF_NEW) && has(from.dir, OF_OLD);
}

async function query<T extends object>(url: string, text: string): Promise<T[]> {
  const client = new Client({ connectionString: url, application_name: "owl/upgrade" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** That database's URL, by the administrator's. */
const inDatabase = (adminUrl: string, name: string): string =>
  adminUrl.replace("@/postgres?", `@/${encodeURIComponent(name)}?`);

const databases = async (adminUrl: string): Promise<readonly string[]> => {
  const rows = await query<{ name: string }>(
    adminUrl,
    "SELECT datname AS name FROM pg_database WHERE datallowconn AND NOT datistemplate ORDER BY datname",
  );
  return rows.map(({ name }) => name);
};

/** By database: functions of PostgreSQL's own that not everybody may run, other than as it comes. */
type Closed = ReadonlyMap<string, readonly string[]>;

/**
 * Opens what was closed of PostgreSQL's own functions, for a dump names them by their arguments, and the next version's
 * may differ: that would end the load. `closeAgain` closes them in the server it is given.
 */
export async function openFunctions(adminUrl: string): Promise<Closed> {
  const closed = new Map<string, readonly string[]>();
  for (const database of await databases(adminUrl)) {
    const rows = await query<{ name: string; one: string }>(
      inDatabase(adminUrl, database),
      `SELECT p.proname AS name, p.oid::regprocedure::text AS one FROM pg_proc p
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND NOT has_function_privilege('public', p.oid, 'EXECUTE')
          AND NOT EXISTS (SELECT FROM pg_init_privs i WHERE i.objoid = p.oid AND i.classoid = 'pg_proc'::regclass)`,
    );
    if (rows.length === 0) continue;
    closed.set(database, [...new Set(rows.map(({ name }) => name))]);
    const all = rows.map(({ one }) => `GRANT EXECUTE ON FUNCTION ${one} TO PUBLIC`).join("; ");
    await query(inDatabase(adminUrl, database), all);
  }
  return closed;
}

/** Whatever arguments the functions of these names have there. */
export async function closeAgain(adminUrl: string, closed: Closed): Promise<void> {
  for (const [database, names] of closed) {
    const list = names.map(escapeLiteral).join(", ");
    await query(
      inDatabase(adminUrl, database),
      `DO $$ DECLARE one regprocedure; BEGIN
         FOR one IN SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname IN (${list}) LOOP
           EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', one);
         END LOOP;
       END $$`,
    );
  }
}

interface Dump {
  readonly adminUrl: string;
  /** Directory of pg_dump and its like. */
  readonly programs: string;
  /** Where the dumps lie. */
  readonly directory: string;
  readonly signal: AbortSignal;
}

/** Writes roles and databases of the running server; answers the databases' names. */
export async function dumpServer({ adminUrl, programs, directory, signal }: Dump): Promise<readonly string[]> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const run = async (program: string, url: string, file: string, args: readonly string[]): Promise<void> => {
    const { args: at, cleanUp } = await dumpConnection({ url, file });
    const ran = await runProgram(join(programs, program), [...args, `--file=${file}`, ...at], { signal });
    await cleanUp();
    if (!ran.ok) throw failed(program, ran.output);
  };
  await run("pg_dumpall", adminUrl, join(directory, "roles.sql"), ["--globals-only"]);
  const names = await databases(adminUrl);
  for (const [n, name] of names.entries())
    await run("pg_dump", inDatabase(adminUrl, name), join(directory, `${n}.dump`), ["--format=custom"]);
  return names;
}

/** Reads them into the new server, which has nothing but what it was made with. */
export async function loadServer(
  { adminUrl, programs, directory, signal }: Dump,
  names: readonly string[],
): Promise<void> {
  const run = async (program: string, file: string, args: readonly string[]): Promise<void> => {
    const { args: at, cleanUp } = await dumpConnection({ url: adminUrl, file });
    const ran = await runProgram(join(programs, program), [...args, ...at], { signal });
    await cleanUp();
    if (!ran.ok) throw failed(program, ran.output);
  };
  await query(adminUrl, `DROP DATABASE IF EXISTS ${DATABASE}`);
  const there = await query<{ name: string }>(adminUrl, "SELECT quote_ident(rolname) AS name FROM pg_roles");
  const made = new Set(there.map(({ name }) => `CREATE ROLE ${name};`));
  const roles = join(directory, "roles.sql");
  const lines = (await readFile(roles, "utf8")).split("\n").filter((line) => !made.has(line));
  await writeFile(roles, lines.join("\n"), { mode: 0o600 });
  await run("psql", roles, ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", `--file=${roles}`]);
  for (const [n, name] of names.entries()) {
    const file = join(directory, `${n}.dump`);
    await run("pg_restore", file, ["--exit-on-error", ...(name === "postgres" ? [] : ["--create"]), file]);
    await rm(file);
  }
}

/** Both servers stopped; the new data directory fresh. */
export async function upgradeData(parts: {
  readonly from: { readonly dir: string; readonly data: string };
  readonly to: { readonly dir: string; readonly data: string };
  readonly password: string;
  /** Belongs to the account: sockets, the program's own notes, the password while it runs. */
  readonly directory: string;
  readonly account: Account | null;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { from, to, directory, account, signal } = parts;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const pass = join(directory, "pgpass");
  await writeFile(pass, `*:*:*:*:${parts.password}\n`, { mode: 0o600 });
  if (account !== null) for (const path of [directory, pass]) await chown(path, account.uid, account.gid);
  const args = [
    `--old-bindir=${from.dir}`,
    `--new-bindir=${to.dir}`,
    `--old-datadir=${from.data}`,
    `--new-datadir=${to.data}`,
    `--username=${ADMIN_ROLE}`,
    `--socketdir=${directory}`,
  ];
  const ran = await runProgram(join(to.dir, "pg_upgrade"), args, {
    account,
    signal,
    env: { PGPASSFILE: pass },
    cwd: directory,
  });
  if (!ran.ok) throw failed("pg_upgrade", ran.output);
}

/** What the planner knows of the data is not brought over: without it the first hours would be slow. */
export async function analyze(adminUrl: string): Promise<void> {
  for (const name of await databases(adminUrl)) await query(inDatabase(adminUrl, name), "ANALYZE");
}

function failed(program: string, output: string): Refusal {
  const said = lastLines(output);
  return new Refusal("upgrade.failed", ({ refused }) => refused.upgrade.failed(program, said));
}
