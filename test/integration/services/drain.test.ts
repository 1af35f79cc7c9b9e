// A worker's drain on real processes: budgets, hand-back, abort, order, and what others do meanwhile.

import { afterAll, beforeAll, expect, test } from "vitest";
import { textOf } from "../../../services/text/text.ts";
import { startTestModel, type TestModel } from "../../support/model.ts";
import { type Services, startServices, until, type WebClient } from "../../support/services.ts";

let model: TestModel;
let services: Services;
let client: WebClient;

beforeAll(async () => {
  model = await startTestModel();
  services = await startServices({
    model: { baseUrl: model.baseUrl, apiKey: "x", name: "m" },
    turn: { finishMs: 2_000, wrapUpMs: 1_500, claimMs: 20_000, limitMs: 60_000 },
    graceMs: 6_000,
  });
  ({ client } = await services.web());
  await client.signIn();
});
afterAll(async () => {
  await services?.stop();
  await model?.stop();
});

const running = (turnId: string) => until("it runs", async () => (await client.turn(turnId)).state === "running");

test("a turn that fits is answered whole through the drain, the worker deregisters and exits 0", async () => {
  const worker = await services.worker();
  const { turnId } = await client.ask("say 10 words every 100 ms");
  await running(turnId);
  worker.child.kill("SIGTERM");
  const turn = await client.ended(turnId);
  expect(turn).toMatchObject({ state: "answered" });
  expect(turn.answer.trim()).toBe(Array.from({ length: 10 }, (_, n) => `w${n + 1}`).join(" "));
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  const { rows } = await services.sql.query(
    `SELECT w.stopped_at >= t.ended_at AS after, w.heartbeat_at >= t.ended_at - interval '1 s' AS beating,
            w.draining_since <= t.ended_at AS told, w.reclaimed FROM owl.worker w, owl.turn t WHERE w.id = $1 AND t.id = $2`,
    [worker.id, turnId],
  );
  expect(rows).toEqual([{ after: true, beating: true, told: true, reclaimed: 0 }]);
  const messages = (await worker.lines()).map((line) => line.msg);
  expect(messages).toEqual(expect.arrayContaining(["drain started", "drained"]));
});

test("one that does not is aborted at finish and failed with the agreed sentence inside wrap-up; a second SIGTERM changes nothing", async () => {
  const worker = await services.worker();
  const { turnId } = await client.ask("say 1000 words every 50 ms");
  await running(turnId);
  worker.child.kill("SIGTERM");
  worker.child.kill("SIGTERM");
  worker.child.kill("SIGINT");
  const turn = await client.ended(turnId);
  expect(turn).toMatchObject({ state: "failed", message: textOf("en")("turn.cut") });
  expect(turn.answer).toContain("w5 ");
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  const lines = await worker.lines();
  const aborted = lines.find((line) => line.msg === "turn aborted");
  expect(lines.filter((line) => line.msg === "drain started")).toHaveLength(1);
  expect(aborted?.elapsedMs).toBeGreaterThanOrEqual(1_900);
  expect(lines.at(-1)?.msg).toBe("drained");
  expect(model.log).toContainEqual({ event: "aborted", text: "say 1000 words every 50 ms" });
});

test("a draining worker claims nothing: what arrives waits for the next one, and the claims on the wire lose no turn", async () => {
  const first = await services.worker();
  const asked: string[] = [];
  for (let n = 0; n < 12; n++) asked.push((await client.ask(`question ${n}`)).turnId);
  first.child.kill("SIGTERM");
  for (let n = 12; n < 20; n++) asked.push((await client.ask(`question ${n}`)).turnId);
  expect(await first.exited).toEqual({ code: 0, signal: null });
  const second = await services.worker();
  for (const [n, turnId] of asked.entries()) {
    expect(await client.ended(turnId)).toMatchObject({ state: "answered", answer: `ok: question ${n}` });
  }
  const { rows } = await services.sql.query(
    "SELECT count(*)::int AS n FROM owl.turn_event WHERE turn_id = ANY($1) AND kind = 'end'",
    [asked],
  );
  expect(rows).toEqual([{ n: 20 }]);
  second.child.kill("SIGTERM");
  await second.exited;
});
