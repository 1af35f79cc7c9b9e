// How the database reads large tables: every list, figure, sweep and search by an index, also in a plan made once for
// any values. No time is measured: the plan is looked at.

import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULTS } from "../../../config/defaults.ts";
import { listBatches } from "../../../services/db/batches.ts";
import { searchConversations } from "../../../services/db/conversation-search.ts";
import { listConversations, listFolders } from "../../../services/db/conversations.ts";
import { readJobFigures } from "../../../services/db/job-figures.ts";
import { listFailed, listJobs } from "../../../services/db/job-list.ts";
import { buildLateIndexes, LATE_INDEXES } from "../../../services/db/late-indexes.ts";
import { listPlaybookRuns } from "../../../services/db/playbook-runs.ts";
import type { Database, Sql } from "../../../services/db/pool.ts";
import { DELETION_SWEEPS, listOrphanedJobs, retentionSweeps } from "../../../services/db/retention.ts";
import { listSchemaAnalyses } from "../../../services/db/schema-analyses.ts";
import { listTranscriptions } from "../../../services/db/transcriptions.ts";
import { queueFigures, turnFigures, turnHistogram } from "../../../services/db/turn-figures.ts";
import { listTurns } from "../../../services/db/turns.ts";
import { type Metastore, startMetastore } from "../../support/metastore.ts";

const ROWS = 60_000;
const LARGE = ["conversation", "turn", "turn_event", "transcription", "playbook_run", "schema_analysis", "audit"];

let store: Metastore;
let admin: pg.Client;
let accountId = "";
beforeAll(async () => {
  store = await startMetastore();
  ({ accountId } = store);
  admin = new pg.Client({ connectionString: store.url });
  await admin.connect();
  await fill();
  const { refused } = await buildLateIndexes(store.url, new AbortController().signal);
  expect(refused).toEqual([]);
  await admin.query("VACUUM ANALYZE");
});
afterAll(async () => {
  await admin?.end();
  await store?.stop();
});

