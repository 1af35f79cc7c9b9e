// What one account may have at once, on real web processes with small limits: told with a sentence, exact also for those
// that come together, and nobody else's.

import { request } from "node:http";
import { extract } from "tar-stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { wavBytes } from "../../support/recordings.ts";
import {
  createWebClient,
  PASSWORD,
  type Services,
  startServices,
  until,
  type WebClient,
} from "../../support/services.ts";

const MIB = 2 ** 20;
const limits = {
  turns: 5,
  runs: 3,
  conversations: 50,
  playbooks: 4,
  uploads: 3,
  uploadBytes: 10 * MIB,
  attachments: 4,
  eventStreams: 2,
  storedBytes: 20 * MIB,
};
let services: Services;
let socket: string;
let admin: WebClient;

beforeAll(async () => {
  services = await startServices({ limits, uploadBytes: 8 * MIB });
  const web = await services.web();
  socket = web.socket;
  admin = web.client;
  await admin.signIn();
});
afterAll(() => services?.stop());

async function member(name: string): Promise<WebClient> {
  await services.sql.query(
    `INSERT INTO owl.account (id, name, role, password_hash, initial_password)
     SELECT gen_random_uuid(), $1, 'member', password_hash, false FROM owl.account WHERE name = 'admin'`,
    [name],
  );
  const client = createWebClient(socket);
  expect((await client.signIn(name)).status).toBe(200);
  return client;
}

const together = <T>(count: number, run: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => run(n)));
const statuses = (answers: readonly { readonly status: number }[]) => answers.map(({ status }) => status).sort();
const usageOf = async (name: string) =>
  (await admin.call("GET", "/api/admin/users")).body.items.find((user: { name: string }) => user.name === name).usage;

test("questions in line: as many as the limit of twenty at once, also over two webs; a stopped one makes room", async () => {
  const mina = await member("mina");
  const second = createWebClient((await services.web()).socket);
  await second.signIn("mina");
  const conversations = await together(20, async () => (await mina.call("POST", "/api/conversations", {})).body.id);
  const ask = (id: string, n = 0) =>
    (n % 2 === 0 ? mina : second).call("POST", `/api/conversations/${id}/turns`, { text: "SELECT 1" });
  const asked = await Promise.all(conversations.map(ask));
  expect(statuses(asked)).toEqual([...Array(5).fill(202), ...Array(15).fill(429)]);
  const refused = asked.find(({ status }) => status === 429);
  expect(refused?.body).toMatchObject({
    code: "limit.turns",
    detail: "You have 5 questions waiting or running already.",
    next: expect.stringContaining("stop one"),
  });
  expect(refused?.headers["retry-after"]).toBe("5");
  const { rows } = await services.sql.query(
    "SELECT (SELECT count(*)::int FROM owl.turn) AS turns, (SELECT count(*)::int FROM pgboss.job WHERE name LIKE 'chat%') AS jobs",
  );
  expect(rows).toEqual([{ turns: 5, jobs: 5 }]);
  await (await member("noor")).ask("SELECT 1");
  await mina.call("POST", `/api/turns/${asked.find(({ status }) => status === 202)?.body.turnId}/stop`);
  const free = conversations[asked.findIndex(({ status }) => status === 429)];
  expect((await ask(free)).status).toBe(202);
  expect((await ask(free)).body.code).toMatch(/^(turn\.running|limit\.turns)$/);
  expect(await usageOf("mina")).toMatchObject({ turns: 5 });
});

