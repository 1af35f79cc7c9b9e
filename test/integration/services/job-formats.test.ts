// A job of a newer format than the code's: never claimed, never lost; a turn among them ends at its claim limit.

import { afterAll, beforeAll, expect, test } from "vitest";
import { jobKindRow } from "../../../services/core/job-kinds.ts";
import { type Services, startServices } from "../../support/services.ts";

const NEWER = jobKindRow("chat").format + 1;
const NEWER_QUEUE = `chat.${NEWER}`;

let services: Services;
beforeAll(async () => {
  services = await startServices({ turn: { finishMs: 3_000, wrapUpMs: 2_000, claimMs: 170_000, limitMs: 60_000 } });
  // What the prepare step of a release with chat's next format leaves behind.
  await services.sql.query(
    "INSERT INTO pgboss.queue SELECT (jsonb_populate_record(q, jsonb_build_object('name', $1::text))).* FROM pgboss.queue q WHERE name = 'chat'",
    [NEWER_QUEUE],
  );
});
afterAll(async () => {
  await services?.stop();
});

test("an older worker leaves it in line, answers those around it, and older web closes it at the claim limit", async () => {
  const { client } = await services.web();
  await client.signIn();
  const newer = await client.ask("hello");
  // As the newer release's web would have written it.
  await services.sql.query("UPDATE owl.turn SET format = $2 WHERE id = $1", [newer.turnId, NEWER]);
  const moved = await services.sql.query(
    "UPDATE pgboss.job SET name = $2 WHERE id = (SELECT queue_job FROM owl.turn WHERE id = $1)",
    [newer.turnId, NEWER_QUEUE],
  );
  expect(moved.rowCount).toBe(1);
  await services.worker();
  for (const text of ["one", "two", "three"])
    expect((await client.ended((await client.ask(text)).turnId)).state).toBe("answered");
  expect((await client.turn(newer.turnId)).state).toBe("queued");
  await services.sql.query("UPDATE owl.turn SET claim_deadline_at = clock_timestamp() WHERE id = $1", [newer.turnId]);
  expect(await client.ended(newer.turnId)).toMatchObject({ state: "failed", message: expect.stringMatching(/\S/) });
  const { rows } = await services.sql.query("SELECT attempt, cause FROM owl.turn WHERE id = $1", [newer.turnId]);
  expect(rows).toEqual([{ attempt: 0, cause: "unclaimed" }]);
});
