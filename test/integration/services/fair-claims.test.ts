// Claims go round the accounts, within a kind; nobody holds more than their share; a batch yields to a single recording.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { claimJobs } from "../../../services/db/claims.ts";
import { acceptTurn, queuePosition } from "../../../services/db/turns.ts";
import { type Metastore, startMetastore } from "../../support/metastore.ts";

let store: Metastore;
const accounts = new Map<string, string>();
beforeAll(async () => {
  store = await startMetastore();
  for (const name of ["ana", "bo", "cleo"]) {
    const id = randomUUID();
    accounts.set(name, id);
    await store.db.query("INSERT INTO owl.account (id, name, role, password_hash) VALUES ($1, $2, 'member', '')", [
      id,
      name,
    ]);
  }
  await store.worker("worker-1");
  await store.worker("worker-2");
});
afterAll(async () => {
  await store?.stop();
});

async function ask(name: string): Promise<string> {
  const [id, conversationId, queueJob] = [randomUUID(), randomUUID(), randomUUID()];
  const accountId = accounts.get(name) ?? "";
  await store.db.transaction(async (sql) => {
    await sql.query("INSERT INTO owl.conversation (id, account_id) VALUES ($1, $2)", [conversationId, accountId]);
    await acceptTurn(sql, store.queue, { id, conversationId, accountId, text: "q", queueJob, claimMs: 420_000 });
  });
  return id;
}

async function record(name: string, batch: string | null, position = 0): Promise<string> {
  const [id, queueJob] = [randomUUID(), randomUUID()];
  await store.db.query(
    `INSERT INTO owl.transcription (id, account_id, path, name, queue_job, batch_id, position)
     VALUES ($1, $2, '/a.wav', 'a', $3, $4, $5)`,
    [id, accounts.get(name), queueJob, batch, position],
  );
  await store.queue.enqueue(store.db, "transcription", { id, queueJob });
  return id;
}

const take = async (kind: "chat" | "transcription", limit: number, accountLimit = 1_000, worker = "worker-1") => {
  const { claims, left } = await claimJobs(store.db, { kind, limit, accountLimit, worker });
  return { ids: claims.map(({ id }) => id), left };
};
const forgetAll = () => store.db.query("TRUNCATE owl.turn, owl.transcription, pgboss.job CASCADE");

test("one member's tenth question never comes before another's first, and positions tell that order", async () => {
  const many: string[] = [];
  for (let n = 0; n < 10; n++) many.push(await ask("ana"));
  const [bo, bo2] = [await ask("bo"), await ask("bo")];
  const cleo = await ask("cleo");
  expect(
    await Promise.all(
      [many[0], bo, cleo, many[1], bo2, many[2], many[9]].map((id) => queuePosition(store.db, id ?? "")),
    ),
  ).toEqual([0, 1, 2, 3, 4, 5, 12]);
  const order: string[] = [];
  for (let n = 0; n < 13; n++) order.push(...(await take("chat", 1)).ids);
  expect(order).toEqual([many[0], bo, cleo, many[1], bo2, ...many.slice(2)]);
  await forgetAll();
});

test("what runs counts: who has nothing running is next, in whichever worker the others run", async () => {
  await ask("ana");
  await ask("ana");
  await take("chat", 2, 1_000, "worker-2");
  const third = await ask("ana");
  const bo = await ask("bo");
  expect(await queuePosition(store.db, third)).toBe(1);
  expect(await take("chat", 1)).toEqual({ ids: [bo], left: "none" });
  await forgetAll();
});

test("an account holds its share of a worker's places and no more, however much of it waits", async () => {
  const many: string[] = [];
  for (let n = 0; n < 6; n++) many.push(await ask("ana"));
  expect((await take("chat", 8, 3)).ids.toSorted()).toEqual(many.slice(0, 3).toSorted());
  expect(await take("chat", 5, 3)).toEqual({ ids: [], left: "capped" });
  const bo = await ask("bo");
  expect(await take("chat", 5, 3)).toEqual({ ids: [bo], left: "capped" });
  // The other worker has places of its own.
  expect((await take("chat", 8, 3, "worker-2")).ids).toHaveLength(3);
  await forgetAll();
});

test("recordings of a batch yield to a single one, also of another member and asked for later", async () => {
  const batch = randomUUID();
  await store.db.query(
    "INSERT INTO owl.batch (id, account_id, kind, request, total) VALUES ($1, $2, 'transcription', '{}', 3)",
    [batch, accounts.get("ana")],
  );
  const items: string[] = [];
  for (let n = 0; n < 3; n++) items.push(await record("ana", batch, n));
  const [bo, ana] = [await record("bo", null), await record("ana", null)];
  const order: string[] = [];
  for (let n = 0; n < 5; n++) order.push(...(await take("transcription", 1)).ids);
  expect(order).toEqual([bo, ana, ...items]);
  await forgetAll();
});

test("two workers that claim at once share what waits and never take one job twice", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 20; n++) ids.push(await ask(["ana", "bo", "cleo"][n % 3] ?? ""));
  const taken: string[] = [];
  await Promise.all(
    ["worker-1", "worker-2"].map(async (worker) => {
      for (;;) {
        const { ids: some, left } = await take("chat", 2, 1_000, worker);
        taken.push(...some);
        if (some.length === 0 && left === "none") return;
      }
    }),
  );
  expect(taken.toSorted()).toEqual(ids.toSorted());
  await forgetAll();
});
