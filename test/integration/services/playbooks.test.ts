// Playbook runs over real workers, a real SMTP server and a counting HTTP server: whatever is cut, no tool is called twice.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Services, startServices, until, type WebClient } from "../../support/services.ts";

let services: Services;
let web: WebClient;
let http: Server;
let smtp: SMTPServer;
let httpUrl: string;
const calls: { path: string; key: string; body: string }[] = [];
const mails: string[] = [];
/** Paths (and "mail") whose answer is held back until it is let go. */
const held = new Map<string, PromiseWithResolvers<void>>();

beforeAll(async () => {
  http = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const path = request.url ?? "";
    calls.push({ path, key: String(request.headers["idempotency-key"]), body });
    await held.get(path)?.promise;
    const status = path === "/refuse" ? 422 : path === "/gateway" ? 502 : 200;
    if (path === "/break") return void request.socket.destroy();
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ id: `T-${calls.length}`, url: "http://tickets.test/1", list: [{ n: 7 }] }));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  httpUrl = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    onRcptTo: (address, _session, done) =>
      done(address.address.startsWith("nobody") ? new Error("no such mailbox") : undefined),
    onData(stream, _session, done) {
      let text = "";
      stream.on("data", (chunk) => {
        text += chunk;
      });
      stream.on("end", async () => {
        mails.push(text);
        await held.get("mail")?.promise;
        done();
      });
    },
  });
  await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", () => resolve()));
  const port = (smtp.server.address() as AddressInfo).port;
  services = await startServices({ mail: { smtp: `smtp://127.0.0.1:${port}`, from: "owl@example.org" } });
  web = (await services.web()).client;
  await web.signIn();
});
afterAll(async () => {
  await services.stop();
  smtp.close(() => undefined);
  http.closeAllConnections();
  http.close();
});
beforeEach(() => {
  calls.length = 0;
  mails.length = 0;
  held.clear();
});

const FOUR_TOOLS = () => [
  { id: "ask", tool: "sql", input: { dataSource: "demo", sql: "SELECT 6 * $1::int AS n", values: [7] } },
  {
    id: "call",
    tool: "http",
    input: { url: `${httpUrl}/call`, method: "POST", body: { n: "${steps.ask.output.rows[0].n}" } },
  },
  {
    id: "write",
    tool: "mail",
    input: {
      to: "team@example.org",
      subject: "n is ${steps.ask.output.rows[0].n}",
      text: "list ${steps.call.output.body.list[0].n}",
    },
  },
  { id: "open", tool: "ticket", input: { url: `${httpUrl}/ticket`, title: "Look at ${steps.ask.output.rows[0].n}" } },
];

async function start(steps: readonly object[], lost = "resume"): Promise<string> {
  const { status, body } = await web.call("POST", "/api/playbooks", { name: "test", steps, lost });
  expect([status, body]).toEqual([201, expect.objectContaining({ name: "test" })]);
  const run = await web.call("POST", `/api/playbooks/${body.id}/runs`);
  expect(run.status).toBe(202);
  return run.body.runId;
}
const look = async (id: string) => (await web.call("GET", `/api/playbook-runs/${id}`)).body;
const ended = (id: string) =>
  until(`run ${id} ended`, async () => {
    const run = await look(id);
    return run.endedAt !== null && run;
  });
const states = (run: { steps: readonly { id: string; state: string }[] }) => run.steps.map((step) => step.state);

async function stopWorker(worker: { child: { kill(signal: NodeJS.Signals): boolean }; exited: Promise<unknown> }) {
  worker.child.kill("SIGTERM");
  await worker.exited;
}

