// Files attached to questions over the real web and a real worker: what is taken, whose it is, and when it goes.

import { strToU8, zipSync } from "fflate";
import { afterAll, beforeAll, expect, test } from "vitest";
import { forgetUnsentAttachments } from "../../../services/db/attachments.ts";
import { createDatabase } from "../../../services/db/pool.ts";
import {
  createWebClient,
  PASSWORD,
  type Program,
  type Services,
  startServices,
  type WebClient,
} from "../../support/services.ts";

let services: Services;
let web: Program;
let client: WebClient;
let member: WebClient;

const NOWHERE = "00000000-0000-4000-8000-000000000000";
const MIB = 2 ** 20;
const CSV = "region,sum\nnorth,12\nsouth,30\n";

beforeAll(async () => {
  services = await startServices();
  await services.worker();
  const started = await services.web();
  web = started;
  client = started.client;
  await client.signIn();
  await client.call("POST", "/internal/users", { name: "mina", role: "user", password: PASSWORD });
  member = createWebClient(web.socket);
  await member.signIn("mina");
});
afterAll(() => services?.stop());

const attach = (name: string, content: string | Buffer, by = client, headers = {}) =>
  by.call("POST", `/api/attachments?name=${encodeURIComponent(name)}`, Buffer.from(content), headers);
const attached = async (name: string, content: string | Buffer = CSV): Promise<string> => {
  const { status, body } = await attach(name, content);
  expect(status).toBe(201);
  return body.id;
};
const begin = async (): Promise<string> => (await client.call("POST", "/api/conversations", {})).body.id;
const askWith = (conversation: string, attachments: readonly string[], headers = {}, text = "look at this") =>
  client.call("POST", `/api/conversations/${conversation}/turns`, { text, attachments }, headers);
const rowsOf = async (sql: string, ...values: unknown[]) => (await services.sql.query(sql, values)).rows;

