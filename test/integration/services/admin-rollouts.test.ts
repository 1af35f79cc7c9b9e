// Rollouts on the administration's API: what owld told is read, what is asked for is one row and one line in the trail.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
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

beforeAll(async () => {
  services = await startServices();
  const started = await services.web();
  web = started;
  client = started.client;
  await client.signIn();
  await client.call("POST", "/internal/users", { name: "Mina", role: "user", password: PASSWORD });
  member = createWebClient(web.socket);
  await member.signIn("mina");
});
afterAll(() => services?.stop());

const rollout = (n: number, more: object = {}) => ({
  id: `r-${n}`,
  kind: "restart",
  state: "succeeded",
  startedAt: `2026-01-01T00:0${n}:00.000Z`,
  endedAt: `2026-01-01T00:0${n}:30.000Z`,
  reason: null,
  steps: [{ n: 1, service: "web", action: "start", instance: "web-1", state: "done", startedAt: null, elapsedMs: 5 }],
  ledger: { requestsFailed: 0 },
  notes: [],
  ...more,
});

beforeEach(async () => {
  await services.sql.query(
    "TRUNCATE owl.rollout_report, owl.rollout_cancel, owl.rollback_offer, owl.approval, owl.system_status, owl.audit",
  );
  for (const one of [rollout(1, { askedBy: "admin" }), rollout(2, { kind: "update", state: "failed", reason: "no" })])
    await services.sql.query("INSERT INTO owl.rollout_report (id, started_at, rollout) VALUES ($1, $2, $3)", [
      one.id,
      one.startedAt,
      one,
    ]);
  await services.sql.query("INSERT INTO owl.system_status (id, status) VALUES (1, $1)", [
    { state: "rolling", rollout: rollout(3, { state: "running", endedAt: null }) },
  ]);
  await services.sql.query(
    "INSERT INTO owl.rollback_offer (version, place, plan) VALUES ('1.0.0', 1, $1), ('0.9.0', 2, $2)",
    [
      { verdict: "planned", restores: true, closedMs: 1, lost: { count: 3 }, newerJobs: 0 },
      { verdict: "refused", reason: "No copy is here.", next: "Update instead." },
    ],
  );
});

const trail = async () => (await client.call("GET", "/api/admin/audit")).body.items;
const cancels = async () =>
  (await services.sql.query("SELECT rollout, account_name, state FROM owl.rollout_cancel")).rows;

test("past rollouts are listed newest first without their steps, and shown whole one by one", async () => {
  await services.sql.query(
    `INSERT INTO owl.rollout_cancel (id, rollout, account_name, state, created_at)
     VALUES (gen_random_uuid(), 'r-2', 'admin', 'refused', '2026-01-01T00:02:31Z')`,
  );
  const { items } = (await client.call("GET", "/api/admin/rollouts")).body;
  expect(items).toMatchObject([
    { id: "r-2", kind: "update", state: "failed", reason: "no", cancels: [{ by: "admin", state: "refused" }] },
    { id: "r-1", kind: "restart", state: "succeeded", askedBy: "admin", cancels: [] },
  ]);
  expect(items[0]).not.toHaveProperty("steps");
  expect((await client.call("GET", "/api/admin/rollouts/r-1")).body).toEqual(rollout(1, { askedBy: "admin" }));
  expect(await client.call("GET", "/api/admin/rollouts/r-9")).toMatchObject({
    status: 404,
    body: { code: "rollout.notFound" },
  });
  expect((await client.call("GET", "/api/admin/rollouts/..%2fx")).status).toBe(400);
});

test("cancelling writes one wish for the rollout that runs, however often it is pressed", async () => {
  const key = { "idempotency-key": "cancel-once" };
  const path = "/api/admin/rollouts/r-3/cancel";
  const both = await Promise.all([1, 2].map(() => client.call("POST", path, undefined, key)));
  expect(both.map(({ status }) => status)).toEqual([202, 202]);
  expect(both[0]?.body).toEqual(both[1]?.body);
  expect(await client.call("POST", path)).toMatchObject({ status: 409, body: { code: "cancel.open" } });
  expect(await cancels()).toEqual([{ rollout: "r-3", account_name: "admin", state: "waiting" }]);
  expect(await trail()).toMatchObject([{ action: "rollout.cancelAsked", target: "r-3", account: "admin" }]);
});

test("a rollout that has ended is not cancelled, and the answer says so; one that never was is not found", async () => {
  expect(await client.call("POST", "/api/admin/rollouts/r-2/cancel")).toMatchObject({
    status: 409,
    body: { code: "rollout.ended", detail: expect.stringContaining("r-2 has ended already") },
  });
  expect((await client.call("POST", "/api/admin/rollouts/r-7/cancel")).status).toBe(404);
  expect(await cancels()).toEqual([]);
  expect(await trail()).toEqual([]);
});

test("a rollback is approved once, only to a release that is offered and can be gone back to", async () => {
  expect((await client.call("GET", "/api/admin/update")).body.rollbacks).toMatchObject([
    { version: "1.0.0", plan: { restores: true, lost: { count: 3 } } },
    { version: "0.9.0", plan: { verdict: "refused" } },
  ]);
  const approve = (version: string) => client.call("POST", "/api/admin/rollback/approve", { version });
  expect(await approve("5.0.0")).toMatchObject({ status: 404, body: { code: "release.notFound" } });
  expect(await approve("0.9.0")).toMatchObject({
    status: 409,
    body: { detail: "No copy is here.", next: "Update instead." },
  });
  const both = await Promise.all([approve("1.0.0"), approve("1.0.0")]);
  expect(both.map(({ status }) => status).sort()).toEqual([202, 409]);
  const { rows } = await services.sql.query("SELECT kind, version, state, account_name FROM owl.approval");
  expect(rows).toEqual([{ kind: "rollback", version: "1.0.0", state: "waiting", account_name: "admin" }]);
  expect(await trail()).toMatchObject([{ action: "rollback.approved", target: "1.0.0", account: "admin" }]);
});

test("none of it is there for a member, for a stranger or for a page of another origin", async () => {
  const anonymous = createWebClient(web.socket);
  for (const [method, path, body] of [
    ["GET", "/api/admin/rollouts", undefined],
    ["GET", "/api/admin/rollouts/r-1", undefined],
    ["POST", "/api/admin/rollouts/r-3/cancel", undefined],
    ["POST", "/api/admin/rollback/approve", { version: "1.0.0" }],
  ] as const) {
    expect(await member.call(method, path, body), path).toMatchObject({ status: 403, body: { code: "request.role" } });
    expect((await anonymous.call(method, path, body)).status, path).toBe(401);
    if (method === "GET") continue;
    expect(await client.call(method, path, body, { origin: "http://evil.test" }), path).toMatchObject({
      status: 403,
      body: { code: "request.origin" },
    });
  }
  expect(await cancels()).toEqual([]);
  expect((await services.sql.query("SELECT 1 FROM owl.approval")).rows).toEqual([]);
});

test("the API document names these paths with their refusals", async () => {
  const { paths } = (await client.call("GET", "/api/openapi.json")).body;
  expect(Object.keys(paths["/api/admin/rollouts/{id}/cancel"].post.responses)).toEqual(
    expect.arrayContaining(["202", "4XX"]),
  );
  expect(Object.keys(paths["/api/admin/rollback/approve"].post.responses)).toEqual(
    expect.arrayContaining(["202", "4XX"]),
  );
  expect(paths).toHaveProperty(["/api/admin/rollouts"]);
  expect(paths).toHaveProperty(["/api/admin/rollouts/{id}"]);
});
