// The user's stop: it reaches the model and the database, and the turn ends as stopped with what was said.

import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestModel, type TestModel } from "../../support/model.ts";
import { type Services, startServices, until, type WebClient } from "../../support/services.ts";

let model: TestModel;
let services: Services;
let client: WebClient;

beforeAll(async () => {
  model = await startTestModel();
  services = await startServices({ model: { baseUrl: model.baseUrl, apiKey: "x", name: "m" } });
  await services.worker();
  ({ client } = await services.web());
  await client.signIn();
});
afterAll(async () => {
  await services?.stop();
  await model?.stop();
});

const sleeping = async () =>
  (
    await services.sql.query(
      "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(61)%' AND pid <> pg_backend_pid()",
    )
  ).rowCount;

test("a stop closes the model's connection; no word is made after it, and what was said is kept", async () => {
  const { turnId, conversation } = await client.ask("say 1000 words every 20 ms");
  await until("it speaks", async () => (await client.turn(turnId)).answer);
  expect((await client.call("POST", `/api/turns/${turnId}/stop`)).status).toBe(202);
  const turn = await client.ended(turnId);
  expect(turn).toMatchObject({ state: "stopped", message: null });
  expect(turn.answer).toContain("w1 ");
  await until("the request is gone", () =>
    model.log.some((one) => one.event === "aborted" && one.text.includes("1000")),
  );
  const words = model.wordsSent("1000 words every 20");
  // The next question of the conversation goes on from the stopped answer.
  const next = await client.ask("go on", conversation);
  expect(await client.ended(next.turnId)).toMatchObject({ state: "answered" });
  expect(model.wordsSent("1000 words every 20")).toBe(words);
});

test("a stop cancels the SQL a tool runs in the database, and no call is left open on the display", async () => {
  const { turnId } = await client.ask("sql: SELECT pg_sleep(61)");
  await until("the statement runs", async () => (await sleeping()) === 1);
  await client.call("POST", `/api/turns/${turnId}/stop`);
  expect(await client.ended(turnId)).toMatchObject({ state: "stopped" });
  await until("it is gone from pg_stat_activity", async () => (await sleeping()) === 0, 30_000);
  const events = await client.events(`/api/turns/${turnId}/events`);
  const calls = new Map(events.filter((one) => one.event === "tool").map((one) => [one.data.id, one.data.state]));
  expect([...calls.values()]).toEqual(["aborted"]);
});

test("a deleted conversation's turn is stopped too", async () => {
  const { turnId, conversation } = await client.ask("say 1000 words every 21 ms");
  await until("it speaks", async () => (await client.turn(turnId)).answer);
  expect((await client.call("DELETE", `/api/conversations/${conversation}`)).status).toBe(204);
  expect((await client.call("GET", `/api/turns/${turnId}`)).status).toBe(404);
  const state = async () =>
    (await services.sql.query("SELECT state FROM owl.turn WHERE id = $1", [turnId])).rows[0].state;
  await until("it ended", async () => (await state()) === "stopped");
});

test("stop and ask at once: the new question is accepted as soon as the old turn has ended", async () => {
  const first = await client.ask("say 1000 words every 22 ms");
  await until("it speaks", async () => (await client.turn(first.turnId)).answer);
  await client.call("POST", `/api/turns/${first.turnId}/stop`);
  await client.ended(first.turnId);
  const second = await client.ask("again", first.conversation);
  expect(await client.ended(second.turnId)).toMatchObject({ state: "answered", answer: "ok: again" });
});
