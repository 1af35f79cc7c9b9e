// The work figures over the real tables.

import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../../config/system-time.ts";
import { createMetastore, type RunningMetastore } from "../../../../supervisor/postgres/metastore.ts";
import { type Metastore, startMetastore } from "../../../support/metastore.ts";

let tables: Metastore;
let metastore: RunningMetastore;
beforeAll(async () => {
  tables = await startMetastore();
  metastore = createMetastore({
    url: tables.url,
    clock: systemClock,
    log: pino({ level: "silent" }),
    stalledAfterMs: 30_000,
  });
});
afterAll(async () => {
  await metastore.stop();
  await tables.stop();
});

test("waiting jobs by kind, endings counted once each and only from now on, reclaimed jobs", async () => {
  const old = await tables.turn();
  const end = (id: string, state: string, ago: string) =>
    tables.db.query(
      `UPDATE owl.turn SET state = $2, cause = $2, message = 'm', ended_at = clock_timestamp() - $3::interval WHERE id = $1`,
      [id, state, ago],
    );
  await end(old.id, "failed", "1 hour");
  await tables.turn();
  const first = await metastore.work?.();
  expect(first).toMatchObject({ queued: { chat: 1, transcription: 0 }, turns: [], reclaimed: 0 });
  expect(first?.oldestQueuedS.chat).toBeGreaterThan(0);

  const ended = await tables.turn();
  // Ended between the first question and now, as far as the figures can tell.
  await tables.db.query("SELECT pg_sleep(0.05)");
  await end(ended.id, "failed", "5 seconds");
  await tables.worker("worker-1");
  await tables.db.query("UPDATE owl.worker SET reclaimed = 3");
  const second = await metastore.work?.();
  expect(second).toMatchObject({ turns: [{ outcome: "failed", cause: "failed", count: 1 }], reclaimed: 3 });
  const third = await metastore.work?.();
  expect(third?.turns).toEqual(second?.turns);
});

test("what the workers that left did is summed over them alone", async () => {
  for (const id of ["worker-11", "worker-12", "worker-13"]) {
    await tables.worker(id);
    const counts = JSON.stringify({ finished: 5, handedBack: 2, cut: 1 });
    await tables.db.query("UPDATE owl.worker SET counts = $2, reclaimed = 1 WHERE id = $1", [id, counts]);
  }
  await tables.db.query("UPDATE owl.worker SET counts = '{}', stopped_at = now() WHERE id = 'worker-12'");
  expect(await metastore.jobCounts?.(["worker-11", "worker-12", "web-1"])).toEqual({
    finished: 5,
    handedBack: 2,
    cut: 1,
    reclaimed: 2,
  });
});

test("a server that does not answer gives no figures", async () => {
  const gone = createMetastore({
    url: "postgres://nobody@127.0.0.1:1/none",
    clock: systemClock,
    log: pino({ level: "silent" }),
    stalledAfterMs: 30_000,
  });
  expect(await gone.work?.()).toBeNull();
  expect(await gone.jobCounts?.([])).toBeNull();
  await gone.stop();
});
