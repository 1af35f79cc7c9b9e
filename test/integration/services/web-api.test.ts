// The web API's guards on a real process: sessions, ownership, roles, origins, bad input, idempotency, documents.

import { createHash, createHmac, scryptSync } from "node:crypto";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../config/system-time.ts";
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

beforeAll(async () => {
  services = await startServices();
  const started = await services.web();
  web = started;
  client = started.client;
  await client.signIn();
  await client.call("POST", "/internal/users", { name: "Mina", role: "user", password: PASSWORD });
  member = createWebClient(web.socket);
  expect((await member.signIn("mina")).body).toMatchObject({ name: "mina", role: "member", initialPassword: false });
});
afterAll(() => services?.stop());

test("without a session everything but signing in and the API document is 401", async () => {
  const anonymous = createWebClient(web.socket);
  for (const path of ["/api/conversations", `/api/turns/${NOWHERE}`, "/api/admin/system", "/api/session"]) {
    expect(await anonymous.call("GET", path)).toMatchObject({ status: 401, body: { code: "session.missing" } });
  }
  expect(await anonymous.call("POST", "/api/session", { name: "admin", password: "wrong" })).toMatchObject({
    status: 401,
    body: { code: "session.wrong" },
  });
  expect((await anonymous.call("GET", "/api/openapi.json")).status).toBe(200);
});

test("the cookie is HttpOnly and SameSite=Lax, its id is stored hashed only, and signing out ends it", async () => {
  const one = createWebClient(web.socket);
  const { headers } = await one.signIn();
  const cookie = String(headers["set-cookie"]);
  expect(cookie).toMatch(/owl_session=[\w-]{43};.*HttpOnly/);
  expect(cookie).toMatch(/SameSite=Lax/);
  const id = /owl_session=([\w-]+)/.exec(cookie)?.[1] ?? "";
  const { rows } = await services.sql.query("SELECT encode(id_hash, 'hex') AS hash FROM owl.session");
  expect(JSON.stringify(rows)).not.toContain(Buffer.from(id).toString("hex"));
  expect((await one.call("DELETE", "/api/session")).status).toBe(204);
  expect(
    (await createWebClient(web.socket).call("GET", "/api/session", undefined, { cookie: `owl_session=${id}` })).status,
  ).toBe(401);
});

test("another one's conversation and turn are not found", async () => {
  const { conversation, turnId } = await client.ask("mine");
  for (const [method, path, body] of [
    ["GET", `/api/conversations/${conversation}`, undefined],
    ["PATCH", `/api/conversations/${conversation}`, { title: "stolen" }],
    ["DELETE", `/api/conversations/${conversation}`, undefined],
    ["POST", `/api/conversations/${conversation}/turns`, { text: "hi" }],
    ["GET", `/api/turns/${turnId}`, undefined],
    ["GET", `/api/turns/${turnId}/events`, undefined],
    ["POST", `/api/turns/${turnId}/stop`, undefined],
  ] as const) {
    expect((await member.call(method, path, body)).status, `${method} ${path}`).toBe(404);
  }
  expect((await member.call("GET", "/api/conversations")).body.items).toEqual([]);
  await client.call("POST", `/api/turns/${turnId}/stop`);
  expect(await client.ended(turnId)).toMatchObject({ state: "stopped", message: null });
});

test("administrators' paths refuse members", async () => {
  for (const [method, path, body] of [
    ["GET", "/api/admin/system", undefined],
    ["GET", "/api/admin/update", undefined],
    ["POST", "/api/admin/update/approve", { version: "1.0.0" }],
    ["POST", "/api/admin/restart", {}],
    ["GET", "/api/admin/audit", undefined],
    ["GET", "/api/admin/users", undefined],
    ["POST", "/api/admin/users", { name: "eve", role: "administrator" }],
  ] as const) {
    expect(await member.call(method, path, body), path).toMatchObject({ status: 403, body: { code: "request.role" } });
  }
});

