// What the web and the workers do beside their work on rows of the database: what is forgotten, and what a beat says.

import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULTS } from "../../../config/defaults.ts";
import { createQueue } from "../../../services/db/queue.ts";
import { retentionSweeps } from "../../../services/db/retention.ts";
import { appendTurnEvents, endTurn, listTurnEvents } from "../../../services/db/turns.ts";
import { deregisterWorker, forgetWorkers, HEARTBEAT } from "../../../services/db/workers.ts";
import { markWorkerGone } from "../../support/gone-workers.ts";
import { claimRow, type Metastore, startMetastore } from "../../support/metastore.ts";

let store: Metastore;
beforeAll(async () => {
  store = await startMetastore();
});
afterAll(() => store?.stop());

const answered = { state: "answered", cause: "answered", message: null } as const;

async function claimed(turn: { id: string; queueJob: string }, worker: string) {
  const claim = await claimRow(store.db, { kind: "chat", ...turn }, worker);
  if (typeof claim === "string") throw new Error(`the claim is ${claim}`);
  return claim;
}

test("the deltas of turns that ended long ago are forgotten; answer, tool calls and end stay, as does a running turn", async () => {
  await store.worker("worker-old");
  const [old, running] = [await store.turn(), await store.turn()];
  const events = [
    { kind: "delta", data: { text: "kept " } },
    { kind: "tool", data: { id: "t", name: "run_sql" } },
    { kind: "delta", data: { text: "whole" } },
  ] as const;
  const claims = [await claimed(old, "worker-old"), await claimed(running, "worker-old")] as const;
  for (const claim of claims) await appendTurnEvents(store.db, claim, events);
  await endTurn(store.db, claims[0], answered);
  const kinds = async (id: string) => (await listTurnEvents(store.db, id, 0)).map(({ kind }) => kind);
  const whole = await kinds(old.id);
  expect(whole).toContain("delta");
  const forgetDeltas = async (eventsMs: number) => {
    const [sweep] = retentionSweeps({ ...DEFAULTS.retention, eventsMs }).filter(({ name }) => name === "events");
    return store.db.transaction((sql) => sweep?.step(sql) ?? Promise.resolve(0));
  };
  expect(await forgetDeltas(3_600_000)).toBe(0);
  expect(await kinds(old.id)).toEqual(whole);
  expect(await forgetDeltas(0)).toBe(1);
  expect(await forgetDeltas(0)).toBe(0);
  expect(await kinds(old.id)).toEqual(whole.filter((kind) => kind !== "delta"));
  expect(await kinds(running.id)).toContain("delta");
  const { rows } = await store.db.query("SELECT answer FROM owl.turn WHERE id = $1", [old.id]);
  expect(rows).toEqual([{ answer: "kept whole" }]);
});

test("a beat on its way while its worker deregisters takes it not for gone and changes nothing; one that is gone is told", async () => {
  const counts = { finished: 3, handedBack: 0, cut: 0 };
  const beat = async (id: string) =>
    (await store.db.query(HEARTBEAT, [id, JSON.stringify({ chat: 1 }), JSON.stringify({})])).rowCount;
  await store.worker("worker-leaving");
  await store.worker("worker-lost");
  expect(await beat("worker-leaving")).toBe(1);
  await deregisterWorker(store.db, "worker-leaving", counts);
  expect(await beat("worker-leaving")).toBe(1);
  const { rows } = await store.db.query(
    "SELECT jobs, counts, heartbeat_at < stopped_at AS \"isLastWord\" FROM owl.worker WHERE id = 'worker-leaving'",
  );
  expect(rows).toEqual([{ jobs: {}, counts, isLastWord: true }]);
  await markWorkerGone(store.db, "worker-lost");
  expect(await beat("worker-lost")).toBe(0);
});

test("the queue's own upkeep takes finished jobs away and fails those whose worker stopped beating, without an error", async () => {
  const [finished, silent] = [await store.turn(), await store.turn()];
  const { db } = store;
  await db.query("UPDATE pgboss.job SET state = 'completed', completed_on = now() - interval '60 days' WHERE id = $1", [
    finished.queueJob,
  ]);
  await db.query(
    `UPDATE pgboss.job SET state = 'active', started_on = now() - interval '1 hour',
       heartbeat_on = now() - interval '1 hour' WHERE id = $1`,
    [silent.queueJob],
  );
  const trouble: string[] = [];
  const queue = createQueue({
    database: db,
    instance: "test-upkeep",
    upkeep: true,
    onError: ({ message }) => trouble.push(message),
    onWarning: (message) => trouble.push(message),
  });
  await queue.start();
  const states = async () => {
    const ids = [[finished.queueJob, silent.queueJob]];
    return (await db.query("SELECT state::text FROM pgboss.job WHERE id = ANY($1)", ids)).rows;
  };
  // Its first pass comes half a minute after the start.
  await expect.poll(states, { timeout: 150_000 }).toEqual([{ state: "failed" }]);
  await queue.stop();
  expect(trouble).toEqual([]);
});

test("a worker of long ago is forgotten only when no job of any kind is running under its name", async () => {
  for (const id of ["worker-idle", "worker-holding"]) {
    await store.worker(id);
    await markWorkerGone(store.db, id);
  }
  await store.db.query("UPDATE owl.worker SET gone_at = gone_at - interval '8 days' WHERE id IN ($1, $2)", [
    "worker-idle",
    "worker-holding",
  ]);
  await store.db.query(
    `INSERT INTO owl.schema_analysis (id, account_id, data_source, state, claimed_by, queue_job)
     VALUES (gen_random_uuid(), $1, 'demo', 'running', 'worker-holding', gen_random_uuid())`,
    [store.accountId],
  );
  await forgetWorkers(store.db);
  const { rows } = await store.db.query("SELECT id FROM owl.worker WHERE id IN ('worker-idle', 'worker-holding')");
  expect(rows).toEqual([{ id: "worker-holding" }]);
});
