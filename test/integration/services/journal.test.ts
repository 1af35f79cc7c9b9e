// Workers killed at a step's borders: another one goes on after the last finished step. What finished is never called
// again, reads are, and what may have acted waits for its owner's word, given once.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { applyTurnEvent, type TurnEvent, viewOfTurn } from "../../../services/web/pages/core/turn-view.ts";
import { startTestModel, type TestModel } from "../../support/model.ts";
import {
  type Program,
  type Services,
  type SseEvent,
  startServices,
  until,
  type WebClient,
} from "../../support/services.ts";

let model: TestModel;
let services: Services;
let web: WebClient;
let http: Server;
let httpUrl: string;
const calls: { readonly path: string; readonly key: string }[] = [];
/** Paths whose answer is held back until it is let go. */
const held = new Map<string, PromiseWithResolvers<void>>();
const workers: Program[] = [];

beforeAll(async () => {
  model = await startTestModel();
  http = createServer(async (request, response) => {
    for await (const _ of request);
    const path = request.url ?? "";
    calls.push({ path, key: String(request.headers["idempotency-key"]) });
    await held.get(path)?.promise;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ n: calls.length }));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  httpUrl = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  services = await startServices({
    model: { baseUrl: model.baseUrl, apiKey: "x", name: "m" },
    turn: { finishMs: 500, wrapUpMs: 20_000, claimMs: 60_000, limitMs: 120_000, onStop: "handOver" },
    graceMs: 60_000,
    // Who is gone is told: nobody is taken for it under load.
    heartbeat: { intervalMs: 500, stalledAfterMs: 60_000 },
  });
  web = (await services.web()).client;
  await web.signIn();
});
afterAll(async () => {
  await services?.stop();
  await model?.stop();
  http?.closeAllConnections();
  http?.close();
});
beforeEach(() => {
  calls.length = 0;
  held.clear();
});
afterEach(killAll);

async function killAll(): Promise<void> {
  for (const worker of workers.splice(0)) await kill(worker);
}

async function worker(): Promise<Program> {
  const started = await services.worker();
  workers.push(started);
  return started;
}

/** As by `kill -9`, and as owld tells it. */
async function kill({ child, exited, id }: Program): Promise<void> {
  child.kill("SIGKILL");
  await exited;
  await services.sql.query("UPDATE owl.worker SET gone_at = now() WHERE id = $1 AND gone_at IS NULL", [id]);
}

/** Two workers; the one that claimed the turn is the first. */
async function claimedAmongTwo(ask: () => Promise<{ turnId: string; conversation: string }>) {
  const both = [await worker(), await worker()];
  const { turnId, conversation } = await ask();
  const claimedBy = await until("it is claimed", async () => {
    const { rows } = await services.sql.query("SELECT claimed_by FROM owl.turn WHERE id = $1", [turnId]);
    return rows[0]?.claimed_by as string | null;
  });
  const first = both.find(({ id }) => id === claimedBy);
  if (first === undefined) throw new Error(`${claimedBy} is none of the two`);
  return { first, turnId, conversation };
}

/** What a page that followed every event shows, and how often text was taken back. */
async function followed(turnId: string, conversationId: string) {
  const events = await web.events(`/api/turns/${turnId}/events`);
  const base = { id: turnId, conversationId, text: "", answer: null, message: null, position: null } as const;
  let view = viewOfTurn({ ...base, state: "queued", createdAt: "", endedAt: null });
  for (const { id, event, data } of events as readonly SseEvent[]) {
    // Deltas that were taken back are gone from the record: a page that never saw them begins after them.
    const seq = Number(id);
    const applied = applyTurnEvent({ ...view, seq: seq - 1 }, { seq, kind: event as TurnEvent["kind"], data });
    if (applied.kind === "applied") view = applied.turn;
  }
  return { view, rewinds: events.filter(({ event }) => event === "rewind") };
}

const journal = async (turnId: string) =>
  (
    await services.sql.query(
      "SELECT position, kind, tool, state, attempt FROM owl.step WHERE turn_id = $1 ORDER BY position",
      [turnId],
    )
  ).rows;

test("killed in a read: what finished is replayed, the read is repeated, the model is asked only what is new", async () => {
  const question = "steps: SELECT 1 AS a | SELECT pg_sleep(3), 2 AS b | SELECT 3 AS c";
  const { first, turnId, conversation } = await claimedAmongTwo(() => web.ask(question));
  await until("the second statement runs", async () => (await journal(turnId))[3]?.state === "started");
  await kill(first);
  const turn = await web.ended(turnId);
  expect(turn).toMatchObject({ state: "answered", message: null });
  expect(turn.answer).toMatch(/^step 1\.\s+step 2\.\s+step 3\.\s+result: /);
  expect((await journal(turnId)).map(({ kind, state, attempt }) => `${kind} ${state} ${attempt}`)).toEqual([
    "model finished 1",
    "tool finished 1",
    "model finished 1",
    "tool finished 2",
    "model finished 2",
    "tool finished 2",
    "model finished 2",
  ]);
  expect(model.log.filter(({ event, text }) => event === "request" && text === question)).toHaveLength(4);
  const tools = turn.tools as { id: string; state: string }[];
  expect(new Set(tools.map(({ id }) => id)).size).toBe(3);
  expect((await followed(turnId, conversation)).view.answer).toBe(turn.answer);
});