test("a write from another origin is refused, one from ours is not", async () => {
  const foreign = { origin: "http://evil.test" };
  expect(await client.call("POST", "/api/conversations", {}, foreign)).toMatchObject({
    status: 403,
    body: { code: "request.origin" },
  });
  expect((await client.call("POST", "/api/conversations", {}, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect((await client.call("POST", "/api/conversations", {}, { origin: "null" })).status).toBe(403);
  expect((await client.call("POST", "/api/conversations", {}, { origin: "http://owl.test" })).status).toBe(201);
});

test.each([
  ["no text", {}],
  ["a number", { text: 5 }],
  ["empty", { text: "" }],
  ["blank", { text: " \n" }],
  ["too long", { text: "x".repeat(100_001) }],
  ["far too long", { text: "x".repeat(2_000_000) }],
  ["a stranger's key", { text: "hi", admin: true }],
  ["no object", "hi"],
])("a question with %s is a 4xx problem with a code and changes nothing", async (_what, body) => {
  const { id } = (await client.call("POST", "/api/conversations")).body;
  const answer = await client.call("POST", `/api/conversations/${id}/turns`, body);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(answer.headers["content-type"]).toContain("application/problem+json");
  expect(answer.body).toMatchObject({ code: expect.stringMatching(/^request\./), status: answer.status });
  expect((await client.call("GET", `/api/conversations/${id}`)).body.turns).toEqual([]);
});

test("a body that is too large is read to its end, so that its refusal arrives on an unbroken connection", async () => {
  const size = 2_000_000;
  const socket = connect(web.socket);
  let answer = "";
  const over = new Promise<void>((resolve, reject) => {
    socket.on("data", (chunk) => {
      answer += chunk;
      if (answer.includes("request.tooLarge")) resolve();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve());
  });
  socket.write(
    `POST /api/session HTTP/1.1\r\nhost: owl.test\r\ncontent-type: application/json\r\ncontent-length: ${size}\r\n\r\n`,
  );
  for (let sent = 0; sent < size; sent += 50_000) {
    if (!socket.write("x".repeat(50_000))) await new Promise((resolve) => socket.once("drain", resolve));
  }
  await over;
  expect(answer).toMatch(/^HTTP\/1.1 413 /);
  socket.destroy();
});

test("odd ids, marks and JSON are 4xx, unknown paths 404", async () => {
  expect((await client.call("GET", "/api/turns/1;drop")).status).toBe(400);
  expect((await client.call("GET", "/api/conversations?next=AAAA")).status).toBe(400);
  expect((await client.call("GET", "/api/conversations?limit=x")).status).toBe(400);
  expect((await client.call("GET", "/api/nothing")).status).toBe(404);
  expect((await client.call("GET", `/api/conversations/${NOWHERE}`)).status).toBe(404);
});

test("one key, five times at once: one turn, five equal answers; another body is 422; without a key two turns", async () => {
  const { id } = (await client.call("POST", "/api/conversations")).body;
  const path = `/api/conversations/${id}/turns`;
  const key = { "idempotency-key": "k-1" };
  const five = await Promise.all(Array.from({ length: 5 }, () => client.call("POST", path, { text: "once" }, key)));
  expect(new Set(five.map((one) => `${one.status} ${one.body.turnId}`)).size).toBe(1);
  expect(five[0]?.status).toBe(202);
  const { turns } = (await client.call("GET", `/api/conversations/${id}`)).body;
  expect(turns).toHaveLength(1);
  const jobs = await services.sql.query("SELECT 1 FROM pgboss.job WHERE data->>'id' = $1", [turns[0].id]);
  expect(jobs.rowCount).toBe(1);
  expect(await client.call("POST", path, { text: "other" }, key)).toMatchObject({
    status: 422,
    body: { code: "idempotency.otherBody" },
  });
  // The key is checked before the running turn: its repeat is no conflict.
  expect((await client.call("POST", path, { text: "once" }, key)).status).toBe(202);
  expect(await client.call("POST", path, { text: "once" })).toMatchObject({
    status: 409,
    body: { code: "turn.running" },
  });
});

test("a refused question leaves no row and no job", async () => {
  const { conversation } = await client.ask("first");
  const count = async () =>
    (
      await services.sql.query(
        "SELECT (SELECT count(*) FROM pgboss.job) + (SELECT count(*) FROM owl.turn) + (SELECT count(*) FROM owl.idempotency_key) AS n",
      )
    ).rows[0].n;
  const before = await count();
  expect(
    (
      await client.call(
        "POST",
        `/api/conversations/${conversation}/turns`,
        { text: "second" },
        { "idempotency-key": "k-refused" },
      )
    ).status,
  ).toBe(409);
  expect(await count()).toBe(before);
});

test("conversations are named by their first question, renamed, pinned, archived, searched, paged and deleted", async () => {
  const { conversation } = await member.ask("월별 매출을   알려줘");
  expect((await member.call("GET", `/api/conversations/${conversation}`)).body).toMatchObject({
    title: "월별 매출을 알려줘",
    turnState: "queued",
  });
  for (let n = 0; n < 4; n++) await member.call("POST", "/api/conversations", { title: `talk ${n}` });
  expect(
    (await member.call("PATCH", `/api/conversations/${conversation}`, { title: "매출", pinned: true })).body,
  ).toMatchObject({ title: "매출", pinned: true });
  const look = async (words: string) =>
    (await member.call("GET", `/api/conversations?search=${encodeURIComponent(words)}`)).body.items;
  const found = { turnId: expect.any(String), text: "월별 매출을   알려줘" };
  expect(await look("월별")).toMatchObject([{ id: conversation, found }]);
  expect(await look("talk 3")).toMatchObject([{ title: "talk 3", found: null }]);
  const exported = (format: string) =>
    member.call("GET", `/api/conversations/${conversation}/export?format=${format}&language=ko`);
  const markdown = await exported("markdown");
  expect(markdown.body).toMatch(/^# 매출\n\n## 질문 · \S+\n\n월별 매출을 {3}알려줘\n\n## 답변\n\n> 아직/);
  expect(markdown.headers["content-disposition"]).toContain("UTF-8''%EB%A7%A4%EC%B6%9C.md");
  expect((await exported("json")).body).toMatchObject({
    title: "매출",
    turns: [{ follows: null, text: "월별 매출을   알려줘", state: "queued" }],
  });
  expect((await client.call("GET", `/api/conversations/${conversation}/export?format=json`)).status).toBe(404);
  const seen: string[] = [];
  for (let next: string | null = ""; next !== null; ) {
    const page: { items: { id: string }[]; next: string | null } = (
      await member.call("GET", `/api/conversations?limit=2${next ? `&next=${next}` : ""}`)
    ).body;
    seen.push(...page.items.map((one) => one.id));
    next = page.next;
  }
  expect(seen).toHaveLength(5);
  expect(new Set(seen).size).toBe(5);
  await member.call("PATCH", `/api/conversations/${conversation}`, { archived: true });
  expect((await member.call("GET", "/api/conversations")).body.items).toHaveLength(4);
  expect((await member.call("GET", "/api/conversations?archived=true")).body.items).toHaveLength(1);
  expect((await member.call("DELETE", `/api/conversations/${conversation}`)).status).toBe(204);
  expect((await member.call("GET", `/api/conversations/${conversation}`)).status).toBe(404);
});

test("a link shows a chat as it was when it was shared, to whom it may, until it or the chat ends", async () => {
  const { conversation } = await member.ask("what is shared?");
  const share = async (forAnyone: boolean) =>
    (await member.call("POST", `/api/conversations/${conversation}/shares`, { days: 7, forAnyone })).body;
  const [open, team] = [await share(true), await share(false)];
  const [nobody, other] = [createWebClient(web.socket), client];
  const read = (who: WebClient, token: string) => who.call("GET", "/api/shared", undefined, { "owl-share": token });
  expect((await read(nobody, open.token)).body).toMatchObject({
    by: "mina",
    title: "what is shared?",
    forAnyone: true,
    earlier: null,
    turns: [{ text: "what is shared?", versions: [], waitsFor: [] }],
  });
  expect(await read(nobody, team.token)).toMatchObject({ status: 401, body: { code: "session.missing" } });
  expect((await read(other, team.token)).status).toBe(200);
  for (const token of ["", "x".repeat(43), open.token.slice(1)]) {
    expect(await read(nobody, token)).toMatchObject({ status: 404, body: { code: "share.notFound" } });
  }
  // Of the token nothing is kept, and nobody else can share or end what is not theirs.
  const { items } = (await member.call("GET", `/api/shares?conversationId=${conversation}`)).body;
  expect(items.map(({ id }: { id: string }) => id)).toEqual([team.id, open.id]);
  expect(JSON.stringify(items)).not.toContain(open.token);
  expect((await other.call("GET", "/api/shares")).body).toEqual({ links: "anyone", items: [] });
  expect((await other.call("POST", `/api/conversations/${conversation}/shares`, { days: 7 })).status).toBe(404);
  expect((await other.call("DELETE", `/api/shares/${open.id}`)).status).toBe(404);
  expect((await member.call("POST", `/api/conversations/${conversation}/shares`, { days: 366 })).status).toBe(400);
  // What is asked later is not shown.
  const [turn] = (await member.call("GET", `/api/conversations/${conversation}`)).body.turns;
  await member.call("POST", `/api/turns/${turn.id}/stop`);
  await member.ask("a later question", conversation);
  expect((await read(nobody, open.token)).body.turns).toMatchObject([{ text: "what is shared?", state: "stopped" }]);
  expect((await member.call("DELETE", `/api/shares/${open.id}`)).status).toBe(204);
  expect((await read(nobody, open.token)).status).toBe(404);
  const audit = (await client.call("GET", "/api/admin/audit?limit=20")).body.items;
  expect(audit.map(({ action }: { action: string }) => action)).toEqual(
    expect.arrayContaining(["share.made", "share.ended"]),
  );
  await member.call("DELETE", `/api/conversations/${conversation}`);
  expect((await read(other, team.token)).status).toBe(404);
});

test("tries are limited by account, also with the right password, and the limit is the account's own", async () => {
  await client.call("POST", "/internal/users", { name: "slow", password: PASSWORD });
  const one = createWebClient(web.socket);
  for (let n = 0; n < 10; n++) expect((await one.signIn("slow", `wrong ${n}`)).status).toBe(401);
  const refused = await one.signIn("slow");
  expect(refused).toMatchObject({ status: 429, body: { code: "session.tooMany" } });
  expect(refused.headers["retry-after"]).toBe("900");
  expect((await one.signIn("mina")).status).toBe(200);
});

test("one's password is changed with the present one; other sessions end; a short one is refused", async () => {
  await client.call("POST", "/internal/users", { name: "kim", password: PASSWORD });
  const [here, there] = [createWebClient(web.socket), createWebClient(web.socket)];
  await here.signIn("kim");
  await there.signIn("kim");
  const change = (password: string, newPassword: string) =>
    here.call("PUT", "/api/session/password", { password, newPassword });
  expect((await change("wrong", "another long one")).status).toBe(401);
  expect(await change(PASSWORD, "short")).toMatchObject({ status: 400, body: { code: "password.weak" } });
  expect((await change(PASSWORD, "another long one")).status).toBe(204);
  expect((await here.call("GET", "/api/session")).status).toBe(200);
  expect((await there.call("GET", "/api/session")).status).toBe(401);
  expect((await there.signIn("kim", "another long one")).status).toBe(200);
});

test("of many wrong passwords at once no more are evaluated than are allowed, and the owner's known device passes", async () => {
  await client.call("POST", "/internal/users", { name: "suji", password: PASSWORD });
  const owner = createWebClient(web.socket);
  const cookies = (await owner.signIn("suji")).headers["set-cookie"] as string[];
  const device = cookies.find((one) => one.startsWith("owl_device="))?.split(";")[0] ?? "";
  const stranger = createWebClient(web.socket);
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => stranger.call("POST", "/api/session", { name: "suji", password: "wrong" })),
  );
  const count = (status: number) => answers.filter((one) => one.status === status).length;
  expect(count(401)).toBeLessThanOrEqual(10);
  expect(count(401) + count(429) + count(503)).toBe(60);
  await stranger.call("POST", "/api/session", { name: "suji", password: "wrong" });
  expect((await stranger.signIn("suji")).status).toBe(429);
  const again = (password: string) =>
    createWebClient(web.socket).call("POST", "/api/session", { name: "suji", password }, { cookie: device });
  expect((await again(PASSWORD)).status).toBe(200);
  await services.sql.query("DELETE FROM owl.login_failure");
});

test("a wrong present password, often, closes changing it, not signing in", async () => {
  await client.call("POST", "/internal/users", { name: "nari", password: PASSWORD });
  const nari = createWebClient(web.socket);
  await nari.signIn("nari");
  const change = () =>
    nari.call("PUT", "/api/session/password", { password: "wrong", newPassword: "another long one" });
  for (let n = 0; n < 10; n++) expect((await change()).status).toBe(401);
  expect((await change()).status).toBe(429);
  expect((await createWebClient(web.socket).signIn("nari")).status).toBe(200);
});

test("an API token opens what its scopes say and nothing else, is stored hashed, told once, and ends when it is revoked", async () => {
  const path = "/api/account/tokens";
  const wanted = { name: "nightly", scopes: ["chat:write"], expiresInDays: 30, password: PASSWORD };
  expect(await member.call("POST", path, { ...wanted, password: "a wrong password" })).toMatchObject({
    status: 401,
    body: { code: "session.wrong" },
  });
  for (const change of [{ scopes: [] }, { scopes: ["admin"] }, { expiresInDays: 366 }, { name: " " }])
    expect((await member.call("POST", path, { ...wanted, ...change })).status).toBe(400);
  const made = await member.call("POST", path, wanted);
  expect(made).toMatchObject({ status: 201, body: { token: expect.stringMatching(/^owl_[\w-]{43}$/) } });
  const { id, token, prefix } = made.body;
  const { rows } = await services.sql.query("SELECT * FROM owl.api_token");
  expect(rows[0].hash.equals(createHash("sha256").update(token).digest())).toBe(true);
  expect(JSON.stringify(rows)).not.toContain(token.slice(12));

  const script = createWebClient(web.socket);
  const bearer = { authorization: `Bearer ${token}` };
  const ask = (method: string, to: string, body?: unknown) => script.call(method, to, body, bearer);
  const conversation = await ask("POST", "/api/conversations", { title: "by a script" });
  expect(conversation.status).toBe(201);
  expect((await member.call("GET", `/api/conversations/${conversation.body.id}`)).body.title).toBe("by a script");
  expect(await ask("GET", "/api/conversations")).toMatchObject({
    status: 403,
    body: { code: "token.scope", data: { scope: "chat:read" } },
  });
  for (const [method, to, body] of [
    ["GET", path, undefined],
    ["POST", path, wanted],
    ["DELETE", `${path}/${id}`, undefined],
    ["GET", "/api/session", undefined],
    ["PUT", "/api/session/password", { password: PASSWORD, newPassword: `${PASSWORD}!` }],
    ["GET", "/api/account/export", undefined],
    ["POST", `/api/turns/${NOWHERE}/steps/0/answer`, { answer: "allow", argumentHash: "x" }],
    ["GET", "/api/admin/users", undefined],
  ] as const)
    expect(await ask(method, to, body), to).toMatchObject({ status: 403, body: { code: "token.scope" } });
  // A session beside it opens nothing more; a Bearer of somebody else's is no word of ours.
  expect((await member.call("GET", "/api/session", undefined, bearer)).status).toBe(403);
  expect((await member.call("GET", "/api/session", undefined, { authorization: "Bearer x.y.z" })).status).toBe(200);

  expect((await member.call("GET", path)).body.items).toMatchObject([
    { id, name: "nightly", prefix, scopes: ["chat:write"], usedAt: expect.any(String) },
  ]);
  expect(token.startsWith(prefix)).toBe(true);
  expect((await client.call("DELETE", `${path}/${id}`)).status).toBe(404);
  await services.sql.query("UPDATE owl.api_token SET expires_at = clock_timestamp() WHERE id = $1", [id]);
  expect(await ask("POST", "/api/conversations", {})).toMatchObject({ status: 401, body: { code: "token.wrong" } });
  const other = (await member.call("POST", path, wanted)).body;
  expect((await member.call("DELETE", `${path}/${other.id}`)).status).toBe(204);
  const revoked = { authorization: `Bearer ${other.token}` };
  expect((await script.call("POST", "/api/conversations", {}, revoked)).status).toBe(401);
  const told = await services.sql.query(
    "SELECT action, target FROM owl.audit WHERE account_name = 'mina' AND action LIKE 'token.%' ORDER BY id",
  );
  expect(told.rows).toEqual([
    { action: "token.made", target: prefix },
    { action: "token.made", target: other.prefix },
    { action: "token.revoked", target: other.prefix },
  ]);
});

/** What an authenticator app shows `ahead` steps of thirty seconds from now. */
function codeOf(secret: string, ahead: number): string {
  const bits = [...secret].map((one) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(one).toString(2).padStart(5, "0"));
  const key = Buffer.from((bits.join("").match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(systemClock.now() / 30_000) + ahead));
  const digest = createHmac("sha1", key).update(counter).digest();
  const number = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, "0");
}

test("with a second factor a password alone signs nobody in; a code and a recovery code are taken once each", async () => {
  await client.call("POST", "/internal/users", { name: "fay", role: "user", password: PASSWORD });
  const fay = createWebClient(web.socket);
  await fay.signIn("fay");
  const path = "/api/account/second-factor";
  expect((await fay.call("POST", path, { password: "a wrong password" })).status).toBe(401);
  const { secret } = (await fay.call("POST", path, { password: PASSWORD })).body;
  const enter = (code?: string) =>
    createWebClient(web.socket).call("POST", "/api/session", { name: "fay", password: PASSWORD, code });
  // Begun is not on: an app that never got the secret locks nobody out.
  expect((await enter()).status).toBe(200);
  expect((await fay.call("POST", `${path}/confirm`, { code: "000000x" })).body.code).toBe("factor.wrong");
  const confirmed = await fay.call("POST", `${path}/confirm`, { code: codeOf(secret, 0) });
  expect(confirmed.status).toBe(200);
  const [spare, other] = confirmed.body.recoveryCodes;
  expect(confirmed.body.recoveryCodes).toHaveLength(10);

  for (let n = 0; n < 12; n++) expect(await enter()).toMatchObject({ status: 401, body: { code: "session.code" } });
  const code = codeOf(secret, 1);
  expect((await enter(code)).status).toBe(200);
  expect(await enter(code)).toMatchObject({ status: 401, body: { code: "session.code" } });
  expect((await enter(spare.toUpperCase().replaceAll("-", " "))).status).toBe(200);
  expect((await enter(spare)).status).toBe(401);
  expect((await fay.call("GET", path)).body).toEqual({ since: expect.any(String), recoveryCodes: 9 });
  expect((await fay.call("POST", path, { password: PASSWORD })).body.code).toBe("factor.conflict");
  expect((await fay.call("POST", `${path}/remove`, { password: PASSWORD, code: "000000x" })).status).toBe(401);
  expect((await fay.call("GET", "/api/session")).status).toBe(200);
  expect((await fay.call("POST", `${path}/remove`, { password: PASSWORD, code: other })).status).toBe(204);
  expect((await enter()).status).toBe(200);
  const { rows } = await services.sql.query(
    "SELECT action FROM owl.audit WHERE account_name = 'fay' AND action LIKE 'factor.%' ORDER BY id",
  );
  expect(rows.map(({ action }) => action)).toEqual(["factor.on", "factor.off"]);
});

test("wrong codes are limited however the password is tried in between; an administrator's reset turns it off", async () => {
  await client.call("POST", "/internal/users", { name: "gil", role: "user", password: PASSWORD });
  const gil = createWebClient(web.socket);
  await gil.signIn("gil");
  const path = "/api/account/second-factor";
  const { secret } = (await gil.call("POST", path, { password: PASSWORD })).body;
  await gil.call("POST", `${path}/confirm`, { code: codeOf(secret, 0) });
  const enter = (n: number, code?: string) => {
    const from = { "x-forwarded-for": `203.0.113.${n}` };
    return createWebClient(web.socket).call("POST", "/api/session", { name: "gil", password: PASSWORD, code }, from);
  };
  for (let n = 0; n < 10; n++) {
    expect((await enter(n)).body.code).toBe("session.code");
    expect((await enter(n, "000000x")).body.code).toBe("session.code");
  }
  expect(await enter(20, codeOf(secret, 1))).toMatchObject({ status: 429, body: { code: "session.tooMany" } });
  expect((await client.call("POST", "/api/admin/users/gil/password", { password: `${PASSWORD}!` })).status).toBe(200);
  const after = createWebClient(web.socket);
  expect((await after.call("POST", "/api/session", { name: "gil", password: `${PASSWORD}!` })).status).toBe(200);
});

test("a hash of older figures is known, and replaced at the next sign-in", async () => {
  await client.call("POST", "/internal/users", { name: "old", password: PASSWORD });
  const salt = Buffer.alloc(16, 1);
  const key = scryptSync(PASSWORD, salt, 32, { N: 2 ** 14, r: 8, p: 1 });
  const hash = `scrypt$16384$8$1$${salt.toString("base64url")}$${key.toString("base64url")}`;
  await services.sql.query("UPDATE owl.account SET password_hash = $1 WHERE name = 'old'", [hash]);
  expect((await createWebClient(web.socket).signIn("old")).status).toBe(200);
  const { rows } = await services.sql.query("SELECT password_hash AS hash FROM owl.account WHERE name = 'old'");
  expect(rows[0].hash).toMatch(/^scrypt\$32768\$8\$3\$/);
  expect((await createWebClient(web.socket).signIn("old")).status).toBe(200);
});

test("until a first password is changed everything else is closed; the change gives the session a new id", async () => {
  const { password } = (await client.call("POST", "/api/admin/users", { name: "new", role: "member" })).body;
  const one = createWebClient(web.socket);
  const before = String((await one.signIn("new", password)).headers["set-cookie"]);
  expect(await one.call("GET", "/api/conversations")).toMatchObject({
    status: 403,
    body: { code: "password.initial" },
  });
  expect((await one.call("GET", "/api/session")).body).toMatchObject({ initialPassword: true });
  const put = (newPassword: string) => one.call("PUT", "/api/session/password", { password, newPassword });
  expect((await put(password)).status).toBe(400);
  const changed = await put("a password of my own");
  expect(changed).toMatchObject({ status: 204 });
  const idOf = (text: string) => /owl_session=([\w-]+)/.exec(text)?.[1] ?? "";
  const [old, next] = [idOf(before), idOf(String(changed.headers["set-cookie"]))];
  expect(next).not.toBe(old);
  const asking = (id: string) =>
    createWebClient(web.socket).call("GET", "/api/conversations", undefined, { cookie: `owl_session=${id}` });
  expect((await asking(old)).status).toBe(401);
  const answer = await asking(next);
  expect(answer.status).toBe(200);
  expect(answer.headers["cache-control"]).toBe("no-store");
});

test("two administrators who disable each other at once: one of them stays", async () => {
  for (const name of ["first", "second"]) {
    await client.call("POST", "/internal/users", { name, role: "admin", password: PASSWORD });
  }
  await services.sql.query(
    "UPDATE owl.account SET disabled_at = clock_timestamp() WHERE name NOT IN ('first', 'second')",
  );
  const answers = await Promise.all(
    ["first", "second"].map((name) => client.call("POST", `/internal/users/${name}/disable`, {})),
  );
  await services.sql.query(
    "UPDATE owl.account SET disabled_at = CASE WHEN name IN ('first', 'second') THEN clock_timestamp() END",
  );
  expect(answers.map((one) => one.status).sort()).toEqual([200, 409]);
});

test("what owlctl asks through owld: accounts and turn lengths; nothing of it through the proxy", async () => {
  const made = await client.call("POST", "/internal/users", { name: "lee" });
  expect(made).toMatchObject({ status: 201, body: { name: "lee", password: expect.stringMatching(/^[\w-]{16}$/) } });
  const lee = createWebClient(web.socket);
  expect((await lee.signIn("lee", made.body.password)).body).toMatchObject({ initialPassword: true });
  expect((await client.call("POST", "/internal/users", { name: "LEE" })).status).toBe(409);
  expect((await client.call("POST", "/internal/users/lee/password", {})).body.password).not.toBe(made.body.password);
  expect((await lee.call("GET", "/api/session")).status).toBe(401);
  expect((await client.call("POST", "/internal/users/lee/disable", {})).status).toBe(200);
  expect((await client.call("POST", "/internal/users/admin/disable", {})).status).toBe(409);
  expect((await client.call("DELETE", "/internal/users/admin")).status).toBe(409);
  expect((await client.call("POST", "/internal/users/nobody/disable", {})).status).toBe(404);
  const { items } = (await client.call("GET", "/internal/users")).body;
  expect(items.find((one: { name: string }) => one.name === "lee")).toMatchObject({ role: "user", disabled: true });
  expect((await client.call("GET", "/internal/turns?sinceMs=3600000")).body).toMatchObject({ finishMs: 3_000 });
  for (const path of ["/internal/users", "/internal/turns", "/readyz", "/healthz"]) {
    expect((await client.call("GET", path, undefined, { "x-forwarded-for": "10.0.0.1" })).status, path).toBe(404);
  }
});

test("a deleted account is signed out, erased with what it owned, and its name is free again", async () => {
  const made = await client.call("POST", "/api/admin/users", { name: "gone", role: "member", password: PASSWORD });
  expect(made.status).toBe(201);
  const { rows } = await services.sql.query("SELECT id FROM owl.account WHERE name = 'gone'");
  await services.sql.query("INSERT INTO owl.conversation (id, account_id) VALUES (gen_random_uuid(), $1)", [
    rows[0].id,
  ]);
  expect((await client.call("DELETE", "/api/admin/users/gone")).status).toBe(204);
  expect((await client.call("DELETE", "/api/admin/users/gone")).status).toBe(404);
  const { items } = (await client.call("GET", "/api/admin/users")).body;
  expect(items.some((one: { name: string }) => /gone|deleted/.test(one.name))).toBe(false);
  const left = async () => (await services.sql.query("SELECT 1 FROM owl.account WHERE id = $1", [rows[0].id])).rowCount;
  await expect.poll(left, { timeout: 60_000 }).toBe(0);
  const again = await client.call("POST", "/api/admin/users", { name: "gone", role: "member", password: PASSWORD });
  expect(again.status).toBe(201);
});

test("approving writes a row for owld and nothing else; one at a time; every act is in the audit trail", async () => {
  expect((await client.call("POST", "/api/admin/update/approve", { version: "9.9.9" })).status).toBe(404);
  await services.sql.query(
    "INSERT INTO owl.release_offer (version, manifest, notes) VALUES ('1.1.0', '{}', 'Faster.')",
  );
  const approved = await client.call("POST", "/api/admin/update/approve", { version: "1.1.0" });
  expect(approved.status).toBe(202);
  expect(await client.call("POST", "/api/admin/restart", {})).toMatchObject({
    status: 409,
    body: { code: "approval.open" },
  });
  const { body } = await client.call("GET", "/api/admin/update");
  expect(body.offers).toMatchObject([{ version: "1.1.0", notes: "Faster." }]);
  expect(body.approvals).toMatchObject([
    { id: approved.body.approvalId, kind: "update", version: "1.1.0", by: "admin", state: "waiting" },
  ]);
  await services.sql.query("UPDATE owl.approval SET state = 'succeeded', ended_at = now()");
  expect((await client.call("POST", "/api/admin/restart", { services: ["web"] })).status).toBe(202);
  const audit = (await client.call("GET", "/api/admin/audit")).body.items;
  expect(audit.slice(0, 2)).toMatchObject([
    { action: "restart.asked", target: "web", account: "admin" },
    { action: "update.approved", target: "1.1.0", account: "admin" },
  ]);
});

test("the administrator's page reads what owld wrote, workers, queues and turn lengths", async () => {
  await services.sql.query(`INSERT INTO owl.system_status (status) VALUES ('{"state":"steady"}')`);
  const { body } = await client.call("GET", "/api/admin/system");
  expect(body).toMatchObject({ status: { state: "steady" }, workers: [], release: "test" });
  expect(body.queues.map((one: { kind: string }) => one.kind)).toEqual([
    "chat",
    "transcription",
    "playbook",
    "schema-analysis",
  ]);
});

test("the API document names every public path with examples and problems", async () => {
  const { body } = await client.call("GET", "/api/openapi.json");
  expect(Object.keys(body.paths)).toEqual(
    expect.arrayContaining([
      "/api/session",
      "/api/conversations",
      "/api/conversations/{id}",
      "/api/conversations/{id}/turns",
      "/api/turns/{id}",
      "/api/turns/{id}/events",
      "/api/turns/{id}/stop",
      "/api/admin/system",
      "/api/admin/update",
      "/api/admin/update/approve",
      "/api/admin/restart",
    ]),
  );
  expect(Object.keys(body.paths).filter((path) => path.startsWith("/internal"))).toEqual([]);
  const asking = body.paths["/api/conversations/{id}/turns"].post;
  expect(asking.security).toEqual([{ session: [] }, { token: ["chat:write"] }]);
  expect(JSON.stringify(asking.requestBody)).toContain("SELECT 6 * 7 AS answer");
  expect(Object.keys(asking.responses)).toEqual(expect.arrayContaining(["202", "4XX"]));
});

test("pages may run no inline script and load nothing from elsewhere", async () => {
  const { headers } = await client.call("GET", "/api/session");
  const policy = String(headers["content-security-policy"]);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toContain("unsafe-inline");
});
