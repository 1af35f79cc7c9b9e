// A model endpoint that misbehaves: each failure is one clear sentence on its own turn and costs no other one anything.

import { afterAll, beforeAll, expect, test } from "vitest";
import { textOf } from "../../../services/text/text.ts";
import { startTestModel, type TestModel } from "../../support/model.ts";
import {
  createWebClient,
  PASSWORD,
  type Program,
  type Services,
  startServices,
  until,
  type WebClient,
} from "../../support/services.ts";

let model: TestModel;
let services: Services;
let client: WebClient;
let web: Program;

beforeAll(async () => {
  model = await startTestModel();
  services = await startServices({
    model: { baseUrl: model.baseUrl, apiKey: "x", name: "m" },
    models: [
      { baseUrl: model.baseUrl, apiKey: "x", name: "dear", price: { input: 1, output: 2 } },
      { baseUrl: model.baseUrl, apiKey: "x", name: "seer", vision: true },
    ],
    budget: { monthly: 3 },
    chat: { links: "nobody", titles: "model" },
  });
  await services.worker();
  const started = await services.web();
  web = started;
  client = started.client;
  await client.signIn();
});
afterAll(async () => {
  await services?.stop();
  await model?.stop();
});

const answerTo = async (text: string) => client.ended((await client.ask(text)).turnId);

test("it answers, and its tool call runs on the data source", async () => {
  expect(await answerTo("hello")).toMatchObject({ state: "answered", answer: "ok: hello" });
  const turn = await answerTo("sql: SELECT count(*) FROM orders");
  expect(turn).toMatchObject({ state: "answered" });
  expect(turn.answer).toContain("3000");
  expect(turn.tools.at(-1)).toMatchObject({ name: "run_sql", state: "done", rows: 1 });
});

test.each([
  ["status 401", textOf("en")("model.key", { status: 401 })],
  ["status 403", textOf("en")("model.key", { status: 403 })],
  ["status 400", textOf("en")("model.status", { status: 400 })],
  ["garbage", textOf("en")("model.garbage")],
  ["half", textOf("en")("model.garbage")],
])("%s ends the turn with its sentence", async (text, message) => {
  expect(await answerTo(text)).toMatchObject({ state: "failed", message });
});

test("half an answer is kept beside the failure", async () => {
  expect((await answerTo("half")).answer).toBe("half an ans");
});

test("500 is tried again, then told", async () => {
  const before = model.log.length;
  const message = textOf("en")("model.status", { status: 500 });
  expect(await answerTo("status 500")).toMatchObject({ state: "failed", message });
  expect(model.log.slice(before).filter((one) => one.event === "request").length).toBeGreaterThan(1);
});

test("429 waits as Retry-After says and then answers", async () => {
  // The stand-in refuses the first request and answers the second.
  expect(await answerTo("status 429")).toMatchObject({ state: "answered", answer: "ok: status 429" });
  expect(model.log.filter((one) => one.event === "request" && one.text === "status 429")).toHaveLength(2);
});

test("a statement that would write is refused to the model, not run", async () => {
  const turn = await answerTo("sql: DELETE FROM orders");
  expect(turn.answer).toContain("Only statements that read");
  const sneaky = await answerTo("sql: WITH gone AS (DELETE FROM orders RETURNING 1) SELECT count(*) FROM gone");
  expect(sneaky.answer).toMatch(/would write|permission denied/);
  const two = await answerTo("sql: SELECT 1; COMMIT; DELETE FROM orders");
  expect(two.answer).toContain("multiple commands");
});