test("killed while the model speaks: its words are taken back and it is asked again", async () => {
  const { first, turnId, conversation } = await claimedAmongTwo(() => web.ask("say 60 words every 100 ms"));
  await until("it speaks", async () => (await web.turn(turnId)).answer?.includes("w5 "));
  await kill(first);
  const turn = await web.ended(turnId);
  const whole = Array.from({ length: 60 }, (_, n) => `w${n + 1} `).join("");
  expect(turn).toMatchObject({ state: "answered", answer: whole });
  const { view, rewinds } = await followed(turnId, conversation);
  expect(view).toMatchObject({ state: "answered", answer: whole });
  expect(rewinds.map(({ data }) => data)).toEqual([{ seq: expect.any(Number), length: 0 }]);
});

test("a drain past its finish time hands over what has a finished step, and lasts no longer", async () => {
  const question = "steps: SELECT 1 AS a | SELECT pg_sleep(8), 2 AS b";
  const { first, turnId } = await claimedAmongTwo(() => web.ask(question));
  await until("the second statement runs", async () => (await journal(turnId))[3]?.state === "started");
  first.child.kill("SIGTERM");
  expect(await first.exited).toEqual({ code: 0, signal: null });
  expect(await web.ended(turnId)).toMatchObject({ state: "answered", message: null });
  const { rows } = await services.sql.query("SELECT losses, attempt FROM owl.turn WHERE id = $1", [turnId]);
  expect(rows).toEqual([{ losses: 0, attempt: 2 }]);
  expect((await first.lines()).map(({ msg }) => msg)).toContain("handed over");
});

test("the only worker is killed: the turn waits for the next one, and asked again from a step it repeats no other", async () => {
  const only = await worker();
  const question = "steps: SELECT 1 AS a | SELECT pg_sleep(3), 2 AS b";
  const { turnId } = await web.ask(question);
  await until("the second statement runs", async () => (await journal(turnId))[3]?.state === "started");
  await kill(only);
  await until("it is in line again", async () => (await web.turn(turnId)).state === "queued");
  await worker();
  const turn = await web.ended(turnId);
  expect(turn).toMatchObject({ state: "answered", message: null });

  const asked = () => model.log.filter(({ event, text }) => event === "request" && text === question).length;
  const before = asked();
  const fork = (n: number) => web.call("POST", `/api/turns/${turnId}/steps/${n}/fork`);
  const { status, body } = await fork(4);
  expect(status).toBe(202);
  expect(await web.ended(body.turnId)).toMatchObject({
    state: "answered",
    text: question,
    answer: expect.stringMatching(/^step 1\.\s+step 2\.\s+result: /),
  });
  expect(asked()).toBe(before + 1);
  const { body: receipt } = await web.call("GET", `/api/turns/${body.turnId}/steps`);
  expect(receipt).toMatchObject({ attempts: 1, losses: 0 });
  expect(receipt.steps.map(({ attempt }: { attempt: number }) => attempt)).toEqual([0, 0, 0, 0, 1]);

  const second = (await web.call("POST", `/api/conversations/${body.conversationId}/turns`, { text: "and?" })).body;
  await web.ended(second.turnId);
  const whole = (await web.call("POST", `/api/turns/${second.turnId}/steps/0/fork`)).body;
  await web.ended(whole.turnId);
  const { turns } = (await web.call("GET", `/api/conversations/${whole.conversationId}`)).body;
  expect(turns.map(({ text }: { text: string }) => text)).toEqual([question, "and?"]);
  expect(turns[0]).toMatchObject({ state: "answered", answer: expect.stringContaining("step 2.") });
  expect((await web.call("POST", `/api/turns/${whole.conversationId}/steps/0/fork`)).body.code).toBe("turn.notFound");
});

