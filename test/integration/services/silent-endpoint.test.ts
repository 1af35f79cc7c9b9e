// A model endpoint that says nothing, or nothing more, under real processes: the turn's limit ends it whatever else would,
// the endpoint is hung up on, and no other turn loses anything. The minute of silence itself: worker.test.ts and the
// unit test of endpoint.ts.

import { afterAll, beforeAll, expect, test } from "vitest";
import { textOf } from "../../../services/text/text.ts";
import { startTestModel, type TestModel } from "../../support/model.ts";
import { type Services, startServices, until } from "../../support/services.ts";

let model: TestModel;
let services: Services;

beforeAll(async () => {
  model = await startTestModel();
  services = await startServices({
    model: { baseUrl: model.baseUrl, apiKey: "x", name: "m" },
    turn: { finishMs: 20_000, wrapUpMs: 5_000, claimMs: 120_000, limitMs: 15_000 },
    graceMs: 30_000,
  });
});
afterAll(async () => {
  await services?.stop();
  await model?.stop();
});

test("both kinds of silence end within the turn's limit; the turns beside and after them are whole", async () => {
  const worker = await services.worker("worker-1", {
    worker: { pool: 12, concurrency: { chat: 3, transcription: 1, playbook: 1, "schema-analysis": 1 } },
  });
  const { client } = await services.web();
  await client.signIn();
  const silent = await client.ask("silence");
  const half = await client.ask("half silence");
  await until("both are asked and one has spoken", async () => {
    const asked = new Set(model.log.map(({ text }) => text));
    return asked.has("silence") && asked.has("half silence") && (await client.turn(half.turnId)).answer;
  });
  const beside = await client.ask("say 20 words every 10 ms");
  const besideTurn = await client.ended(beside.turnId);
  expect(besideTurn).toMatchObject({ state: "answered" });
  expect(besideTurn.answer.trim()).toBe(Array.from({ length: 20 }, (_, n) => `w${n + 1}`).join(" "));

  const limit = { state: "failed", message: textOf("en")("turn.limit", { minutes: 0 }) };
  expect(await client.ended(silent.turnId)).toMatchObject({ ...limit, answer: null });
  expect(await client.ended(half.turnId)).toMatchObject({ ...limit, answer: "half an ans" });
  await until("the endpoint was hung up on, twice", () => {
    const aborted = model.log.filter(({ event }) => event === "aborted").map(({ text }) => text);
    return aborted.sort().join() === "half silence,silence";
  });
  // Neither was asked again, and every place of the worker is free: as many as it has are answered at once.
  const asks = (text: string) => model.log.filter((one) => one.event === "request" && one.text === text).length;
  expect([asks("silence"), asks("half silence")]).toEqual([1, 1]);
  const after = await Promise.all(["one", "two", "three"].map((text) => client.ask(text)));
  for (const { turnId } of after) expect(await client.ended(turnId)).toMatchObject({ state: "answered" });
  const { rows } = await services.sql.query("SELECT DISTINCT attempt, claimed_by FROM owl.turn");
  expect(rows).toEqual([{ attempt: 1, claimed_by: "worker-1" }]);
  expect(worker.child.exitCode).toBeNull();
});
