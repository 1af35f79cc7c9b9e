// What has had its time goes, what was deleted is erased, and one process alone does it.

import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RetentionConfig } from "../../../config/config.ts";
import { DEFAULTS } from "../../../config/defaults.ts";
import { systemClock } from "../../../config/system-time.ts";
import { exportRows } from "../../../services/db/export.ts";
import type { Database, Sql } from "../../../services/db/pool.ts";
import { deleteUpload } from "../../../services/db/uploads.ts";
import { createRetention } from "../../../services/web/retention.ts";
import { type Metastore, startMetastore } from "../../support/metastore.ts";

let store: Metastore;
let uploadsDir = "";
beforeAll(async () => {
  store = await startMetastore();
  uploadsDir = await mkdtemp("/tmp/owl-uploads-");
});
afterAll(async () => {
  await store?.stop();
  await rm(uploadsDir, { recursive: true, force: true });
});

const sweeper = (kept: Partial<RetentionConfig> = {}, instance = "web-1", db: Database = store.db) =>
  createRetention({
    db,
    clock: systemClock,
    log: store.log,
    instance,
    kept: { ...DEFAULTS.retention, ...kept },
    uploadsDir,
  });
const rows = async (text: string, values: readonly unknown[] = []) => (await store.db.query(text, values)).rows;
const count = async (table: string, where: string, value: unknown) =>
  (await rows(`SELECT 1 FROM owl.${table} WHERE ${where}`, [value])).length;

async function account(): Promise<string> {
  const id = randomUUID();
  await rows("INSERT INTO owl.account (id, name, role, password_hash) VALUES ($1, $2, 'member', '')", [
    id,
    `m-${id.slice(0, 8)}`,
  ]);
  return id;
}

/** A schedule whose last ticks were so many days ago. */
async function schedule(accountId: string, ticksDaysAgo: readonly number[]): Promise<string> {
  const id = randomUUID();
  await rows(
    `INSERT INTO owl.schedule (id, account_id, name, cron, zone, text, missed, overlap, jitter_ms, planned_at)
     VALUES ($1, $2, 'each morning', '0 9 * * *', 'Asia/Seoul', 'q', 'skip', 'skip', 0, now())`,
    [id, accountId],
  );
  await rows(
    `INSERT INTO owl.schedule_tick (schedule_id, tick_at, outcome, at)
     SELECT $1, now() - make_interval(days => d), 'started', now() - make_interval(days => d) FROM unnest($2::int[]) d`,
    [id, ticksDaysAgo],
  );
  return id;
}

/** A conversation with `turns` ended ones, each with events and a file; its last activity `daysAgo`. */
async function conversation(accountId: string, turns: number, daysAgo = 0): Promise<string> {
  const id = randomUUID();
  await rows(
    "INSERT INTO owl.conversation (id, account_id, updated_at) VALUES ($1, $2, now() - make_interval(days => $3))",
    [id, accountId, daysAgo],
  );
  await rows(
    `WITH made AS (
       INSERT INTO owl.turn (id, conversation_id, account_id, text, state, answer, claim_deadline_at, ended_at)
       SELECT gen_random_uuid(), $1, $2, 'q', 'answered', 'a', now(), now() FROM generate_series(1, $3) RETURNING id),
     files AS (
       INSERT INTO owl.attachment (id, account_id, turn_id, name, bytes, characters, text)
       SELECT gen_random_uuid(), $2, id, 'f.txt', 1, 1, 'x' FROM made)
     INSERT INTO owl.turn_event (turn_id, seq, kind, data) SELECT id, n, 'delta', '{}' FROM made, generate_series(1, 3) n`,
    [id, accountId, turns],
  );
  return id;
}

/** A transcription of an upload with a file, both `daysAgo`. */
async function transcription(
  accountId: string,
  daysAgo: number,
  state = "done",
): Promise<{ id: string; upload: string }> {
  const [id, upload] = [randomUUID(), randomUUID()];
  await writeFile(join(uploadsDir, upload), "RIFF");
  await rows(
    `INSERT INTO owl.upload (id, account_id, name, completed_at) VALUES ($1, $2, 'r.wav', now() - make_interval(days => $3))`,
    [upload, accountId, daysAgo],
  );
  await rows(
    `INSERT INTO owl.transcription (id, account_id, upload_id, name, state, ended_at)
     VALUES ($1, $2, $3, 'r.wav', $4, CASE WHEN $4 = 'done' THEN now() - make_interval(days => $5) END)`,
    [id, accountId, upload, state, daysAgo],
  );
  return { id, upload };
}

const fileSweep = async () => {
  await rows("UPDATE owl.discarded_file SET at = at - interval '2 minutes'");
  await sweeper().erase();
  return readdir(uploadsDir);
};