test("playbooks, runs in line and conversations have an end; large playbooks are told in pages", async () => {
  const pia = await member("pia");
  const values = Array(9).fill("x".repeat(100_000));
  const written = {
    name: "a",
    steps: [{ id: "a", tool: "sql", input: { dataSource: "demo", sql: "SELECT 1", values } }],
  };
  const playbooks = await together(6, () => pia.call("POST", "/api/playbooks", written));
  expect(statuses(playbooks)).toEqual([201, 201, 201, 201, 429, 429]);
  const first = (await pia.call("GET", "/api/playbooks?limit=200")).body;
  expect(first.items).toHaveLength(3);
  const rest = (await pia.call("GET", `/api/playbooks?limit=200&next=${first.next}`)).body;
  expect(rest).toMatchObject({ items: [{ steps: written.steps }], next: null });
  const run = () => pia.call("POST", `/api/playbooks/${first.items[0].id}/runs`);
  expect(statuses(await together(5, run))).toEqual([202, 202, 202, 429, 429]);
  const conversations = await together(52, () => pia.call("POST", "/api/conversations", {}));
  expect(statuses(conversations)).toEqual([...Array(50).fill(201), 429, 429]);
  expect(await usageOf("pia")).toMatchObject({ playbooks: 4, runs: 3, conversations: 50 });
  // No other way in either.
  const { turnId } = (await pia.call("POST", `/api/conversations/${conversations[0]?.body.id}/turns`, { text: "a" }))
    .body;
  await pia.call("POST", `/api/turns/${turnId}/stop`, {});
  expect((await pia.call("POST", `/api/turns/${turnId}/steps/0/fork`)).body.code).toBe("limit.conversations");
});

test("uploads that are not complete: their number and their announced bytes, of many that begin at once", async () => {
  const client = await member("uma");
  const begin = (bytes: number) => client.call("POST", "/api/uploads", { name: "a.wav", bytes });
  const begun = await together(12, () => begin(1_000));
  expect(statuses(begun)).toEqual([...Array(3).fill(201), ...Array(9).fill(429)]);
  expect(begun.find(({ status }) => status === 429)?.body).toMatchObject({ code: "limit.uploads" });
  for (const { body } of begun) if (body.uploadId) await client.call("DELETE", `/api/uploads/${body.uploadId}`);
  expect((await begin(7 * MIB)).status).toBe(201);
  expect(await begin(4 * MIB)).toMatchObject({ status: 413, body: { code: "limit.uploadBytes" } });
  expect((await begin(3 * MIB)).status).toBe(201);
  expect(await usageOf("uma")).toMatchObject({ uploads: 2, uploadBytes: 10 * MIB, storedBytes: 10 * MIB });
});

test("stored bytes: recordings, files and copies of files count; what is deleted does not", async () => {
  const client = await member("stina");
  const send = (seconds: number) =>
    client.call("POST", "/api/uploads?name=a.wav", wavBytes(seconds, 16_000), { "content-type": "audio/wav" });
  const first = await send(200);
  expect(first.status).toBe(201);
  const bytes = first.body.bytes;
  expect((await send(200)).status).toBe(201);
  expect((await send(200)).status).toBe(201);
  expect(await send(200)).toMatchObject({ status: 413, body: { code: "limit.storedBytes" } });
  expect(await usageOf("stina")).toMatchObject({ uploads: 0, storedBytes: 3 * bytes });
  const attach = () => client.call("POST", "/api/attachments?name=a.txt", Buffer.alloc(MIB, "x"));
  const file = await attach();
  expect(file.status).toBe(201);
  const room = Math.floor((limits.storedBytes - 3 * bytes) / MIB) - 1;
  const askWith = async () =>
    client.call("POST", `/api/conversations/${(await client.call("POST", "/api/conversations", {})).body.id}/turns`, {
      text: "look",
      attachments: [file.body.id],
    });
  // The first one takes the file itself.
  for (let n = 0; n <= room; n++) expect((await askWith()).status).toBe(202);
  expect(await askWith()).toMatchObject({ status: 413, body: { code: "limit.storedBytes" } });
  expect(await attach()).toMatchObject({ status: 413, body: { code: "limit.storedBytes" } });
  expect((await client.call("DELETE", `/api/uploads/${first.body.uploadId}`)).status).toBe(204);
  expect((await send(200)).status).toBe(201);
});

test("attached files that were not sent", async () => {
  const client = await member("atta");
  const attached = await together(9, () => client.call("POST", "/api/attachments?name=a.txt", Buffer.from("text")));
  expect(statuses(attached)).toEqual([...Array(4).fill(201), ...Array(5).fill(429)]);
  expect(attached.find(({ status }) => status === 429)?.body).toMatchObject({ code: "limit.attachments" });
  expect(await usageOf("atta")).toMatchObject({ attachments: 4, storedBytes: 16 });
});

