// The prepare step: repeatable, also after a kill anywhere; on a server that allows less it says so and goes on.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isPassword } from "../../../services/db/passwords.ts";
import { startTestPostgres, type TestPostgres } from "../../support/postgres.ts";
import { migrate, testAppConfig } from "../../support/services.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
let postgres: TestPostgres;
let home: string;

beforeAll(async () => {
  postgres = await startTestPostgres();
  home = await mkdtemp("/tmp/owl-prepare-");
});
afterAll(async () => {
  await postgres?.stop();
  await rm(home, { recursive: true, force: true });
});

async function prepare(url: string, options: { killAfterLines?: number; env?: Record<string, string> } = {}) {
  const child = spawn(process.execPath, [join(ROOT, "services/prepare/main.ts")], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH ?? "",
      OWL_HOME: home,
      OWL_APP_CONFIG: JSON.stringify(testAppConfig(url, home)),
      OWL_ADMIN_DATABASE_URL: postgres.adminUrl,
      ...options.env,
    },
  });
  let out = "";
  let errors = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
    if (options.killAfterLines !== undefined && out.split("\n").length > options.killAfterLines) child.kill("SIGKILL");
  });
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const lines = out
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { step: string; message: string; initialPassword?: string | null });
  return { code, lines, errors };
}

async function query<Row extends object>(url: string, sql: string): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

test("killed after each of its lines and run again, it comes to the same end, and the password it names works", async () => {
  const url = await postgres.database();
  await migrate(url);
  for (let lines = 0; lines <= 3; lines++) await prepare(url, { killAfterLines: lines });
  const done = await prepare(url);
  expect(done).toMatchObject({ code: 0, errors: "" });
  expect(done.lines.at(-1)?.step).toBe("done");
  const file = done.lines.find((line) => line.step === "administrator")?.initialPassword ?? "";
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const password = (await readFile(file, "utf8")).trim();
  const accounts = await query<{ name: string; password_hash: string }>(
    url,
    "SELECT name, password_hash FROM owl.account",
  );
  expect(accounts.map((account) => account.name)).toEqual(["admin"]);
  expect(await isPassword(password, accounts[0]?.password_hash ?? "")).toBe(true);
  expect(JSON.stringify(done.lines)).not.toContain(password);

  const [source] = await query<{ url: string }>(url, "SELECT url FROM owl.data_source WHERE name = 'demo'");
  expect(await query(source?.url ?? "", "SELECT count(*)::int AS n FROM orders")).toEqual([{ n: 3000 }]);
  await expect(query(source?.url ?? "", "DELETE FROM orders")).rejects.toThrow(/read-only|permission/);
  await expect(query(source?.url ?? "", "BEGIN READ WRITE; DELETE FROM orders")).rejects.toThrow("permission");
  for (const sql of [
    "SELECT query FROM pg_stat_activity",
    "SELECT pg_terminate_backend(1)",
    "SELECT pg_cancel_backend(1)",
    "SELECT pg_logical_emit_message(false, 'a', 'b')",
    "SELECT pg_advisory_lock(1)",
    "SELECT lo_create(0)",
    "SELECT set_config('work_mem', '1GB', false)",
  ]) {
    await expect(query(source?.url ?? "", sql)).rejects.toThrow("permission denied");
  }
  await expect(query(source?.url ?? "", "SET temp_file_limit = -1")).rejects.toThrow("permission denied");
  expect(await query(source?.url ?? "", "SHOW temp_file_limit")).toEqual([{ temp_file_limit: "256MB" }]);
});

test("a changed password takes the file away; the account is left alone", async () => {
  const url = await postgres.database();
  await migrate(url);
  const first = await prepare(url);
  const file = first.lines.find((line) => line.step === "administrator")?.initialPassword ?? "";
  await query(url, "UPDATE owl.account SET initial_password = false");
  const second = await prepare(url, { env: { OWL_ADMIN_PASSWORD: "another long one" } });
  expect(second.lines.find((line) => line.step === "administrator")?.initialPassword).toBeNull();
  await expect(stat(file)).rejects.toThrow("ENOENT");
});

