// Accounts on a real process: passwords and tries, API tokens, second factors, first passwords, deletion.

import { createHash, createHmac, scryptSync } from "node:crypto";
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

test("of an account's sessions those seen last are kept, so many and no more", async () => {
  await services.sql.query(
    `INSERT INTO owl.session (id_hash, account_id, seen_at, expires_at)
     SELECT sha256(n::text::bytea), a.id, now() - interval '1 day', now() + interval '1 day'
       FROM owl.account a, generate_series(1, 600) n WHERE a.name = 'mina'`,
  );
  expect((await createWebClient(web.socket).signIn("mina")).status).toBe(200);
  const { rows } = await services.sql.query(
    "SELECT count(*)::int AS n FROM owl.session s JOIN owl.account a ON a.id = s.account_id WHERE a.name = 'mina'",
  );
  expect(rows).toEqual([{ n: 500 }]);
  expect((await member.call("GET", "/api/session")).status).toBe(200);
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