/** Of ten accounts, over some years: mostly ended, some open, some deleted. */
async function fill(): Promise<void> {
  const at = "now() - n * interval '20 minutes'";
  const owner = "(SELECT id FROM owner WHERE k = n % 10)";
  const owners = `WITH owner AS MATERIALIZED (SELECT id, row_number() OVER (ORDER BY id) - 1 AS k FROM owl.account)`;
  await admin.query(
    `INSERT INTO owl.account (id, name, role, password_hash)
     SELECT gen_random_uuid(), 'member-' || n, 'member', '' FROM generate_series(1, 9) n`,
  );
  const series = `FROM generate_series(1, ${ROWS}) n`;
  await admin.query(
    `${owners} INSERT INTO owl.conversation (id, account_id, title, created_at, updated_at, archived_at)
     SELECT gen_random_uuid(), ${owner}, 'about ' || n, ${at}, ${at}, CASE WHEN n % 50 = 0 THEN now() END ${series}`,
  );
  await admin.query(
    `INSERT INTO owl.turn (id, conversation_id, account_id, text, state, answer, message, claim_deadline_at, claimed_at,
                           created_at, ended_at)
     SELECT gen_random_uuid(), id, account_id, title || ' asked', CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'answered' END,
            'the answer to ' || n, 'm', created_at, created_at, created_at, created_at + interval '5 s'
       FROM (SELECT *, row_number() OVER () AS n FROM owl.conversation) c`,
  );
  await admin.query(
    `INSERT INTO owl.turn_event (turn_id, seq, kind, data) SELECT id, s, 'delta', '{"text":"x"}' FROM owl.turn, generate_series(1, 2) s`,
  );
  await admin.query(
    `${owners} INSERT INTO owl.transcription (id, account_id, path, name, state, bytes, created_at, claimed_at, ended_at)
     SELECT gen_random_uuid(), ${owner}, '/a', 'a', 'done', 1, ${at}, ${at}, ${at} ${series}`,
  );
  await admin.query(
    `${owners} INSERT INTO owl.playbook (id, account_id, name, steps) SELECT gen_random_uuid(), id, 'p', '[]' FROM owner`,
  );
  await admin.query(
    `INSERT INTO owl.playbook_run (id, account_id, playbook_id, name, steps, state, created_at, ended_at)
     SELECT gen_random_uuid(), p.account_id, p.id, 'p', '[]', 'done', ${at}, ${at}
       FROM owl.playbook p, generate_series(1, ${ROWS / 10}) n`,
  );
  await admin.query(
    `${owners} INSERT INTO owl.schema_analysis (id, account_id, data_source, state, created_at, ended_at)
     SELECT gen_random_uuid(), ${owner}, 'demo', 'done', ${at}, ${at} ${series}`,
  );
  await admin.query(
    `${owners} INSERT INTO owl.audit (at, account_id, account_name, action) SELECT ${at}, ${owner}, 'm', 'x' ${series}`,
  );
  await admin.query("UPDATE owl.account SET deleted_at = now() WHERE name = 'member-9'");
  await admin.query(`UPDATE owl.sweep SET mark_at = now() - interval '8 days' WHERE name = 'events'`);
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Large tables read from one end to the other, and rows read that were not wanted, by the statements of `run`. */
async function badReads(run: (db: Database) => Promise<unknown>): Promise<readonly string[]> {
  const bad: string[] = [];
  const explained = (sql: Sql): Sql => ({
    async query<Row extends object>(text: string, values?: readonly unknown[]) {
      if (/owl\./.test(text) && !/set_config|SET LOCAL/.test(text)) {
        const { rows } = await sql.query<{ "QUERY PLAN": readonly { Plan: PlanNode }[] }>(
          `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
          values ?? [],
        );
        for (const node of rows.flatMap((row) => row["QUERY PLAN"]).flatMap(({ Plan }) => nodesOf(Plan))) {
          const table = node["Relation Name"] ?? "";
          if (!LARGE.includes(table)) continue;
          const read = (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"];
          if (node["Node Type"] === "Seq Scan" || read > ROWS / 5)
            bad.push(
              `${node["Node Type"]} ${table} ${node["Index Name"] ?? ""}: ${read} rows of ${text.slice(0, 200)}`,
            );
        }
      }
      return {
        rows: [] as Row[],
        rowCount: 0,
        ...(/INSERT|UPDATE|DELETE/.test(text) ? {} : await sql.query<Row>(text, values)),
      };
    },
  });
  // A statement is planned for any values from its sixth use on; both plans are looked at.
  for (const mode of ["force_custom_plan", "force_generic_plan"]) {
    await store.db.attempt(async (sql) => {
      await sql.query(`SET LOCAL plan_cache_mode = ${mode}`);
      const within = explained(sql);
      await run({ ...store.db, ...within, transaction: (work) => work(within) });
      return undefined;
    });
  }
  return bad;
}

/** In the middle of the table. */
const deep = async (table: string, key: string) => {
  const { rows } = await store.db.query<{ id: string; cursor: string }>(
    `SELECT id, (extract(epoch FROM ${key}) * 1000000)::bigint::text AS cursor FROM owl.${table}
      ORDER BY ${key} OFFSET ${ROWS / 2} LIMIT 1`,
  );
  return rows[0] as { id: string; cursor: string };
};

test("deep pages of every list are a range of an index", async () => {
  const limit = 51;
  expect(
    await badReads(async (db) => {
      const conversations = await deep("conversation", "updated_at");
      for (const archived of [true, false])
        for (const folder of [null, "work"])
          await listConversations(db, { accountId, archived, folder, before: conversations, limit });
      await listFolders(db, accountId);
      await listTranscriptions(db, { accountId, before: await deep("transcription", "created_at"), limit });
      for (const owner of [accountId, null]) await listBatches(db, { accountId: owner, before: null, limit });
      await listPlaybookRuns(db, {
        accountId,
        playbookId: null,
        before: await deep("playbook_run", "created_at"),
        limit,
      });
      await listSchemaAnalyses(db, { accountId, before: await deep("schema_analysis", "created_at"), limit });
    }),
  ).toEqual([]);
});

test("jobs by state and by owner are ranges of indexes, also of an owner without any", async () => {
  await admin.query("INSERT INTO owl.account (id, name, role, password_hash) VALUES ($1, 'idle', 'member', '')", [
    randomUUID(),
  ]);
  const before = await deep("turn", "ended_at");
  expect(
    await badReads(async (db) => {
      for (const owner of [null, "mina", "idle"]) {
        for (const filter of ["ended", "unfinished", "failed"] as const)
          await listJobs(db, { kind: null, filter, owner, stalledAfterMs: 30_000, before, limit: 51 });
        await listFailed(db, { kind: "chat", owner, limit: 100 });
      }
    }),
  ).toEqual([]);
});

test("figures of the administrators' pages read a bounded part", async () => {
  expect(
    await badReads(async (db) => {
      await readJobFigures(db, 30_000);
      await queueFigures(db);
      await turnFigures(db, 86_400_000);
      await turnHistogram(db, 86_400_000, 270_000);
    }),
  ).toEqual([]);
});

test("a page of a conversation reads that conversation alone", async () => {
  const { id } = await deep("conversation", "updated_at");
  expect(await badReads((db) => listTurns(db, { conversationId: id, before: null, limit: 50 }))).toEqual([]);
});

test("sweeps find their rows by an index, those that have nothing to do too", async () => {
  const kept = DEFAULTS.retention;
  const long = Object.fromEntries(Object.keys(kept).map((key) => [key, 36_500 * 86_400_000])) as unknown as typeof kept;
  const sweeps = [...retentionSweeps(kept), ...retentionSweeps(long), ...DELETION_SWEEPS];
  expect(
    await badReads(async (db) => {
      for (const { step } of sweeps) await step(db);
      await listOrphanedJobs(db);
    }),
  ).toEqual([]);
});

test("what names a row that goes is found by an index", async () => {
  const { rows } = await admin.query<{ name: string }>(
    `SELECT f.conname AS name FROM pg_constraint f JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = f.conkey[1]
      WHERE f.contype = 'f' AND f.connamespace = 'owl'::regnamespace AND NOT EXISTS (
        SELECT 1 FROM pg_index i WHERE i.indrelid = f.conrelid AND i.indkey[0] = a.attnum AND i.indisvalid
           AND coalesce(pg_get_expr(i.indpred, i.indrelid), '') IN ('', format('(%I IS NOT NULL)', a.attname)))`,
  );
  // One row an account.
  expect(rows.map(({ name }) => name)).toEqual(["instructions_account_id_fkey"]);
});

test("a search asks the index, in Korean too; without it the newest conversations are looked through", async () => {
  const made = async (title: string) => {
    const id = randomUUID();
    await admin.query("INSERT INTO owl.conversation (id, account_id, title) VALUES ($1, $2, 'x')", [id, accountId]);
    await admin.query(
      `INSERT INTO owl.turn (id, conversation_id, account_id, text, state, answer, claim_deadline_at, ended_at)
       VALUES (gen_random_uuid(), $1, $2, 'q', 'answered', $3, now(), now())`,
      [id, accountId, title],
    );
    return id;
  };
  const korean = await made("어제 회의록을 정리했습니다");
  const look = (words: string, before: { cursor: string; id: string } | null = null) =>
    searchConversations(store.db, { accountId, archived: false, before, limit: 50, words });
  const found = await look("회의록");
  expect([found.rows.map(({ id }) => id), found.isWhole]).toEqual([[korean], true]);
  expect(found.rows[0]?.found?.text).toBe("어제 회의록을 정리했습니다");
  expect(
    await badReads((db) =>
      searchConversations(db, { accountId, archived: false, before: null, limit: 50, words: "회의록" }),
    ),
  ).toEqual([]);
  // Two letters are no trigram: what is told then is told to be a part, and goes on.
  const short = await look("회의");
  expect([short.rows.map(({ id }) => id), short.isWhole]).toEqual([[korean], false]);
  expect(short.rows[0]?.found).toEqual(found.rows[0]?.found);
  expect(short.next).not.toBeNull();
  await admin.query("DROP INDEX owl.turn_search");
  expect((await look("회의록")).rows.map(({ id }) => id)).toEqual([korean]);
  let page = await look("about 59999");
  for (let pages = 0; page.next !== null && pages < 500; pages++) page = await look("about 59999", page.next);
  expect(page.next).toBeNull();
  const { built } = await buildLateIndexes(store.url, new AbortController().signal);
  expect(built).toEqual(["turn_search"]);
});

test("late indexes have names of their own", () => {
  expect(new Set(LATE_INDEXES.map(({ name }) => name)).size).toBe(LATE_INDEXES.length);
});
