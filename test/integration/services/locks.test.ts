// Two who want the same rows: neither is undone, nothing is lost between them.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemRandom } from "../../../config/system-time.ts";
import { cancelBatch, insertBatch, pauseBatch } from "../../../services/db/batches.ts";
import { deleteConversation } from "../../../services/db/conversations.ts";
import type { Sql } from "../../../services/db/pool.ts";
import { requeueRow } from "../../../services/db/requeue.ts";
import { stopRow } from "../../../services/db/stops.ts";
import { createStrays } from "../../../services/db/strays.ts";
import { endTranscription } from "../../../services/db/transcriptions.ts";
import { acceptTurn, endTurn } from "../../../services/db/turns.ts";
import { claimRow, type Metastore, startMetastore } from "../../support/metastore.ts";

let store: Metastore;
beforeAll(async () => {
  store = await startMetastore();
  await store.worker("worker-1");
});
afterAll(() => store?.stop());

const answered = { state: "answered", cause: "answered", message: null } as const;

/** Does `first` in a transaction, lets `second` run into its locks, then commits. Answers what both gave. */
async function meet<A, B>(first: (sql: Sql) => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
  let later: Promise<B> | null = null;
  const gave = await store.db.transaction(async (sql) => {
    const result = await first(sql);
    later = second();
    const waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    await expect.poll(async () => (await store.db.query(waits)).rowCount).toBe(1);
    return result;
  });
  if (later === null) throw new Error("the second one was begun");
  return [gave, await later];
}

const deadlocks = async () => {
  await store.db.query("SELECT pg_stat_force_next_flush()");
  const { rows } = await store.db.query<{ n: number }>(
    "SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = current_database()",
  );
  return rows[0]?.n;
};
const conversationOf = async (turn: string) =>
  (await store.db.query<{ id: string }>("SELECT conversation_id AS id FROM owl.turn WHERE id = $1", [turn])).rows[0]
    ?.id ?? "";

async function claimed(turn: { readonly id: string; readonly queueJob: string }) {
  const claim = await claimRow(store.db, { kind: "chat", ...turn }, "worker-1");
  if (typeof claim === "string") throw new Error(`the claim is ${claim}`);
  return claim;
}

/** A batch of two running items and two waiting ones; the running ones' ids. */
async function batch(): Promise<{ readonly id: string; readonly running: readonly string[] }> {
  const id = randomUUID();
  const ids = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const items = ids.map((one) => ({ id: one, queueJob: randomUUID(), item: { path: one, name: one, bytes: 1 } }));
  const rest = { accountId: store.accountId, kind: "transcription", request: {}, options: {}, skipped: [], items };
  await store.db.transaction(async (sql) => {
    await insertBatch(sql, { id, ...rest });
    await store.queue.enqueueMany(sql, "transcription", items);
  });
  const running = ids.slice(0, 2);
  await store.db.query(
    "UPDATE owl.transcription SET state = 'running', attempt = 1, claimed_by = 'worker-1' WHERE id = ANY($1)",
    [running],
  );
  return { id, running };
}

test("cancelling a batch while its items end: no deadlock, and what was done stays done", async () => {
  const before = await deadlocks();
  for (let round = 0; round < 10; round++) {
    const { id, running } = await batch();
    await Promise.all([
      store.db.transaction((sql) => cancelBatch(sql, id)),
      ...running.map((one) => endTranscription(store.db, { id: one, attempt: 1 }, { state: "done", message: null })),
    ]);
    const { rows } = await store.db.query(
      "SELECT state, count(*)::int AS n FROM owl.transcription WHERE batch_id = $1 GROUP BY 1 ORDER BY 1",
      [id],
    );
    expect(rows).toEqual([
      { state: "cancelled", n: 2 },
      { state: "done", n: 2 },
    ]);
  }
  expect(await deadlocks()).toBe(before);
});

test("deleting a conversation while its turn ends: no deadlock, and the turn ends", async () => {
  const before = await deadlocks();
  for (let round = 0; round < 10; round++) {
    const claim = await claimed(await store.turn());
    const conversation = await conversationOf(claim.id);
    const [ended] = await Promise.all([
      endTurn(store.db, claim, answered),
      store.db.transaction(async (sql) => {
        for (const { id } of (await deleteConversation(sql, conversation, store.accountId)) ?? [])
          await stopRow(sql, "chat", id);
      }),
    ]);
    expect(ended).toBe(true);
  }
  expect(await deadlocks()).toBe(before);
});