test("event streams: one too many is refused, one that was left makes room", async () => {
  const client = await member("eve");
  const cookie = String((await client.signIn("eve")).headers["set-cookie"]).split(";")[0] ?? "";
  const open = () =>
    new Promise<{ readonly status: number; leave(): void }>((resolve, reject) => {
      const asked = request(
        { socketPath: socket, path: "/api/events", headers: { host: "owl.test", cookie } },
        (answer) => {
          answer.on("error", () => undefined);
          resolve({ status: answer.statusCode ?? 0, leave: () => asked.destroy() });
        },
      );
      asked.on("error", reject);
      asked.end();
    });
  const [one, two] = [await open(), await open()];
  expect([one.status, two.status]).toEqual([200, 200]);
  expect(await client.call("GET", "/api/events")).toMatchObject({ status: 429, body: { code: "limit.eventStreams" } });
  one.leave();
  const three = await until("there is room", async () => {
    const tried = await open();
    return tried.status === 200 && tried;
  });
  for (const stream of [two, three]) stream.leave();
});

test("searches at once: two, the third is told so, and passes when they have ended", async () => {
  const client = await member("sia");
  const holder = await services.sql.connect();
  await holder.query("BEGIN; LOCK TABLE owl.turn IN ACCESS EXCLUSIVE MODE");
  const search = () => client.call("GET", "/api/conversations?search=budget");
  const three = [search(), search(), search()];
  const refused = await Promise.race(three);
  expect(refused.status).toBe(429);
  expect(refused.body).toMatchObject({ code: "limit.searches", detail: "2 of your searches are under way." });
  await holder.query("COMMIT");
  holder.release();
  expect(statuses(await Promise.all(three))).toEqual([200, 200, 429]);
  expect((await search()).status).toBe(200);
});

test("all of one's own data comes as one tar file, and nothing of anybody else's", async () => {
  const [client, other] = [await member("tara"), await member("theo")];
  const attached = await client.call("POST", "/api/attachments?name=a.txt", Buffer.from("the attached text"));
  const recording = wavBytes(2, 16_000);
  const upload = await client.call("POST", "/api/uploads?name=b.wav", recording, { "content-type": "audio/wav" });
  await client.call("POST", "/api/playbooks", { name: "mine", steps: [] });
  const token = { name: "script", scopes: ["chat:read"], expiresInDays: 1, password: PASSWORD };
  await client.call("POST", "/api/account/tokens", token);
  for (let n = 0; n < 45; n++) await client.call("POST", "/api/conversations", { title: `chat ${n}` });
  const { id } = (await client.call("POST", "/api/conversations", { title: "with a question" })).body;
  await client.call("POST", `/api/conversations/${id}/turns`, { text: "what of it?", attachments: [attached.body.id] });
  await other.ask("somebody else's question");
  const cookie = String((await client.signIn("tara")).headers["set-cookie"]).split(";")[0] ?? "";
  const found = new Map<string, Buffer>();
  const tar = extract();
  request({ socketPath: socket, path: "/api/account/export", headers: { host: "owl.test", cookie } }, (answer) => {
    expect(answer.headers["content-disposition"]).toMatch(/filename="owl-tara-\d{4}-\d\d-\d\d\.tar"/);
    answer.pipe(tar);
  }).end();
  for await (const entry of tar) {
    const parts: Buffer[] = [];
    for await (const part of entry) parts.push(part as Buffer);
    found.set(entry.header.name, Buffer.concat(parts));
  }
  const rows = (name: string) =>
    String(found.get(`${name}-0001.jsonl`))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  expect(rows("conversations")).toHaveLength(46);
  expect(rows("turns")).toMatchObject([{ text: "what of it?", attachments: [{ name: "a.txt" }] }]);
  expect(rows("api-tokens")).toMatchObject([{ name: "script", scopes: ["chat:read"] }]);
  expect(rows("recordings")).toMatchObject([{ name: "b.wav", bytes: recording.length }]);
  expect(found.get(`attachments/${attached.body.id}.txt`)?.toString()).toBe("the attached text");
  expect(found.get(`recordings/${upload.body.uploadId}`)?.equals(recording)).toBe(true);
  expect([...found.values()].join("")).not.toContain("somebody else");
  expect((await client.call("GET", "/api/account/usage")).body).toMatchObject({
    limits: { turns: 5 },
    usage: { turns: 1 },
  });
});