test("a file is attached, sent, seen in the turn, answered about, downloaded, and gone with its conversation", async () => {
  const made = await attach("../매출 2026.csv", CSV);
  expect(made).toMatchObject({ status: 201, body: { name: "매출 2026.csv", bytes: CSV.length } });
  // How it was read is told with the file.
  expect(Object.keys(made.body).sort()).toEqual(["bytes", "encoding", "id", "name"]);
  const { encoding, ...file } = made.body;
  expect(encoding).toBe("UTF-8");
  const conversation = await begin();
  const asked = await askWith(conversation, [made.body.id]);
  expect(asked.status).toBe(202);
  const turn = await client.ended(asked.body.turnId);
  expect(turn).toMatchObject({ state: "answered", attachments: [file] });
  expect(turn.answer).toContain("매출 2026.csv");
  expect(turn.answer).toContain("rows: 2, columns: 2");
  expect(turn.answer).toContain("| north | 12 |");
  expect((await client.call("GET", `/api/conversations/${conversation}`)).body.turns[0].attachments).toEqual([file]);

  const got = await client.call("GET", `/api/attachments/${made.body.id}`);
  expect(got).toMatchObject({ status: 200, body: CSV });
  expect(got.headers).toMatchObject({
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent("매출 2026.csv")}`,
  });
  expect(await client.call("DELETE", `/api/attachments/${made.body.id}`)).toMatchObject({
    status: 409,
    body: { code: "attachment.conflict" },
  });

  expect((await client.call("DELETE", `/api/conversations/${conversation}`)).status).toBe(204);
  expect((await client.call("GET", `/api/attachments/${made.body.id}`)).status).toBe(404);
  expect(await rowsOf("SELECT 1 FROM owl.attachment WHERE id = $1", made.body.id)).toEqual([]);
  expect(await askWith(await begin(), [made.body.id])).toMatchObject({
    status: 422,
    body: { code: "attachment.unusable", data: { missing: [made.body.id] }, next: "Attach it again." },
  });
});

test("an unsent one is deleted at once; a question without files has none", async () => {
  const id = await attached("a.txt");
  expect((await client.call("DELETE", `/api/attachments/${id}`)).status).toBe(204);
  expect((await client.call("DELETE", `/api/attachments/${id}`)).status).toBe(404);
  const { turnId } = await client.ask("SELECT 1 AS n");
  expect(await client.ended(turnId)).toMatchObject({ state: "answered", attachments: [] });
});

test("text of a Korean spreadsheet and of Windows is read as what it says", async () => {
  const korean = await attached("k.csv", Buffer.from([0xc0, 0xcc, 0xb8, 0xa7, 0x2c, 0x8c, 0x63, 0x0a]));
  expect((await client.call("GET", `/api/attachments/${korean}`)).body).toBe("이름,똠\n");
  const windows = await attached("w.txt", Buffer.from("\ufeff가 a", "utf16le"));
  expect((await client.call("GET", `/api/attachments/${windows}`)).body).toBe("가 a");
});

/** A PDF of one page that says `text`. */
function pdfOf(text: string): Buffer {
  const content = `BT /F1 12 Tf 10 100 Td (${text}) Tj ET`;
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
  ];
  let file = "%PDF-1.4\n";
  const places = objects.map((object, index) => {
    const at = file.length;
    file += `${index + 1} 0 obj${object}endobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 6\n0000000000 65535 f \n${places.join("")}trailer<</Size 6/Root 1 0 R>>`;
  return Buffer.from(`${file}${table}\nstartxref\n${file.length}\n%%EOF`);
}

const zipOf = (files: Readonly<Record<string, string>>): Buffer =>
  Buffer.from(zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]))));

test("of a PDF, a Word, an Excel and a PowerPoint file the text is kept; others, and bombs, are refused in words", async () => {
  const said = async (name: string, content: Buffer) =>
    (await client.call("GET", `/api/attachments/${await attached(name, content)}`)).body;
  expect(await said("a.pdf", pdfOf("Forty-two"))).toBe("[page 1]\nForty-two\n\n");
  const word = "<w:document><w:p><w:t>매출은 42</w:t></w:p></w:document>";
  expect(await said("a.docx", zipOf({ "word/document.xml": word, "word/media/x.png": "x" }))).toBe("매출은 42\n\n");
  const slide = "<p:sld><a:p><a:t>Second</a:t></a:p></p:sld>";
  const slides = { "ppt/slides/slide10.xml": slide, "ppt/slides/slide2.xml": slide.replace("Second", "First") };
  expect(await said("a.pptx", zipOf(slides))).toBe("[slide 2]\nFirst\n\n[slide 10]\nSecond\n\n");
  const sheet = '<sheetData><row><c r="A1"><v>42</v></c><c r="B1" t="str"><v>b</v></c></row></sheetData>';
  const book = { "xl/workbook.xml": '<sheets><sheet name="Sums"/></sheets>', "xl/worksheets/sheet1.xml": sheet };
  expect(await said("a.xlsx", zipOf(book))).toBe("[sheet Sums]\n42,b\n\n");

  for (const [content, status, code] of [
    [zipOf({ "a.txt": "x" }), 415, "attachment.type"],
    [Buffer.from("%PDF-1.4 broken"), 422, "attachment.document"],
    [Buffer.from("PK\u0003\u0004 broken"), 422, "attachment.document"],
    [pdfOf(""), 422, "attachment.document"],
    [zipOf({ "word/document.xml": "x".repeat(65 * MIB) }), 422, "attachment.document"],
    [Buffer.alloc(8 * MIB + 1, "%PDF"), 413, "attachment.tooLarge"],
  ] as const) {
    expect(await attach("a.pdf", content)).toMatchObject({ status, body: { code } });
  }
});

test.each([
  ["one byte too large", "a.csv", Buffer.alloc(MIB + 1, "x"), 413, "attachment.tooLarge"],
  ["far too large", "a.csv", Buffer.alloc(5 * MIB, "x"), 413, "attachment.tooLarge"],
  ["binary under a text's name", "a.csv", Buffer.from([1, 0, 2, 0xff]), 415, "attachment.type"],
  ["empty", "a.csv", Buffer.alloc(0), 422, "attachment.empty"],
])("a file that is %s is refused with the next step and leaves no row", async (_what, name, content, status, code) => {
  const before = await rowsOf("SELECT count(*) FROM owl.attachment");
  const refused = await attach(name, content);
  expect(refused).toMatchObject({ status, body: { code, status, next: expect.stringMatching(/\S/) } });
  expect(refused.headers["content-type"]).toContain("application/problem+json");
  expect(await rowsOf("SELECT count(*) FROM owl.attachment")).toEqual(before);
});

test("a file of exactly the limit, also in chunks of no announced length, and whatever type it is sent as", async () => {
  expect((await attach("a.txt", Buffer.alloc(MIB, "x"))).status).toBe(201);
  const chunked = { "transfer-encoding": "chunked" };
  expect((await attach("a.txt", "abc", client, chunked)).body).toMatchObject({ bytes: 3 });
  expect(await attach("a.txt", Buffer.alloc(2 * MIB, "x"), client, chunked)).toMatchObject({
    status: 413,
    body: { code: "attachment.tooLarge" },
  });
  for (const type of ["application/json", "text/plain", "text/csv", "multipart/form-data", "x/y"]) {
    expect((await attach("a.json", '{"a":', client, { "content-type": type })).body, type).toMatchObject({ bytes: 5 });
  }
});

test("another one's file is not found, not deleted, and goes with no question of a stranger", async () => {
  const id = await attached("secret.txt", "mine");
  expect((await member.call("GET", `/api/attachments/${id}`)).status).toBe(404);
  expect((await member.call("DELETE", `/api/attachments/${id}`)).status).toBe(404);
  const own = (await member.call("POST", "/api/conversations", {})).body.id;
  const stolen = await member.call("POST", `/api/conversations/${own}/turns`, { text: "look", attachments: [id] });
  expect(stolen).toMatchObject({ status: 422, body: { code: "attachment.unusable" } });
  expect((await member.call("GET", `/api/conversations/${own}`)).body.turns).toEqual([]);
  expect((await createWebClient(web.socket).call("GET", `/api/attachments/${id}`)).status).toBe(401);
  expect((await attach("a.txt", "x", createWebClient(web.socket))).status).toBe(401);
  expect((await client.call("GET", `/api/attachments/${id}`)).body).toBe("mine");
});

test("a question goes with all of its files or not at all", async () => {
  const conversation = await begin();
  const id = await attached("a.txt");
  const count = () =>
    rowsOf("SELECT (SELECT count(*) FROM pgboss.job) AS jobs, (SELECT count(*) FROM owl.turn) AS turns");
  const before = await count();
  expect(await askWith(conversation, [id, NOWHERE], { "idempotency-key": "k-missing" })).toMatchObject({
    status: 422,
    body: { data: { missing: [NOWHERE] } },
  });
  expect(await count()).toEqual(before);
  expect(await rowsOf("SELECT turn_id FROM owl.attachment WHERE id = $1", id)).toEqual([{ turn_id: null }]);
  // The refused try kept no answer under its key.
  expect((await askWith(conversation, [id], { "idempotency-key": "k-missing" })).status).toBe(202);
});

test.each([
  ["six files", (ids: readonly string[]) => ids],
  ["the same one twice", (ids: readonly string[]) => [ids[0], ids[0]]],
  ["no id", () => ["../../etc/passwd"]],
  ["no list", () => "a"],
  ["a number", () => [5]],
])("a question with %s is refused and uses none of them up", async (_what, list) => {
  const ids = [];
  for (let n = 0; n < 6; n++) ids.push(await attached(`${n}.txt`, `text ${n}`));
  const conversation = await begin();
  expect(
    await client.call("POST", `/api/conversations/${conversation}/turns`, { text: "look", attachments: list(ids) }),
  ).toMatchObject({ status: 400, body: { code: "request.invalid" } });
  expect(await rowsOf("SELECT 1 FROM owl.attachment WHERE id = ANY($1) AND turn_id IS NULL", ids)).toHaveLength(6);
});

test("five files keep their order; asked again they go along as copies, the first question keeps its own", async () => {
  const ids: string[] = [];
  for (const name of ["e", "d", "c", "b", "a"]) ids.push(await attached(`${name}.txt`, `text of ${name}`));
  const first = (await askWith(await begin(), ids)).body.turnId;
  const again = (await askWith(await begin(), ids.slice(0, 2))).body.turnId;
  const [one, two] = [await client.ended(first), await client.ended(again)];
  const names = (turn: { attachments: { name: string }[] }) => turn.attachments.map(({ name }) => name);
  expect(names(one)).toEqual(["e.txt", "d.txt", "c.txt", "b.txt", "a.txt"]);
  expect(one.attachments.map(({ id }: { id: string }) => id)).toEqual(ids);
  expect(names(two)).toEqual(["e.txt", "d.txt"]);
  expect(two.attachments.map(({ id }: { id: string }) => id)).not.toContain(ids[0]);
  expect((await client.call("GET", `/api/attachments/${two.attachments[0].id}`)).body).toBe("text of e");
});

test("one file in two questions at the same moment: each has it, once", async () => {
  const id = await attached("shared.txt", "for both");
  const conversations = [await begin(), await begin(), await begin()];
  const asked = await Promise.all(conversations.map((conversation) => askWith(conversation, [id])));
  expect(asked.map(({ status }) => status)).toEqual([202, 202, 202]);
  const turns = await Promise.all(asked.map(({ body }) => client.turn(body.turnId)));
  expect(turns.map((turn) => turn.attachments.length)).toEqual([1, 1, 1]);
  expect(new Set(turns.map((turn) => turn.attachments[0].id)).size).toBe(3);
  expect(turns.map((turn) => turn.attachments[0].id)).toContain(id);
});

test("the same key with the same files is answered alike and copies nothing; with others it is another request", async () => {
  const [id, other] = [await attached("a.txt"), await attached("b.txt")];
  const conversation = await begin();
  const key = { "idempotency-key": "k-files" };
  const five = await Promise.all(Array.from({ length: 5 }, () => askWith(conversation, [id], key)));
  expect(new Set(five.map(({ status, body }) => `${status} ${body.turnId}`)).size).toBe(1);
  expect(five[0]?.status).toBe(202);
  expect((await client.call("GET", `/api/conversations/${conversation}`)).body.turns).toMatchObject([
    { attachments: [{ id }] },
  ]);
  for (const attachments of [[other], []]) {
    expect(await askWith(conversation, attachments, key)).toMatchObject({
      status: 422,
      body: { code: "idempotency.otherBody" },
    });
  }
  expect(await rowsOf("SELECT turn_id FROM owl.attachment WHERE id = $1", other)).toEqual([{ turn_id: null }]);
});

test("a later question of the conversation is answered with the file still at hand", async () => {
  const conversation = await begin();
  await client.ended((await askWith(conversation, [await attached("kept.csv")])).body.turnId);
  const later = await client.ended((await askWith(conversation, [], {}, "and what was in it")).body.turnId);
  expect(later).toMatchObject({ state: "answered", attachments: [] });
  expect(later.answer).toContain("kept.csv");
  const sql = await client.ended((await askWith(conversation, [], {}, "SELECT 41 + 1 AS n")).body.turnId);
  expect(sql.answer).toContain("| 42 |");
  expect(sql.answer).not.toContain("kept.csv");
});

test("what was attached and not sent is forgotten after a day; sent files and younger ones stay", async () => {
  const [old, young, sent] = [await attached("old.txt"), await attached("young.txt"), await attached("sent.txt")];
  expect((await askWith(await begin(), [sent])).status).toBe(202);
  await rowsOf("UPDATE owl.attachment SET created_at = now() - interval '25 hours' WHERE id = ANY($1)", [old, sent]);
  await rowsOf("UPDATE owl.attachment SET created_at = now() - interval '23 hours' WHERE id = $1", young);
  const db = createDatabase({ url: services.url, max: 2, onError: () => undefined });
  expect(await forgetUnsentAttachments(db, 24, 100)).toBe(1);
  await db.stop();
  const status = async (id: string) => (await client.call("GET", `/api/attachments/${id}`)).status;
  expect([await status(old), await status(young), await status(sent)]).toEqual([404, 200, 200]);
});

test("the API document tells of attachments with examples and refusals", async () => {
  const { paths } = (await client.call("GET", "/api/openapi.json")).body;
  expect(Object.keys(paths["/api/attachments"].post.responses)).toEqual(expect.arrayContaining(["201", "4XX"]));
  expect(Object.keys(paths["/api/attachments/{id}"])).toEqual(expect.arrayContaining(["get", "delete"]));
  expect(JSON.stringify(paths["/api/attachments"].post)).toContain("sales.csv");
  const asking = paths["/api/conversations/{id}/turns"].post;
  expect(JSON.stringify(asking.requestBody)).toContain("What is in this file?");
  expect(Object.keys(asking.responses)).toContain("4XX");
});
