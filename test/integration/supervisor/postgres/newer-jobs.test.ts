// Waiting jobs of a newer format than a release knows, over the real tables and those of a release of before.

import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../../config/system-time.ts";
import type { UpdateDatabase } from "../../../../supervisor/ports.ts";
import { createUpdateDatabase } from "../../../../supervisor/postgres/update-database.ts";
import { type Metastore, startMetastore } from "../../../support/metastore.ts";

let tables: Metastore;
let updates: UpdateDatabase;
beforeAll(async () => {
  tables = await startMetastore();
  updates = createUpdateDatabase({
    clock: systemClock,
    copies: "/nowhere",
    url: () => tables.url,
    path: process.env.PATH ?? "",
    env: () => ({}),
    managed: null,
  });
});
afterAll(() => tables.stop());

const KNOWN = { chat: { format: 1 }, transcription: { format: 1 } };

test("only what waits is counted, by what the release knows of each kind", async () => {
  await tables.turn();
  const newer = await tables.turn();
  expect(await updates.newerJobs(KNOWN)).toBe(0);
  await tables.db.query("UPDATE owl.turn SET format = 2 WHERE id = $1", [newer.id]);
  await tables.db.query(
    `INSERT INTO owl.transcription (id, account_id, path, name, format) VALUES (gen_random_uuid(), $1, '/a.wav', 'a.wav', 3)`,
    [tables.accountId],
  );
  expect(await updates.newerJobs(KNOWN)).toBe(2);
  expect(await updates.newerJobs({ chat: { format: 2 }, transcription: { format: 2 } })).toBe(1);
  expect(await updates.newerJobs({ chat: { format: 2 }, transcription: { format: 3 } })).toBe(0);
  await tables.db.query(
    "UPDATE owl.turn SET state = 'stopped', cause = 'stopped', ended_at = clock_timestamp() WHERE id = $1",
    [newer.id],
  );
  expect(await updates.newerJobs(KNOWN)).toBe(1);
});

test("tables of before there were formats hold none", async () => {
  for (const table of ["turn", "transcription", "playbook_run", "schema_analysis"])
    await tables.db.query(`ALTER TABLE owl.${table} DROP COLUMN format`);
  expect(await updates.newerJobs(KNOWN)).toBe(0);
});
