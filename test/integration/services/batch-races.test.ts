// Requests about one batch that meet: whoever comes first, each waiting item has exactly one queue job in the end.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertBatch, resumeBatch, retryBatch } from "../../../services/db/batches.ts";
import type { Sql } from "../../../services/db/pool.ts";
import { type Metastore, startMetastore } from "../../support/metastore.ts";

let store: Metastore;
beforeAll(async () => {
  store = await startMetastore();
});
afterAll(() => store?.stop());

/** A paused batch of one item that failed and one that waits; answers their ids. */
async function paused(): Promise<{ readonly id: string; readonly failed: string; readonly waiting: string }> {
  const [id, failed, waiting] = [randomUUID(), randomUUID(), randomUUID()];
  const item = (path: string) => ({ path, name: path, bytes: 10 });
  const items = [failed, waiting].map((one) => ({ id: one, queueJob: randomUUID(), item: item(`${one}.wav`) }));
  const batch = { id, accountId: store.accountId, kind: "transcription", request: {}, options: {}, skipped: [], items };
  await store.db.transaction((sql) => insertBatch(sql, batch));
  await store.db.query(
    "UPDATE owl.transcription SET state = 'failed', message = 'no', ended_at = clock_timestamp() WHERE id = $1",
    [failed],
  );
  await store.db.query("UPDATE owl.batch SET state = 'paused', active_since = NULL WHERE id = $1", [id]);
  return { id, failed, waiting };
}

/** Does `first` in a transaction, lets `second` run into its locks, then commits. Answers what both gave. */
async function meet<A, B>(first: (sql: Sql) => Promise<A>, second: (sql: Sql) => Promise<B>): Promise<[A, B]> {
  let later: Promise<B> | null = null;
  const gave = await store.db.transaction(async (sql) => {
    const result = await first(sql);
    later = store.db.transaction(second);
    await expect
      .poll(async () => {
        const blocked =
          "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
        return (await store.db.query(blocked)).rowCount;
      })
      .toBe(1);
    return result;
  });
  if (later === null) throw new Error("the second one was begun");
  return [gave, await later];
}

test("a retry that resuming waits for leaves its items to the resumption", async () => {
  const { id, failed, waiting } = await paused();
  const [retried, resumed] = await meet(
    (sql) => retryBatch(sql, id),
    (sql) => resumeBatch(sql, id),
  );
  expect(retried).toEqual({ count: 1, requeued: [] });
  expect(resumed?.map((one) => one.id).sort()).toEqual([failed, waiting].sort());
});

test("a retry that waits for resuming gives its items their jobs itself", async () => {
  const { id, failed, waiting } = await paused();
  const [resumed, retried] = await meet(
    (sql) => resumeBatch(sql, id),
    (sql) => retryBatch(sql, id),
  );
  expect(resumed?.map((one) => one.id)).toEqual([waiting]);
  expect(retried.requeued.map((one) => one.id)).toEqual([failed]);
});