test("what the database undid because two were in each other's way is run again", async () => {
  const [one, two] = [await store.turn(), await store.turn()];
  const lock = (sql: Sql, id: string) => sql.query("SELECT 1 FROM owl.turn WHERE id = $1 FOR UPDATE", [id]);
  const before = (await deadlocks()) ?? 0;
  let tries = 0;
  const bothHold = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const cross = (first: string, second: string, mine: 0 | 1) =>
    store.db.transaction(async (sql) => {
      tries += 1;
      await lock(sql, first);
      bothHold[mine].resolve();
      await bothHold[mine === 0 ? 1 : 0].promise;
      await lock(sql, second);
      return "done";
    });
  expect(await Promise.all([cross(one.id, two.id, 0), cross(two.id, one.id, 1)])).toEqual(["done", "done"]);
  // Once more at least: whoever is undone may take its first lock again before the other one has woken.
  expect(tries).toBeGreaterThanOrEqual(3);
  // Each session of the server tells of its own when it gets to it.
  await expect.poll(deadlocks, { timeout: 20_000 }).toBeGreaterThan(before);
});

test("a stop that meets a hand-back ends the turn", async () => {
  const claim = await claimed(await store.turn());
  const queueJob = randomUUID();
  const [, stopped] = await meet(
    async (sql) => {
      const deps = { queue: store.queue, random: { ...systemRandom, uuid: () => queueJob }, claimMs: 420_000 };
      const row = { ...claim, queueJob: null, claimedBy: claim.worker };
      expect(await requeueRow(deps, sql, row, { lost: 0, begun: true })).toBe(true);
    },
    () => stopRow(store.db, "chat", claim.id),
  );
  expect(stopped).toBe("ended");
  const { rows } = await store.db.query(
    `SELECT t.state, e.cause, (SELECT count(*)::int FROM pgboss.job j WHERE j.id = $2) AS jobs
       FROM owl.turn t JOIN owl.turn_ending e ON e.turn_id = t.id WHERE t.id = $1`,
    [claim.id, queueJob],
  );
  expect(rows).toEqual([{ state: "stopped", cause: "stopped", jobs: 0 }]);
  expect(await stopRow(store.db, "chat", claim.id)).toBe("over");
});

test("a question that meets its conversation's deletion is refused, or is among what the deletion stops", async () => {
  const ask = async (sql: Sql, conversationId: string, id: string) =>
    acceptTurn(sql, store.queue, {
      id,
      conversationId,
      accountId: store.accountId,
      text: "question",
      queueJob: randomUUID(),
      claimMs: 420_000,
    });
  const fresh = async () => {
    const id = randomUUID();
    await store.db.query("INSERT INTO owl.conversation (id, account_id) VALUES ($1, $2)", [id, store.accountId]);
    return id;
  };
  const [first, refused] = [await fresh(), randomUUID()];
  const [, answer] = await meet(
    (sql) => deleteConversation(sql, first, store.accountId),
    () => ask(store.db, first, refused),
  );
  expect(answer).toBe("notFound");
  const left = `SELECT (SELECT count(*)::int FROM owl.turn WHERE id = $1) AS turns,
                       (SELECT count(*)::int FROM pgboss.job WHERE data->>'id' = $1::text) AS jobs`;
  expect((await store.db.query(left, [refused])).rows).toEqual([{ turns: 0, jobs: 0 }]);
  const [second, accepted] = [await fresh(), randomUUID()];
  const [, open] = await meet(
    (sql) => ask(sql, second, accepted),
    () => store.db.transaction((sql) => deleteConversation(sql, second, store.accountId)),
  );
  expect(open).toEqual([{ id: accepted, state: "queued" }]);
});

test("a waiting row without its queue job gets a new one; an item of a paused batch does not", async () => {
  const { db, queue, log } = store;
  const strays = createStrays({ db, queue, log, random: systemRandom });
  const turn = await store.turn();
  const { id } = await batch();
  await db.transaction((sql) => pauseBatch(sql, id));
  await strays.runOnce();
  await strays.runOnce();
  await db.query("DELETE FROM pgboss.job WHERE id = $1", [turn.queueJob]);
  expect((await strays.runOnce()) + (await strays.runOnce())).toBe(1);
  const { rows } = await db.query<{ job: string }>("SELECT queue_job AS job FROM owl.turn WHERE id = $1", [turn.id]);
  expect((await claimed({ id: turn.id, queueJob: rows[0]?.job ?? "" })).attempt).toBe(1);
});
