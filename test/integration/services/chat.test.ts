// The main job: sign in, ask, be answered by a worker, follow and resume the stream.

import { afterAll, beforeAll, expect, test } from "vitest";
import { exportTurns } from "../../../services/db/export.ts";
import { createDatabase, type Database } from "../../../services/db/pool.ts";
import { findTurnToAnswer } from "../../../services/db/turn-to-answer.ts";
import { createWebClient, PASSWORD, type Services, startServices, type WebClient } from "../../support/services.ts";

let services: Services;
let client: WebClient;
let socket: string;
let db: Database;

beforeAll(async () => {
  services = await startServices();
  db = createDatabase({ url: services.url, max: 1, onError: () => undefined });
  await services.worker();
  ({ client, socket } = await services.web());
  await client.signIn();
});
afterAll(async () => {
  await db?.stop();
  await services?.stop();
});

test("a question in SQL is answered from the demo data source", async () => {
  const { turnId } = await client.ask("SELECT 6 * 7 AS answer");
  const turn = await client.ended(turnId);
  expect(turn).toMatchObject({ state: "answered", message: null });
  expect(turn.answer).toContain("| 42 |");
  expect(turn.answer).toContain("Built-in responder");
});

test("the stream tells states, tool calls and text, and ends by itself; resuming repeats nothing", async () => {
  const { turnId } = await client.ask("count orders");
  const seen = await client.events(`/api/turns/${turnId}/events`);
  expect(seen[0]).toMatchObject({ id: "1", event: "state", data: { state: "queued" } });
  expect(seen.at(-1)).toMatchObject({ event: "end", data: { state: "answered" } });
  const calls = seen.filter((event) => event.event === "tool").map((event) => event.data);
  expect(calls.map((call) => call.state)).toEqual(["running", "done"]);
  expect(calls[1]).toMatchObject({ name: "run_sql", rows: 1 });
  const text = seen.filter((event) => event.event === "delta").map((event) => event.data.text);
  const turn = await client.turn(turnId);
  expect(text.join("")).toBe(turn.answer);
  expect(turn.answer).toContain("3000");
  const again = await client.events(`/api/turns/${turnId}/events`, { lastId: seen[0]?.id ?? "" });
  expect(again.map((event) => event.id)).toEqual(seen.slice(1).map((event) => event.id));
  const after = await client.events(`/api/turns/${turnId}/events`, { lastId: turn.lastEventId });
  expect(after).toEqual([]);
});

test("a question asked in another version is a branch: shown with the way back, answered without what it replaces", async () => {
  const { conversation, turnId: first } = await client.ask("SELECT 1 AS n");
  await client.ended(first);
  const ask = async (body: object) => {
    const { status, body: accepted } = await client.call("POST", `/api/conversations/${conversation}/turns`, body);
    expect(status).toBe(202);
    await client.ended(accepted.turnId);
    return accepted.turnId as string;
  };
  const shown = async (query = "") => {
    const { body } = await client.call("GET", `/api/conversations/${conversation}${query}`);
    return { ids: body.turns.map((turn: { id: string }) => turn.id), earlier: body.earlier, turns: body.turns };
  };
  const second = await ask({ text: "SELECT 2 AS n" });
  const third = await ask({ text: "SELECT 3 AS n" });
  const other = await ask({ text: "SELECT 22 AS n", versionOf: second });
  const after = await ask({ text: "SELECT 4 AS n" });
  expect((await shown()).ids).toEqual([first, other, after]);
  expect((await shown()).turns[1].versions).toEqual([second, other]);
  expect((await shown()).turns[0].versions).toEqual([]);
  expect((await findTurnToAnswer(db, after))?.history.map(({ text }) => text)).toEqual([
    "SELECT 1 AS n",
    "SELECT 22 AS n",
  ]);

  // Another version of the very first question, and back to what was before: its newest turn is the end again.
  const root = await ask({ text: "SELECT 11 AS n", versionOf: first });
  expect((await shown()).ids).toEqual([root]);
  const show = (turn: string) => client.call("PATCH", `/api/conversations/${conversation}`, { shows: turn });
  expect((await show(second)).status).toBe(200);
  expect((await shown()).ids).toEqual([first, second, third]);
  expect((await shown()).turns[0].versions).toEqual([first, root]);
  const page = await shown("?limit=2");
  expect(page.ids).toEqual([second, third]);
  expect(await shown(`?limit=2&before=${page.earlier}`)).toMatchObject({ ids: [first], earlier: null });

  // What is asked now follows what is shown.
  const last = await ask({ text: "SELECT 5 AS n" });
  expect((await shown()).ids).toEqual([first, second, third, last]);
  const { rows } = await db.query<{ id: string }>("SELECT account_id AS id FROM owl.turn WHERE id = $1", [first]);
  const exported = exportTurns(db, rows[0]?.id ?? "", conversation);
  const follows = new Map<string, string | null>();
  for await (const { id, json } of exported) follows.set(id, JSON.parse(json).follows);
  expect(Object.fromEntries(follows)).toEqual({
    [first]: null,
    [second]: first,
    [third]: second,
    [other]: first,
    [after]: other,
    [root]: null,
    [last]: third,
  });
  const { turnId: foreign } = await client.ask("SELECT 9 AS n");
  const ofForeign = { text: "q", versionOf: foreign };
  const refused = await client.call("POST", `/api/conversations/${conversation}/turns`, ofForeign);
  expect(refused).toMatchObject({ status: 404, body: { code: "turn.notFound" } });
  expect((await show(foreign)).status).toBe(404);
});

