// Schema analyses over the real worker: by rules, by a model, and with what can go wrong on both sides.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Program, type Services, startServices, until, type WebClient } from "../../support/services.ts";

let services: Services;
let web: WebClient;
let model: Server;
let modelUrl: string;
let asked = 0;
/** What the model answers: a status, or a text. */
let answer: (prompt: string) => { readonly status: number; readonly text: string };

beforeAll(async () => {
  model = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    asked += 1;
    const prompt = JSON.parse(body).messages.at(-1).content;
    const { status, text } = answer(typeof prompt === "string" ? prompt : prompt[0].text);
    response.writeHead(status, { "content-type": "application/json", "retry-after": "0" });
    const message = { role: "assistant", content: text };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    response.end(JSON.stringify({ id: "c", object: "chat.completion", created: 1, model: "m", choices, usage }));
  });
  await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
  modelUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`;
  services = await startServices({ dataSources: { down: { url: "postgres://nobody@127.0.0.1:1/none" } } });
  web = (await services.web()).client;
  await web.signIn();
});
afterAll(async () => {
  await services.stop();
  model.closeAllConnections();
  model.close();
});
beforeEach(() => {
  asked = 0;
});

async function analyse(dataSource: string) {
  const { status, body } = await web.call("POST", "/api/schema-analyses", { dataSource });
  expect(status).toBe(202);
  return until("the analysis ended", async () => {
    const now = (await web.call("GET", `/api/schema-analyses/${body.id}`)).body;
    return now.endedAt !== null && now;
  });
}
const withModel = () => services.worker(undefined, { model: { baseUrl: modelUrl, apiKey: "k", name: "m" } });
async function stop(worker: Program): Promise<void> {
  worker.child.kill("SIGTERM");
  await worker.exited;
}

test("without a model every table and column is described by rules, from catalogue and sample rows", async () => {
  const worker = await services.worker();
  const done = await analyse("demo");
  expect(done).toMatchObject({ state: "done", message: null, tablesTotal: done.tables.length });
  const orders = done.tables.find((table: { name: string }) => table.name === "orders");
  expect(orders.description).toContain("customers");
  expect(orders.columns.map((column: { name: string }) => column.name)).toEqual([
    "id",
    "customer_id",
    "ordered_on",
    "status",
  ]);
  expect(orders.columns[3].description).toMatch(/status.*for example/);
  await stop(worker);
});

test("a data source that is down, and one that is none, are told apart", async () => {
  const worker = await services.worker();
  const failed = await analyse("down");
  expect(failed).toMatchObject({ state: "failed", tables: [] });
  expect(failed.message).toContain("does not answer");
  expect((await web.call("POST", "/api/schema-analyses", { dataSource: "none" })).status).toBe(404);
  await stop(worker);
});

test("a model's words are taken, once for each table; garbage is replaced by rules and said so; 401 ends it", async () => {
  const worker = await withModel();
  answer = () => ({ status: 200, text: '```json\n{"description": "What the model says", "columns": []}\n```' });
  const done = await analyse("demo");
  expect(done).toMatchObject({ state: "done", message: null });
  expect(done.tables[0]).toMatchObject({ description: "What the model says" });
  expect(done.tables[0].columns.length).toBeGreaterThan(0);
  expect(asked).toBe(done.tables.length);

  answer = () => ({ status: 200, text: "I would rather not." });
  const byRules = await analyse("demo");
  expect(byRules.state).toBe("done");
  expect(byRules.message).toContain("described by rules");

  answer = () => ({ status: 401, text: "" });
  const refused = await analyse("demo");
  expect(refused).toMatchObject({ state: "failed", tables: [] });
  expect(refused.message).toContain("401");
  await stop(worker);
});

test("a worker lost in the middle: another one goes on with the next table, and describes none of the others again", async () => {
  const worker = await withModel();
  const asked: string[] = [];
  answer = (prompt) => {
    asked.push(prompt);
    if (asked.length === 2) worker.child.kill("SIGKILL");
    return { status: 200, text: '{"description": "x", "columns": []}' };
  };
  const going = analyse("demo");
  await worker.exited;
  const survivor = await withModel();
  const done = await going;
  expect(done.state).toBe("done");
  expect(asked).toHaveLength(done.tables.length + 1);
  expect(asked.filter((prompt) => prompt === asked[0])).toHaveLength(1);
  await stop(survivor);
});