test("attached files are given with the question and with later ones, in bounds, and what is cut is told", async () => {
  const attach = async (name: string, text: string) =>
    (await client.call("POST", `/api/attachments?name=${name}`, Buffer.from(text))).body.id;
  const { conversation, turnId } = await client.ask("hello there");
  await client.ended(turnId);
  const ask = async (text: string, attachments: readonly string[]) => {
    const { body } = await client.call("POST", `/api/conversations/${conversation}/turns`, { text, attachments });
    return (await client.ended(body.turnId)).answer;
  };
  const first = await ask("what is it", [await attach("a.csv", "region,sum\nnorth,12\n")]);
  expect(first).toMatch(/^ok: what is it\n[\s\S]*attached to this question: "a.csv"[\s\S]*north,12\n/);
  expect(await ask("and now", [])).toMatch(/attached to an earlier question: "a.csv"[\s\S]*north,12\n/);
  const long = await ask("this too", [await attach("long.txt", `begin ${"x".repeat(250_000)} never`)]);
  expect(long).toContain("begin xxx");
  expect(long).not.toContain("never");
  expect(long).toContain("only the first 200000 of its 250012 characters are given");
  // The newest file has used up the bound: the older one is named, and told as cut.
  expect(long).toContain("only the first 0 of its 20 characters are given");
  expect(long).not.toContain("north");
});

test("an image goes to a model that looks at it, kept with the question and its copies; to no other one", async () => {
  const attach = (name: string, bytes: Buffer) => client.call("POST", `/api/attachments?name=${name}`, bytes);
  expect(await attach("huge.png", pngOf(60_000, 60_000))).toMatchObject({
    status: 422,
    body: { code: "attachment.pixels" },
  });
  expect(await attach("drawing.svg", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"))).toMatchObject({
    body: { encoding: "UTF-8" },
  });
  const png = pngOf(640, 480);
  const { status, body: file } = await attach("a.txt", png);
  expect({ status, file }).toEqual({
    status: 201,
    file: { id: file.id, name: "a.txt", bytes: png.length, image: { width: 640, height: 480 } },
  });
  const conversation = (await client.call("POST", "/api/conversations", {})).body.id;
  const ask = (text: string, attachments: readonly string[]) =>
    client.call("POST", `/api/conversations/${conversation}/turns`, { text, attachments });
  expect(await ask("what is there", [file.id])).toMatchObject({
    status: 422,
    body: {
      code: "attachment.unseen",
      detail: "m does not look at images.",
      next: "Choose a model that does: seer.",
    },
  });
  await client.call("PATCH", `/api/conversations/${conversation}`, { model: "seer" });
  const asked = await ask("what is there", [file.id]);
  expect(asked.status).toBe(202);
  const turn = await client.ended(asked.body.turnId);
  expect(turn).toMatchObject({ state: "answered", attachments: [file] });
  const url = `data:image/png;base64,${png.toString("base64")}`;
  const seen = (text: string) => model.log.find((one) => one.event === "request" && one.text.startsWith(text));
  expect(seen("what is there")).toMatchObject({ model: "seer", images: [url] });
  expect(seen("what is there")?.text).toContain("(an image: number 1 of those given beside this text)");

  // Later questions see it too; a further version has a copy of its own.
  await client.ended((await ask("and then", [])).body.turnId);
  expect(seen("and then")).toMatchObject({ images: [url] });
  const again = await client.call("POST", `/api/conversations/${conversation}/turns`, {
    text: "once more",
    attachments: [file.id],
    versionOf: turn.id,
  });
  const copy = (await client.ended(again.body.turnId)).attachments[0];
  expect(copy).toEqual({ ...file, id: copy.id });
  expect(copy.id).not.toBe(file.id);
  expect(seen("once more")).toMatchObject({ images: [url] });
  const { headers } = await client.call("GET", `/api/attachments/${copy.id}`);
  expect(headers).toMatchObject({
    "content-type": "image/png",
    "x-content-type-options": "nosniff",
    "content-length": String(png.length),
  });

  // Asked again from a step in a new chat, it has one as well.
  const forked = (await client.call("POST", `/api/turns/${turn.id}/steps/0/fork`)).body;
  expect((await client.ended(forked.turnId)).attachments).toMatchObject([{ image: file.image }]);
  expect(model.log.filter(({ event, images }) => event === "request" && images?.[0] === url)).toHaveLength(4);

  // A model that does not look is told so of an earlier one.
  await client.call("PATCH", `/api/conversations/${conversation}`, { model: null });
  await client.ended((await ask("who looks", [])).body.turnId);
  expect(seen("who looks")).toMatchObject({ model: "m", images: [] });
  expect(seen("who looks")?.text).toContain("an image that you cannot look at now");
});