describe("a playbook", () => {
  test("runs SQL, HTTP, mail and ticket, each with the outputs of the steps before", async () => {
    const worker = await services.worker();
    const id = await start(FOUR_TOOLS());
    const run = await ended(id);
    expect(run).toMatchObject({ state: "done", message: null, stoppedAtStep: null });
    expect(states(run)).toEqual(["finished", "finished", "finished", "finished"]);
    expect(calls.map((call) => [call.path, call.key])).toEqual([
      ["/call", `${id}:call`],
      ["/ticket", `${id}:open`],
    ]);
    expect(JSON.parse(calls[0]?.body ?? "")).toEqual({ n: 42 });
    expect(JSON.parse(calls[1]?.body ?? "").title).toBe("Look at 42");
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatch(/Subject: n is 42/);
    expect(mails[0]).toMatch(/list 7/);
    expect(run.steps[3].output).toMatchObject({ status: 200, id: "T-2", url: "http://tickets.test/1" });
    const streamed = await web.events(`/api/playbook-runs/${id}/events`);
    expect(streamed.at(-1)?.event).toBe("end");
    await stopWorker(worker);
  });

  test.each([
    ["a refusal", "/refuse", "failed"],
    ["a gateway's failure", "/gateway", "unknown"],
    ["a broken answer", "/break", "unknown"],
  ])("after %s ends there, names the step, and calls nothing more", async (_what, path, state) => {
    const worker = await services.worker();
    const id = await start([
      { id: "first", tool: "http", input: { url: `${httpUrl}/first`, method: "POST" } },
      { id: "second", tool: "http", input: { url: `${httpUrl}${path}`, method: "POST" } },
      { id: "third", tool: "http", input: { url: `${httpUrl}/third`, method: "POST" } },
    ]);
    const run = await ended(id);
    expect(run).toMatchObject({ state: "failed", stoppedAtStep: "second" });
    expect(run.message).toContain("second");
    expect(states(run)).toEqual(["finished", state, "notReached"]);
    expect(calls.map((call) => call.path)).toEqual(["/first", path]);
    await stopWorker(worker);
  });

  test("fails a step whose call cannot have been made: no connection, a refused mailbox, SQL that writes, no value", async () => {
    const worker = await services.worker();
    const cases = [
      [{ id: "a", tool: "http", input: { url: "http://127.0.0.1:1/", method: "POST" } }],
      [{ id: "a", tool: "mail", input: { to: "nobody@example.org", subject: "s", text: "t" } }],
      [{ id: "a", tool: "sql", input: { dataSource: "demo", sql: "DELETE FROM orders" } }],
      [{ id: "a", tool: "sql", input: { dataSource: "gone", sql: "SELECT 1" } }],
      [
        { id: "a", tool: "sql", input: { dataSource: "demo", sql: "SELECT 1 AS n" } },
        { id: "b", tool: "http", input: { url: `${httpUrl}/\${steps.a.output.rows[3].n}` } },
      ],
    ];
    for (const steps of cases) {
      const run = await ended(await start(steps));
      expect([run.state, states(run).at(-1)]).toEqual(["failed", "failed"]);
      expect(run.steps.at(-1).message).toBeTruthy();
    }
    expect(calls).toEqual([]);
    expect(mails).toEqual([]);
    await stopWorker(worker);
  });

  test.each([["/call"], ["mail"], ["/ticket"]])(
    "whose worker is killed during %s, and whose owner chose so, is failed with that step unknown; nothing is called twice",
    async (place) => {
      held.set(place, Promise.withResolvers());
      const worker = await services.worker();
      const other = await services.worker();
      const id = await start(FOUR_TOOLS(), "fail");
      await until("the tool was called", () =>
        place === "mail" ? mails.length === 1 : calls.some((call) => call.path === place),
      );
      const { rows } = await services.sql.query("SELECT claimed_by FROM owl.playbook_run WHERE id = $1", [id]);
      const victim = rows[0]?.claimed_by === worker.id ? worker : other;
      const survivor = victim === worker ? other : worker;
      victim.child.kill("SIGKILL");
      await victim.exited;
      const run = await ended(id);
      held.get(place)?.resolve();
      const at = { "/call": "call", mail: "write", "/ticket": "open" }[place];
      expect(run).toMatchObject({ state: "failed", stoppedAtStep: at });
      expect(run.message).toBeTruthy();
      expect(run.steps.find((step: { id: string }) => step.id === at).state).toBe("unknown");
      const count = new Set(calls.map((call) => call.key)).size;
      expect(count).toBe(calls.length);
      expect(mails.length).toBeLessThanOrEqual(1);
      // The user runs it again: a run of its own.
      held.clear();
      const again = await web.call("POST", `/api/playbooks/${run.playbookId}/runs`);
      expect((await ended(again.body.runId)).state).toBe("done");
      await stopWorker(survivor);
    },
  );

  test("whose worker is killed during its SQL repeats that, and the statement of before ends in the database", async () => {
    const worker = await services.worker();
    const id = await start([
      { id: "before", tool: "http", input: { url: `${httpUrl}/before`, method: "POST" } },
      { id: "long", tool: "sql", input: { dataSource: "demo", sql: "SELECT pg_sleep(230) /* cut-step */" } },
    ]);
    const running = async () => {
      const { rows } = await services.sql.query(
        "SELECT pid FROM pg_stat_activity WHERE query LIKE '%cut-step%' AND pid <> pg_backend_pid() AND state = 'active'",
      );
      return rows.map(({ pid }) => Number(pid));
    };
    const [before] = await until("the statement runs", async () => {
      const pids = await running();
      return pids.length > 0 && pids;
    });
    worker.child.kill("SIGKILL");
    await worker.exited;
    const survivor = await services.worker();
    // Long before its time limit of 240 s: the server has noticed that nobody waits for it.
    await until("another one runs in its stead", async () => {
      const pids = await running();
      return pids.length === 1 && pids[0] !== before;
    });
    expect((await web.call("POST", `/api/playbook-runs/${id}/stop`)).status).toBe(202);
    expect(states(await ended(id))).toEqual(["finished", "failed"]);
    expect(calls.map((call) => call.path)).toEqual(["/before"]);
    await stopWorker(survivor);
  });

  test("runs on through SIGTERM to its end", async () => {
    held.set("/slow", Promise.withResolvers());
    const worker = await services.worker();
    const id = await start([
      { id: "slow", tool: "http", input: { url: `${httpUrl}/slow`, method: "POST" } },
      { id: "then", tool: "http", input: { url: `${httpUrl}/then`, method: "POST" } },
    ]);
    await until("the tool was called", () => calls.length === 1);
    worker.child.kill("SIGTERM");
    await until("the drain began", async () => (await worker.log()).includes("drain"));
    held.get("/slow")?.resolve();
    expect((await worker.exited).code).toBe(0);
    expect((await look(id)).state).toBe("done");
    expect(calls.map((call) => call.path)).toEqual(["/slow", "/then"]);
  });

  test("stopped by its user ends within moments; the step under way is unknown", async () => {
    held.set("/stop", Promise.withResolvers());
    const worker = await services.worker();
    const id = await start([{ id: "long", tool: "http", input: { url: `${httpUrl}/stop`, method: "POST" } }]);
    await until("the tool was called", () => calls.length === 1);
    expect((await web.call("POST", `/api/playbook-runs/${id}/stop`)).status).toBe(202);
    const run = await ended(id);
    expect(run.state).toBe("stopped");
    expect(states(run)).toEqual(["unknown"]);
    held.get("/stop")?.resolve();
    await stopWorker(worker);
    const waiting = await start(FOUR_TOOLS());
    expect((await web.call("DELETE", `/api/playbook-runs/${waiting}`)).body.code).toBe("run.conflict");
    await web.call("POST", `/api/playbook-runs/${waiting}/stop`);
    expect((await look(waiting)).state).toBe("stopped");
    expect((await web.call("DELETE", `/api/playbook-runs/${waiting}`)).status).toBe(204);
    expect((await web.call("DELETE", `/api/playbook-runs/${waiting}`)).status).toBe(404);
  });

  test("that is malformed is refused with step, field and reason, and changes nothing", async () => {
    const count = async () => (await services.sql.query("SELECT count(*)::int AS n FROM owl.playbook")).rows[0].n;
    const before = await count();
    const { status, body } = await web.call("POST", "/api/playbooks", {
      name: "bad",
      steps: [
        { id: "a", tool: "shell", input: {} },
        { id: "a", tool: "http", input: { url: "ftp://x", verb: "GET" } },
        { id: "c", tool: "mail", input: { to: "x@y.z", subject: "${steps.d.output.n}", text: "${oops}" } },
      ],
    });
    expect(status).toBe(400);
    expect(body.code).toBe("playbook.invalid");
    expect(body.data.problems.map((one: { step: string; field: string }) => [one.step, one.field])).toEqual([
      ["a", "tool"],
      ["a", "id"],
      ["a", "input.url"],
      ["a", "input.verb"],
      ["c", "input.subject"],
      ["c", "input.text"],
    ]);
    expect((await web.call("POST", "/api/playbooks", [])).status).toBe(400);
    expect(await count()).toBe(before);
  });
});