test("feedback is its owner's on an ended answer; administrators read that turn and no other, until it is taken back", async () => {
  await client.call("POST", "/internal/users", { name: "jun", password: PASSWORD });
  const jun = createWebClient(socket);
  await jun.signIn("jun");
  const { turnId, conversation } = await jun.ask("SELECT 7 AS n");
  await jun.ended(turnId);
  const { turnId: other } = await jun.ask("SELECT 8 AS n");
  await jun.ended(other);
  const path = `/api/turns/${turnId}/feedback`;
  expect((await client.call("PUT", path, { good: true })).status).toBe(404);
  for (const good of [true, false]) expect((await jun.call("PUT", path, { good, note: "Hm." })).status).toBe(204);
  expect((await jun.call("GET", `/api/turns/${turnId}`)).body.feedback).toEqual({ good: false, note: "Hm." });

  expect((await jun.call("GET", "/api/admin/feedback")).status).toBe(403);
  const { body } = await client.call("GET", "/api/admin/feedback?good=false");
  expect(body).toMatchObject({ counts: { good: 0, bad: 1, noted: 1 }, next: null });
  expect(body.items).toMatchObject([
    { turnId, conversationId: conversation, own: false, account: "jun", note: "Hm.", question: "SELECT 7 AS n" },
  ]);
  expect(body.items[0].answer).toContain("| 7 |");
  expect((await client.call("GET", "/api/admin/feedback?good=true")).body.items).toEqual([]);
  expect((await jun.call("DELETE", path)).status).toBe(204);
  expect((await jun.call("DELETE", path)).status).toBe(404);
  expect((await client.call("GET", "/api/admin/feedback")).body.items).toEqual([]);
});

test("a prompt is kept, listed by its beginning, and used by others while it is shared", async () => {
  const jun = createWebClient(socket);
  await client.call("POST", "/internal/users", { name: "sora", password: PASSWORD });
  await jun.signIn("sora");
  const body = { name: "월간", text: `{{월}} ${"매".repeat(200)}` };
  const kept = (await client.call("POST", "/api/prompts", body)).body;
  expect(kept).toMatchObject({ ...body, own: true, shared: false, beginning: `{{월}} ${"매".repeat(114)}` });
  for (const name of ["a b", "/a", "-a", ""]) {
    expect((await client.call("POST", "/api/prompts", { ...body, name })).status).toBe(400);
  }
  const path = `/api/prompts/${kept.id}`;
  expect((await jun.call("GET", path)).status).toBe(404);
  await client.call("PUT", path, { ...body, shared: true });
  expect((await jun.call("GET", "/api/prompts")).body.items).toMatchObject([{ name: "월간", own: false, by: "admin" }]);
  expect((await jun.call("GET", path)).body.text).toBe(body.text);
  expect((await jun.call("DELETE", path)).status).toBe(404);
  expect((await client.call("DELETE", path)).status).toBe(204);
});

test("an assistant is saved, shared, chosen and told in the answer; what it may not ask is not there", async () => {
  await client.call("POST", "/internal/users", { name: "mina", password: PASSWORD });
  const mina = createWebClient(socket);
  await mina.signIn("mina");
  const body = { name: "Analyst", instructions: "Tables only.", dataSources: ["none"], starters: ["How many?"] };
  const saved = (await client.call("POST", "/api/assistants", body)).body;
  expect(saved).toMatchObject({ ...body, own: true, by: "admin", shared: false, tools: null, temperature: null });
  expect((await client.call("POST", "/api/assistants", { ...body, model: "none" })).body.code).toBe("model.unknown");

  // Nobody else's until it is shared; theirs to use then, not to change.
  const assistantId = saved.id as string;
  const path = `/api/assistants/${assistantId}`;
  const begin = (who: WebClient) => who.call("POST", "/api/conversations", { assistantId, instructions: "Briefly." });
  expect((await mina.call("GET", "/api/assistants")).body.items).toEqual([]);
  expect(await begin(mina)).toMatchObject({ status: 404, body: { code: "assistant.notFound" } });
  expect((await client.call("PUT", path, { ...body, shared: true })).body).toMatchObject({ shared: true });
  expect((await mina.call("GET", "/api/assistants")).body.items).toMatchObject([{ own: false, by: "admin" }]);
  for (const method of ["PUT", "DELETE"] as const) {
    expect((await mina.call(method, path, method === "PUT" ? body : undefined)).status).toBe(404);
  }

  await mina.call("PUT", "/api/account/instructions", { text: "In verse." });
  expect((await mina.call("PUT", "/api/admin/instructions", { text: "No." })).status).toBe(403);
  await client.call("PUT", "/api/admin/instructions", { text: "For all." });
  expect((await mina.call("GET", "/api/instructions")).body).toEqual({ everyone: "For all.", own: "In verse." });

  const { body: chat } = await begin(mina);
  expect(chat.assistant).toEqual({ id: assistantId, name: "Analyst", model: null });
  const { turnId } = await mina.ask("SELECT 1 AS n", chat.id);
  const { answer } = await mina.ended(turnId);
  expect(answer).toContain("Analyst");
  expect(answer).not.toContain("| 1 |");
  expect(await findTurnToAnswer(db, turnId)).toMatchObject({
    instructions: ["For all.", "In verse.", "Briefly."],
    assistant: { name: "Analyst", instructions: "Tables only.", dataSources: ["none"] },
  });

  // Another one's word, or its end, is the next question's.
  await mina.call("PATCH", `/api/conversations/${chat.id}`, { instructions: "" });
  expect((await client.call("DELETE", path)).status).toBe(204);
  expect((await mina.call("GET", `/api/conversations/${chat.id}`)).body).toMatchObject({
    assistant: null,
    instructions: "",
  });
  const { turnId: next } = await mina.ask("SELECT 1 AS n", chat.id);
  expect((await mina.ended(next)).answer).toContain("| 1 |");
  await client.call("PUT", "/api/admin/instructions", { text: "" });
});