/** As much of a PNG as says how large it is, and bytes that no text has. */
function pngOf(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(64);
  Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").copy(bytes);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

test("a chat's model answers it, its cost is on record, and the month's budget ends the questions", async () => {
  expect((await client.call("GET", "/api/session")).body.models).toEqual(["m", "dear", "seer"]);
  const asked = (text: string) => model.log.find((one) => one.event === "request" && one.text === text)?.model;
  const { conversation, turnId: usual } = await client.ask("of the usual one");
  await client.ended(usual);
  expect(asked("of the usual one")).toBe("m");
  expect((await client.call("GET", `/api/turns/${usual}/steps`)).body.used).toBeNull();
  const choose = (name: string | null) => client.call("PATCH", `/api/conversations/${conversation}`, { model: name });
  expect(await choose("none")).toMatchObject({ status: 422, body: { code: "model.unknown" } });
  expect(await choose("dear")).toMatchObject({ status: 200, body: { model: "dear" } });
  const { turnId } = await client.ask("of the dear one", conversation);
  expect(await client.ended(turnId)).toMatchObject({ state: "answered" });
  expect(asked("of the dear one")).toBe("dear");
  const used = { inputTokens: 600_000, outputTokens: 400_000, cost: 1.4 };
  const { body } = await client.call("GET", `/api/turns/${turnId}/steps`);
  expect(body).toMatchObject({ used, steps: [{ input: { model: "dear" } }] });
  expect((await client.call("GET", "/api/account/usage")).body.month).toEqual({ ...used, budget: 3 });

  for (const text of ["once more", "and more"]) await client.ended((await client.ask(text, conversation)).turnId);
  const refused = await client.call("POST", `/api/conversations/${conversation}/turns`, { text: "and again" });
  expect(refused).toMatchObject({ status: 429, body: { code: "limit.budget", data: { limit: 3 } } });
  expect((await client.call("POST", `/api/turns/${turnId}/steps/0/fork`)).body.code).toBe("limit.budget");
  // What was spent stays spent.
  await client.call("DELETE", `/api/conversations/${conversation}`);
  expect((await client.call("GET", "/api/account/usage")).body.month.cost).toBeCloseTo(4.2);
});

test("a chat is named by its model after the first answer, once, at its owner's cost; a person's name stays", async () => {
  await client.call("POST", "/internal/users", { name: "mina", password: PASSWORD });
  const mina = createWebClient(web.socket);
  await mina.signIn("mina");
  const begin = async (body: object) => (await mina.call("POST", "/api/conversations", body)).body.id;
  const titleOf = async (id: string) => (await mina.call("GET", `/api/conversations/${id}`)).body.title;
  const before = model.log.length;
  const [named, own] = [await begin({ model: "dear" }), await begin({ title: "Mine" })];
  for (const id of [own, named]) await mina.ended((await mina.ask("a first question", id)).turnId);
  await until("it has a name", async () => (await titleOf(named)).startsWith("ok: Name this conversation"));
  expect((await mina.call("GET", "/api/account/usage")).body.month.cost).toBeCloseTo(2.8);
  await mina.ended((await mina.ask("a second question", named)).turnId);
  expect(await titleOf(own)).toBe("Mine");
  const namings = model.log
    .slice(before)
    .filter(({ event, text }) => event === "request" && text.startsWith("Name this conversation"));
  expect(namings.map(({ model: name }) => name)).toEqual(["dear"]);
});
