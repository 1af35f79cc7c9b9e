// Workers that are gone, frozen or cut off, with nobody to go on: each turn ends once, with the truth, and a zombie writes
// nothing. (journal.test.ts: how another one goes on.)

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { textOf } from "../../../services/text/text.ts";
import { startTestModel, type TestModel } from "../../support/model.ts";
import { type Program, type Services, startServices, until, type WebClient } from "../../support/services.ts";

let model: TestModel;
let services: Services;
let client: WebClient;
const workers: Program[] = [];

beforeAll(async () => {
  model = await startTestModel();
  services = await startServices({
    model: { baseUrl: model.baseUrl, apiKey: "x", name: "m" },
    turn: { finishMs: 20_000, wrapUpMs: 5_000, claimMs: 2_500, limitMs: 60_000 },
    graceMs: 30_000,
  });
  ({ client } = await services.web());
  await client.signIn();
});
afterEach(async () => {
  for (const worker of workers.splice(0)) {
    worker.child.kill("SIGKILL");
    await worker.exited;
    await services.sql.query("UPDATE owl.worker SET gone_at = now() WHERE id = $1 AND gone_at IS NULL", [worker.id]);
  }
});
afterAll(async () => {
  await services?.stop();
  await model?.stop();
});

async function worker(): Promise<Program> {
  const started = await services.worker();
  workers.push(started);
  return started;
}

async function runningTurn(text: string): Promise<string> {
  const { turnId } = await client.ask(text);
  await until("it runs and has spoken", async () => {
    const turn = await client.turn(turnId);
    return turn.state === "running" && turn.answer;
  });
  return turnId;
}

const endings = async (turnId: string) =>
  (await services.sql.query("SELECT state, cause FROM owl.turn_ending WHERE turn_id = $1", [turnId])).rows;

test("kill -9 and owld's mark: with nobody to go on it is failed with the agreed sentence and what was said is kept", async () => {
  const { child, id } = await worker();
  const turnId = await runningTurn("say 1000 words every 30 ms");
  child.kill("SIGKILL");
  await services.sql.query("UPDATE owl.worker SET gone_at = now() WHERE id = $1", [id]);
  const turn = await client.ended(turnId);
  expect(turn).toMatchObject({ state: "failed", message: textOf("en")("turn.cut") });
  expect(turn.answer).toContain("w1 ");
  expect(await endings(turnId)).toEqual([{ state: "failed", cause: "cut" }]);
  const { rows } = await services.sql.query("SELECT reclaimed FROM owl.worker WHERE id = $1", [id]);
  expect(rows).toEqual([{ reclaimed: 1 }]);
});

test("kill -9 that nobody saw: silence is enough", async () => {
  const { child } = await worker();
  const turnId = await runningTurn("say 1000 words every 31 ms");
  child.kill("SIGKILL");
  expect(await client.ended(turnId)).toMatchObject({ state: "failed", message: textOf("en")("turn.cut") });
});

test("a frozen worker that comes back writes nothing any more and ends itself", async () => {
  const { child, exited } = await worker();
  const turnId = await runningTurn("say 100 words every 30 ms");
  child.kill("SIGSTOP");
  const turn = await client.ended(turnId);
  const { rows: before } = await services.sql.query(
    "SELECT count(*)::int AS n FROM owl.turn_event WHERE turn_id = $1",
    [turnId],
  );
  child.kill("SIGCONT");
  expect(await exited).toEqual({ code: 1, signal: null });
  expect(await client.turn(turnId)).toEqual(turn);
  const { rows: after } = await services.sql.query("SELECT count(*)::int AS n FROM owl.turn_event WHERE turn_id = $1", [
    turnId,
  ]);
  expect(after).toEqual(before);
  expect(await endings(turnId)).toHaveLength(1);
});

test("with no worker a turn is in progress until the claim limit, then closed with the agreed sentence; the next one works", async () => {
  const { conversation, turnId } = await client.ask("anyone there?");
  expect(await client.turn(turnId)).toMatchObject({ state: "queued", position: 0 });
  const refused = await client.call("POST", `/api/conversations/${conversation}/turns`, { text: "again" });
  expect(refused).toMatchObject({ status: 409, body: { code: "turn.running" } });
  expect(await client.ended(turnId)).toMatchObject({ state: "failed", message: textOf("en")("turn.unclaimed") });
  await worker();
  const next = await client.ask("and now?", conversation);
  expect(await client.ended(next.turnId)).toMatchObject({ state: "answered", answer: "ok: and now?" });
});

test("PostgreSQL restarted under a running turn: nobody is taken for dead and the answer is whole", async () => {
  const { child } = await worker();
  const turnId = await runningTurn("say 40 words every 50 ms");
  await services.sql.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name LIKE 'owl/%'",
  );
  const turn = await client.ended(turnId);
  expect(turn).toMatchObject({ state: "answered" });
  expect(turn.answer.trim()).toBe(Array.from({ length: 40 }, (_, n) => `w${n + 1}`).join(" "));
  expect(child.exitCode).toBeNull();
  const probe = await client.ask("still listening?");
  expect(await client.ended(probe.turnId, 5_000)).toMatchObject({ state: "answered" });
});
