// The web API's guards on a real process: sessions, ownership, roles, origins, bad input, idempotency, documents.

import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
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

test("a conversation lies in one folder, which is there as long as something lies in it", async () => {
  const { id, folder } = (await member.call("POST", "/api/conversations", { title: "lies in it", folder: "업무" }))
    .body;
  expect(folder).toBe("업무");
  const list = async (query = "") => (await member.call("GET", `/api/conversations?${query}`)).body;
  const ids = async (query = "") => (await list(query)).items.map((one: { id: string }) => one.id);
  const there = `folder=${encodeURIComponent("업무")}`;
  expect([await ids(there), (await ids()).includes(id)]).toEqual([[id], false]);
  expect((await list()).folders).toEqual([{ name: "업무", count: 1 }]);
  expect(await ids("search=lies%20in")).toEqual([id]);
  const move = (who: WebClient, to: unknown) => who.call("PATCH", `/api/conversations/${id}`, { folder: to });
  for (const to of ["", " x", "x ", "x".repeat(61), "a\u0000b", 7])
    expect([to, (await move(member, to)).status]).toEqual([to, 400]);
  expect((await move(client, "mine")).status).toBe(404);
  expect((await move(member, "둘")).body.folder).toBe("둘");
  expect([await ids(there), (await list()).folders]).toEqual([[], [{ name: "둘", count: 1 }]]);
  expect((await move(member, null)).body.folder).toBeNull();
  expect([(await ids()).includes(id), (await list()).folders]).toEqual([true, []]);
  await member.call("DELETE", `/api/conversations/${id}`);
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