test("a deleted conversation goes with its turns, events and files; one whose turn still runs waits for it", async () => {
  const owner = await account();
  const [gone, kept, busy] = [
    await conversation(owner, 120),
    await conversation(owner, 1),
    await conversation(owner, 1),
  ];
  await rows(
    `INSERT INTO owl.turn (id, conversation_id, account_id, text, state, claimed_by, claim_deadline_at)
     VALUES (gen_random_uuid(), $1, $2, 'q', 'running', 'worker-1', now())`,
    [busy, owner],
  );
  await rows("UPDATE owl.conversation SET deleted_at = now() WHERE id IN ($1, $2)", [gone, busy]);
  expect(await sweeper().erase()).toBe(true);
  expect(await count("conversation", "id = $1", gone)).toBe(0);
  expect(await count("turn", "conversation_id = $1", gone)).toBe(0);
  expect(await count("turn", "conversation_id = $1", kept)).toBe(1);
  expect(await count("attachment", "account_id = $1", owner)).toBe(1);
  expect(await count("turn", "conversation_id = $1", busy)).toBe(1);
});

test("conversations nobody used for long go, pinned ones stay, and forever means forever", async () => {
  const owner = await account();
  const [old, pinned, young] = [
    await conversation(owner, 1, 40),
    await conversation(owner, 1, 40),
    await conversation(owner, 1, 10),
  ];
  await rows("UPDATE owl.conversation SET pinned_at = now() WHERE id = $1", [pinned]);
  await sweeper({ conversationsMs: null }).forget();
  await sweeper().erase();
  expect(await count("conversation", "account_id = $1", owner)).toBe(3);
  const aMonth = sweeper({ conversationsMs: 30 * 86_400_000 });
  await aMonth.forget();
  await aMonth.erase();
  expect(await count("conversation", "id = $1", old)).toBe(0);
  expect((await rows("SELECT id FROM owl.conversation WHERE account_id = $1", [owner])).length).toBe(2);
  expect(await count("conversation", "id = $1", young)).toBe(1);
});

test("a recording's file goes with its time, its text later; what a waiting job needs stays", async () => {
  const owner = await account();
  const [old, waiting] = [await transcription(owner, 100), await transcription(owner, 100, "queued")];
  await sweeper().forget();
  expect(await fileSweep()).toEqual([waiting.upload]);
  expect(await count("transcription", "id = $1", old.id)).toBe(1);
  await sweeper({ transcriptionsMs: 30 * 86_400_000 }).forget();
  expect(await count("transcription", "id = $1", old.id)).toBe(0);
  expect(await count("upload", "id = $1", old.upload)).toBe(0);
  expect(await count("transcription", "id = $1", waiting.id)).toBe(1);
});

test("a batch that was deleted goes with its items and their recordings, what another job names stays", async () => {
  const owner = await account();
  const [own, shared, other] = [
    await transcription(owner, 1),
    await transcription(owner, 1),
    await transcription(owner, 1),
  ];
  const batch = randomUUID();
  await rows(
    `INSERT INTO owl.batch (id, account_id, kind, request, state, ended_at, deleted_at)
     VALUES ($1, $2, 'transcription', '{}', 'done', now(), now())`,
    [batch, owner],
  );
  await rows("UPDATE owl.transcription SET batch_id = $1, position = 0 WHERE id = $2", [batch, own.id]);
  await rows("UPDATE owl.transcription SET batch_id = $1, position = 1 WHERE id = $2", [batch, shared.id]);
  await rows("UPDATE owl.transcription SET upload_id = $1 WHERE id = $2", [shared.upload, other.id]);
  expect(await sweeper().erase()).toBe(true);
  expect(await count("batch", "id = $1", batch)).toBe(0);
  expect(await rows("SELECT id FROM owl.transcription WHERE account_id = $1", [owner])).toEqual([{ id: other.id }]);
  expect(await count("upload", "id = $1", own.upload)).toBe(0);
  expect(await count("upload", "id = $1", shared.upload)).toBe(1);
});

test("a deleted upload's file goes even when nobody comes back to remove it", async () => {
  const owner = await account();
  const upload = randomUUID();
  await writeFile(join(uploadsDir, upload), "RIFF");
  await rows("INSERT INTO owl.upload (id, account_id, name, completed_at) VALUES ($1, $2, 'r.wav', now())", [
    upload,
    owner,
  ]);
  expect(await deleteUpload(store.db, upload, owner)).toBe("deleted");
  expect(await fileSweep()).not.toContain(upload);
});