test("a queue that someone changed is brought back in line, and a worker refuses one that is not", async () => {
  const url = await postgres.database();
  await migrate(url);
  await prepare(url);
  await query(url, "UPDATE pgboss.queue SET retry_limit = 2 WHERE name = 'chat'");
  const { createDatabase } = await import("../../../services/db/pool.ts");
  const { createQueue } = await import("../../../services/db/queue.ts");
  const database = createDatabase({ url, max: 2, onError: () => undefined });
  const onWarning = () => undefined;
  const queue = createQueue({ database, instance: "test", upkeep: false, onError: onWarning, onWarning });
  await expect(queue.start()).rejects.toMatchObject({ code: "queue.declaration" });
  await queue.stop();
  await database.stop();
  await prepare(url);
  expect(await query(url, "SELECT retry_limit FROM pgboss.queue WHERE name = 'chat'")).toEqual([{ retry_limit: 0 }]);
});

test("a role that may not create databases: everything else is there and the notice says why", async () => {
  const url = await postgres.database();
  const role = "modest";
  await query(postgres.adminUrl, `CREATE ROLE ${role} LOGIN`);
  const name = new URL(url.replace("@/", "@x/")).pathname.slice(1);
  await query(postgres.adminUrl, `ALTER DATABASE ${name} OWNER TO ${role}`);
  const own = postgres.urlOf(name, role);
  await migrate(own);
  const done = await prepare(own, { env: { OWL_ADMIN_DATABASE_URL: own } });
  expect(done.code).toBe(0);
  expect(done.lines.find((line) => line.step === "demo")?.message).toContain("may not create databases");
  expect(await query(own, "SELECT name FROM owl.data_source")).toEqual([]);
});

test("a restored copy: what it holds is ended or requeued by the kind's rule before anything starts, repeatably", async () => {
  const url = await postgres.database();
  await migrate(url);
  await prepare(url);
  const account = "(SELECT id FROM owl.account LIMIT 1)";
  await query(
    url,
    `INSERT INTO owl.worker (id, release, pid, host) VALUES ('worker-1', 'old', 1, 'x');
     INSERT INTO owl.conversation (id, account_id) SELECT gen_random_uuid(), ${account} FROM generate_series(1, 2);
     INSERT INTO owl.turn (id, conversation_id, account_id, text, state, claimed_by, attempt, queue_job, claim_deadline_at)
       SELECT gen_random_uuid(), c.id, c.account_id, 'q', CASE WHEN row_number() OVER () = 1 THEN 'running' ELSE 'queued' END,
              CASE WHEN row_number() OVER () = 1 THEN 'worker-1' END, 0, gen_random_uuid(), now() + interval '1 h' FROM owl.conversation c;
     INSERT INTO owl.transcription (id, account_id, path, name, state, claimed_by, queue_job)
       VALUES (gen_random_uuid(), ${account}, '/a', 'a', 'running', 'worker-1', gen_random_uuid())`,
  );
  for (let round = 0; round < 2; round++) {
    const done = await prepare(url, { env: { OWL_RESTORED: "1" } });
    expect(done).toMatchObject({ code: 0 });
    expect(done.lines.find((line) => line.step === "restored")?.message).toBe(
      `Jobs of the restored copy settled: ${round === 0 ? 3 : 0}.`,
    );
  }
  expect(await query(url, "SELECT state, cause FROM owl.turn")).toEqual([
    { state: "failed", cause: "cut" },
    { state: "failed", cause: "cut" },
  ]);
  expect(await query(url, "SELECT state, losses FROM owl.transcription")).toEqual([{ state: "queued", losses: 1 }]);
});

test("without a database it is one sentence and exit code 1", async () => {
  const done = await prepare("postgres://nobody@/x?host=/tmp/owl-no-such-socket");
  expect(done.code).toBe(1);
  expect(done.errors.trim().split("\n")).toHaveLength(1);
});
