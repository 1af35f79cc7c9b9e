// Calls that a person allows first, over real workers, a model endpoint, a counting HTTP server and a mail server: asked
// once, answered once, called at most once.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startTestModel, type TestModel } from "../../support/model.ts";
import {
  createWebClient,
  type Program,
  type Services,
  startServices,
  until,
  type WebClient,
} from "../../support/services.ts";

let model: TestModel;
let services: Services;
let worker: Program;
let admin: WebClient;
let mina: WebClient;
let other: WebClient;
let http: Server;
let httpUrl: string;
let smtp: SMTPServer;
const bodies: string[] = [];
const mails: string[] = [];

beforeAll(async () => {
  model = await startTestModel();
  http = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    response.writeHead(200, { "content-type": "application/json" });
    response.end("{}");
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  httpUrl = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    onData(stream, _session, done) {
      let text = "";
      stream.on("data", (chunk) => {
        text += chunk;
      });
      stream.on("end", () => {
        mails.push(text);
        done();
      });
    },
  });
  await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", () => resolve()));
  services = await startServices({
    model: { baseUrl: model.baseUrl, apiKey: "x", name: "m" },
    mail: { smtp: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`, from: "owl@example.org" },
    tools: {
      http: { allow: ["127.0.0.1"] },
      approval: ["run_sql"],
      approvalOf: "members",
      approvers: "administrators",
    },
    heartbeat: { intervalMs: 500, stalledAfterMs: 60_000 },
  });
  const program = await services.web();
  admin = program.client;
  await admin.signIn();
  const signedIn = async (name: string): Promise<WebClient> => {
    const password = "correct horse battery";
    expect((await admin.call("POST", "/api/admin/users", { name, role: "member", password })).status).toBe(201);
    const client = createWebClient(program.socket);
    expect((await client.signIn(name, password)).status).toBe(200);
    return client;
  };
  [mina, other] = await Promise.all([signedIn("mina@example.org"), signedIn("jun")]);
  worker = await services.worker();
});
afterAll(async () => {
  await services?.stop();
  await model?.stop();
  smtp?.close(() => undefined);
  http?.closeAllConnections();
  http?.close();
});
beforeEach(() => {
  bodies.length = 0;
});

const stopWorker = async () => {
  worker.child.kill("SIGTERM");
  await worker.exited;
};
interface Asked {
  readonly n: number;
  readonly name: string;
  readonly argumentHash: string;
  readonly asks: string;
  readonly input: unknown;
}
const word = (client: WebClient, path: string, asked: Asked, answer: string) =>
  client.call("POST", `${path}/steps/${asked.n}/answer`, {
    answer,
    name: asked.name,
    argumentHash: asked.argumentHash,
  });
const waiting = (path: string): Promise<Asked> =>
  until(`${path} waits`, async () => {
    const { body } = await mina.call("GET", path);
    return body.state === "waiting" && body.waitsFor[0];
  });
const reached = (path: string, state: string) =>
  until(`${path} is ${state}`, async () => {
    const { body } = await mina.call("GET", path);
    return body.state === state && body;
  });

test("a tool of tools.approval waits for its owner, without a job, over a worker's end; of two clicks one is taken", async () => {
  const { turnId, conversation } = await mina.ask("sql: SELECT 6 * 7 AS n");
  const path = `/api/turns/${turnId}`;
  const asked = await waiting(path);
  expect(asked).toMatchObject({ name: "run_sql", asks: "approval", input: { sql: "SELECT 6 * 7 AS n" } });
  const { rows: jobs } = await services.sql.query(
    "SELECT count(*)::int AS n FROM pgboss.job WHERE data->>'id' = $1 AND state < 'completed'",
    [turnId],
  );
  expect(jobs).toEqual([{ n: 0 }]);
  const { items } = (await mina.call("GET", "/api/conversations")).body;
  expect(items[0]).toMatchObject({ id: conversation, turnState: "waiting" });
  const mail = await until("its owner is told", () => mails.find((text) => text.includes(`/c/${conversation}`)));
  expect(mail).toMatch(/^To: mina@example\.org/m);

  await stopWorker();
  const clicks = await Promise.all([1, 2].map(() => word(mina, path, asked, "allow")));
  expect(clicks.map(({ status }) => status).sort()).toEqual([202, 409]);
  expect(clicks.find(({ status }) => status === 409)?.body.code).toBe("step.answered");
  worker = await services.worker();
  const turn = await mina.ended(turnId);
  expect(turn).toMatchObject({ state: "answered", waitsFor: [] });
  expect(turn.answer).toContain("42");
  expect((await word(mina, path, asked, "refuse")).body.code).toBe("step.answered");
  const { body: receipt } = await mina.call("GET", `${path}/steps`);
  const finished = { state: "finished", release: expect.any(String), endedAt: expect.any(String) };
  expect(receipt).toMatchObject({
    attempts: 2,
    losses: 0,
    steps: [
      { ...finished, kind: "model", attempt: 1, input: { model: "m" } },
      { ...finished, kind: "tool", attempt: 2, name: "run_sql", input: { sql: "SELECT 6 * 7 AS n" }, rows: 1 },
      { ...finished, kind: "model", attempt: 2 },
    ],
  });
  expect((await other.call("GET", `${path}/steps`)).body.code).toBe("turn.notFound");
});

test("refused by an administrator, the model is told so and answers; nobody else may answer", async () => {
  const { turnId } = await mina.ask("sql: SELECT 1 AS n");
  const path = `/api/turns/${turnId}`;
  const asked = await waiting(path);
  expect((await word(other, path, asked, "allow")).body.code).toBe("turn.notFound");
  const job = await admin.call("GET", `/api/admin/jobs/chat/${turnId}`);
  expect(job.body.waitsFor).toEqual([expect.objectContaining({ n: asked.n, asks: "approval" })]);
  expect((await word(admin, path, asked, "stop")).body.code).toBe("turn.notFound");
  expect((await word(admin, path, asked, "refuse")).status).toBe(202);
  const turn = await mina.ended(turnId);
  expect(turn.state).toBe("answered");
  expect(turn.answer).toContain("not allowed by admin");
  expect(turn.tools.at(-1)).toMatchObject({ name: "run_sql", state: "failed" });
});

test("where only members' calls wait, an administrator's is made at once", async () => {
  const { turnId } = await admin.ask("sql: SELECT 40 + 2 AS n");
  const turn = await admin.ended(turnId);
  expect(turn).toMatchObject({ state: "answered", answer: expect.stringContaining("42") });
  const { body: receipt } = await admin.call("GET", `/api/turns/${turnId}/steps`);
  expect(receipt.attempts).toBe(1);
});

async function startRun(body: object): Promise<string> {
  const input = { url: `${httpUrl}/act`, method: "POST", body };
  const steps = [{ id: "act", tool: "http", input, approval: true }];
  const made = await mina.call("POST", "/api/playbooks", { name: "test", steps });
  expect(made.status).toBe(201);
  const { runId } = (await mina.call("POST", `/api/playbooks/${made.body.id}/runs`)).body;
  return `/api/playbook-runs/${runId}`;
}

test("a playbook's step with approval is called once it is allowed; refused, the run ends with the reason", async () => {
  const allowed = await startRun({ n: 1 });
  const asked = await waiting(allowed);
  expect(bodies).toEqual([]);
  const another = { ...asked, argumentHash: "another" };
  expect((await word(mina, allowed, another, "allow")).body.code).toBe("step.notWaiting");
  expect((await word(mina, allowed, asked, "again")).body.code).toBe("step.notWaiting");
  expect((await word(mina, allowed, asked, "allow")).status).toBe(202);
  await reached(allowed, "done");
  expect(bodies).toEqual(['{"n":1}']);

  const refused = await startRun({ n: 2 });
  expect((await word(mina, refused, await waiting(refused), "refuse")).status).toBe(202);
  const run = await reached(refused, "failed");
  expect(run).toMatchObject({ stoppedAtStep: "act", steps: [expect.objectContaining({ state: "failed" })] });
  expect(run.message).toContain("not allowed by mina@example.org");
  expect(bodies).toHaveLength(1);
});

test("what was allowed with one argument is asked anew with another", async () => {
  const path = await startRun({ n: 3 });
  const first = await waiting(path);
  await stopWorker();
  expect((await word(mina, path, first, "allow")).status).toBe(202);
  await services.sql.query(
    `UPDATE owl.playbook_run SET steps = jsonb_set(steps, '{0,input,body,n}', '4') WHERE id = $1`,
    [path.split("/").at(-1)],
  );
  worker = await services.worker();
  const second = await waiting(path);
  expect(second.argumentHash).not.toBe(first.argumentHash);
  expect(bodies).toEqual([]);
  expect((await word(mina, path, first, "allow")).body.code).toBe("step.notWaiting");
  expect((await word(mina, path, second, "allow")).status).toBe(202);
  await reached(path, "done");
  expect(bodies).toEqual(['{"n":4}']);
});