test("batches go with their items, runs, analyses and audit entries by their time; the newest analysis stays", async () => {
  const owner = await account();
  const batch = randomUUID();
  const long = "now() - interval '900 days'";
  await rows(
    `INSERT INTO owl.batch (id, account_id, kind, request, state, ended_at)
     VALUES ($1, $2, 'transcription', '{}', 'done', ${long})`,
    [batch, owner],
  );
  await rows(
    `INSERT INTO owl.transcription (id, account_id, batch_id, position, path, name, state, ended_at)
     SELECT gen_random_uuid(), $2, $1, n, '/x', 'x', 'done', ${long} FROM generate_series(1, 120) n`,
    [batch, owner],
  );
  for (const days of [900, 800])
    await rows(
      `INSERT INTO owl.schema_analysis (id, account_id, data_source, state, ended_at)
       VALUES (gen_random_uuid(), $1, 'sales', 'done', now() - make_interval(days => $2))`,
      [owner, days],
    );
  await rows(`INSERT INTO owl.audit (at, account_name, action) VALUES (${long}, 'old', 'x'), (now(), 'new', 'x')`);
  await sweeper().forget();
  expect(await count("batch", "id = $1", batch)).toBe(0);
  expect(await count("transcription", "batch_id = $1", batch)).toBe(0);
  expect(await count("schema_analysis", "account_id = $1", owner)).toBe(1);
  expect(await rows("SELECT account_name FROM owl.audit")).toEqual([{ account_name: "new" }]);
});

test("ticks of a schedule go after 30 days; the schedule stays, and is in its owner's export", async () => {
  const owner = await account();
  const id = await schedule(owner, [1, 29, 31, 400]);
  await sweeper().forget();
  expect(await count("schedule_tick", "schedule_id = $1", id)).toBe(2);
  const exported = [];
  for await (const { json } of exportRows(store.db, owner, "schedules")) exported.push(JSON.parse(json));
  expect(exported).toEqual([expect.objectContaining({ id, cron: "0 9 * * *", zone: "Asia/Seoul", text: "q" })]);
});

test("a deleted account goes with all it owns, once what it still runs has ended", async () => {
  const owner = await account();
  await conversation(owner, 3);
  const ticking = await schedule(owner, [1]);
  const { upload } = await transcription(owner, 1);
  const waiting = await transcription(owner, 1, "queued");
  await rows("INSERT INTO owl.playbook (id, account_id, name, steps) VALUES (gen_random_uuid(), $1, 'p', '[]')", [
    owner,
  ]);
  await rows(
    `INSERT INTO owl.playbook_run (id, account_id, playbook_id, name, steps, state, ended_at)
     SELECT gen_random_uuid(), $1, id, 'p', '[]', 'done', now() FROM owl.playbook WHERE account_id = $1`,
    [owner],
  );
  await rows("INSERT INTO owl.audit (account_id, account_name, action) VALUES ($1, 'm', 'kept')", [owner]);
  await rows("UPDATE owl.account SET deleted_at = now(), disabled_at = now() WHERE id = $1", [owner]);
  await sweeper().erase();
  const [state] = await rows("SELECT 1 FROM owl.transcription WHERE id = $1 AND state = 'queued'", [waiting.id]);
  expect(state).toBeUndefined();
  await sweeper().erase();
  expect(await count("account", "id = $1", owner)).toBe(0);
  const owned = [
    "conversation",
    "turn",
    "transcription",
    "upload",
    "playbook",
    "playbook_run",
    "attachment",
    "schedule",
  ];
  for (const table of owned) expect([table, await count(table, "account_id = $1", owner)]).toEqual([table, 0]);
  expect(await count("schedule_tick", "schedule_id = $1", ticking)).toBe(0);
  expect(await rows("SELECT account_id, account_name FROM owl.audit WHERE action = 'kept'")).toEqual([
    { account_id: null, account_name: "m" },
  ]);
  expect(await fileSweep()).not.toContain(upload);
});

test("one process sweeps; another takes over when it leaves", async () => {
  const [first, second] = [sweeper({}, "web-1"), sweeper({}, "web-2")];
  expect(await first.erase()).toBe(true);
  expect(await second.erase()).toBe(false);
  await first.stop();
  expect(await second.erase()).toBe(true);
  await second.stop();
});

test("a sweep that fails stops no other one", async () => {
  const failing = {
    ...store.db,
    transaction: <T>(work: (sql: Sql) => Promise<T>) =>
      store.db.transaction((sql) =>
        work({
          query: (text, values) =>
            text.includes("owl.turn_event") ? sql.query("SELECT 1/0") : sql.query(text, values),
        }),
      ),
  };
  await rows("INSERT INTO owl.audit (at, account_name, action) VALUES (now() - interval '900 days', 'x', 'late')");
  const one = sweeper({}, "web-3", failing);
  expect(await one.forget()).toBe(true);
  expect(await rows("SELECT 1 FROM owl.audit WHERE action = 'late'")).toEqual([]);
  await one.stop();
});