test("a turn that was cut in a write waits for its owner, holds no worker, and goes on with the word", async () => {
  const { first, turnId, conversation } = await claimedAmongTwo(() => web.ask("say 50 words every 101 ms"));
  await until("it speaks", async () => (await web.turn(turnId)).answer?.includes("w2 "));
  await services.sql.query(
    `INSERT INTO owl.step (turn_id, position, step_id, kind, tool, effect, argument_hash, input, state, attempt)
     VALUES ($1, 7, 'w', 'tool', 'ticket', 'write', 'h', '{"title":"x"}', 'started', 1)`,
    [turnId],
  );
  await kill(first);
  const waiting = await until("it waits", async () => {
    const turn = await web.turn(turnId);
    return turn.state === "waiting" && turn;
  });
  expect(waiting.waitsFor).toEqual([expect.objectContaining({ n: 7, name: "ticket", argumentHash: "h" })]);
  const { rows } = await services.sql.query(
    "SELECT count(*)::int AS n FROM pgboss.job WHERE data->>'id' = $1 AND state < 'completed'",
    [turnId],
  );
  expect(rows).toEqual([{ n: 0 }]);
  expect((await web.call("POST", `/api/conversations/${conversation}/turns`, { text: "and?" })).body.code).toBe(
    "turn.running",
  );
  const answer = (body: object) => web.call("POST", `/api/turns/${turnId}/steps/7/answer`, body);
  const wrong = await answer({ answer: "happened", name: "ticket", argumentHash: "other" });
  expect(wrong.body.code).toBe("step.notWaiting");
  const words = await Promise.all(
    ["happened", "again", "stop"].map((one) => answer({ answer: one, name: "ticket", argumentHash: "h" })),
  );
  expect(words.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
  const turn = await web.ended(turnId);
  const given = (await services.sql.query("SELECT answer FROM owl.step WHERE turn_id = $1 AND position = 7", [turnId]))
    .rows[0]?.answer;
  expect(turn.state).toBe(given === "stop" ? "stopped" : "answered");
});

async function startRun(steps: readonly object[], lost?: string): Promise<string> {
  const made = await web.call("POST", "/api/playbooks", { name: "test", steps, ...(lost ? { lost } : {}) });
  expect(made.status).toBe(201);
  return (await web.call("POST", `/api/playbooks/${made.body.id}/runs`)).body.runId;
}
const look = async (id: string) => (await web.call("GET", `/api/playbook-runs/${id}`)).body;
const reached = (id: string, state: string) =>
  until(`run ${id} is ${state}`, async () => {
    const run = await look(id);
    return run.state === state && run;
  });
const called = (path: string) => calls.filter((one) => one.path === path);

/** A run killed while `path` is called. */
async function killedIn(path: string, step: object, lost?: string): Promise<string> {
  await killAll();
  const first = await worker();
  held.set(path, Promise.withResolvers());
  const before = { id: "before", tool: "http", input: { url: `${httpUrl}/before`, method: "POST" } };
  const after = { id: "after", tool: "http", input: { url: `${httpUrl}/after`, method: "POST" } };
  const id = await startRun([before, { id: "step", tool: "http", ...step }, after], lost);
  await until("it is called", () => called(path).length === 1);
  await kill(first);
  held.get(path)?.resolve();
  held.delete(path);
  await worker();
  return id;
}

test("a run killed in a read or an idempotent step goes on by itself, under the same key", async () => {
  const reading = await killedIn("/read", { input: { url: `${httpUrl}/read` } });
  await reached(reading, "done");
  const declared = { input: { url: `${httpUrl}/same`, method: "POST" }, effect: "idempotent" };
  const repeating = await killedIn("/same", declared);
  await reached(repeating, "done");
  expect([called("/read").length, called("/same").length, called("/before").length, called("/after").length]).toEqual([
    2, 2, 2, 2,
  ]);
  expect(new Set(called("/same").map(({ key }) => key)).size).toBe(1);
});

test("a run killed in a write waits; its owner's word decides, and nothing before it is called again", async () => {
  const step = { input: { url: `${httpUrl}/write`, method: "POST", body: { n: 1 } } };
  const outcomes: unknown[] = [];
  for (const [answer, end] of [
    ["happened", "done"],
    ["again", "done"],
    ["stop", "stopped"],
  ] as const) {
    calls.length = 0;
    const id = await killedIn("/write", step);
    const run = await reached(id, "waiting");
    const [asked] = run.waitsFor;
    const { status } = await web.call("POST", `/api/playbook-runs/${id}/steps/${asked.n}/answer`, {
      answer,
      name: asked.name,
      argumentHash: asked.argumentHash,
    });
    const over = await reached(id, end);
    outcomes.push([
      status,
      called("/before").length,
      called("/write").length,
      called("/after").length,
      over.steps.map(({ state }: { state: string }) => state),
    ]);
  }
  expect(outcomes).toEqual([
    [202, 1, 1, 1, ["finished", "finished", "finished"]],
    [202, 1, 2, 1, ["finished", "finished", "finished"]],
    [202, 1, 1, 0, ["finished", "unknown", "notReached"]],
  ]);
});

test("a run that waits is stopped like any other, and one whose owner chose so fails at once", async () => {
  const step = { input: { url: `${httpUrl}/write`, method: "POST" } };
  const id = await killedIn("/write", step);
  await reached(id, "waiting");
  expect((await web.call("POST", `/api/playbook-runs/${id}/stop`)).status).toBe(202);
  await reached(id, "stopped");
  calls.length = 0;
  const failing = await killedIn("/write", step, "fail");
  const run = await reached(failing, "failed");
  expect(run).toMatchObject({ stoppedAtStep: "step" });
  expect(called("/after")).toEqual([]);
});
