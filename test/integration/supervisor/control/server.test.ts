// The control server over a real Unix socket.

import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import type { Problem } from "../../../../config/control-api.ts";
import { ROUTES } from "../../../../supervisor/control/routes.ts";
import { createControlServer } from "../../../../supervisor/control/server.ts";
import { createFakeControl } from "../../../support/control.ts";
import { poll } from "../../../support/poll.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "owl-control-"));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function setup(directory = makeDirectory()) {
  const socketPath = join(directory, "control.sock");
  const control = createFakeControl();
  const failures: Error[] = [];
  const server = createControlServer({
    control,
    socketPath,
    version: "1.0.0",
    language: () => "en",
    metrics: async () => "owl_up 1\n",
    failed: (error) => failures.push(error),
  });
  await server.start();
  cleanups.push(() => server.stop());

  const open = (
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      request({ socketPath, method, path, headers, agent: false }, resolve).on("error", reject).end(body);
    });
  const text = async (response: IncomingMessage): Promise<string> => {
    let all = "";
    for await (const chunk of response.setEncoding("utf8")) all += chunk;
    return all;
  };
  const call = async (method: string, path: string, body?: unknown) => {
    const payload = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const response = await open(method, path, payload);
    return { status: response.statusCode, headers: response.headers, body: JSON.parse(await text(response)) };
  };
  return { control, server, socketPath, failures, open, call, text };
}

test("the socket is for its owner and group, and is gone after stop", async () => {
  const { server, socketPath } = await setup();
  expect(statSync(socketPath).mode & 0o777).toBe(0o660);
  await server.stop();
  expect(existsSync(socketPath)).toBe(false);
  await server.stop();
});

test("status, rollouts and their plan are plain JSON", async () => {
  const { call } = await setup();
  expect((await call("GET", "/v1/status")).body).toMatchObject({ state: "steady", services: [{ name: "web" }] });
  const plan = await call("POST", "/v1/rollouts/plan", { kind: "restart" });
  expect(plan).toMatchObject({ status: 200, body: { changes: true } });
  const started = await call("POST", "/v1/rollouts", { kind: "restart", services: ["web"] });
  expect(started).toMatchObject({ status: 202, body: { id: "r-1", state: "running" } });
  expect((await call("GET", "/v1/rollouts")).body).toHaveLength(1);
  expect((await call("DELETE", "/v1/rollouts/r-1")).body).toMatchObject({ state: "cancelled" });
});

test("a second rollout is a 409 with the id of the first", async () => {
  const { call } = await setup();
  await call("POST", "/v1/rollouts", { kind: "restart" });
  const second = await call("POST", "/v1/rollouts", { kind: "restart" });
  expect(second.headers["content-type"]).toContain("application/problem+json");
  expect(second).toMatchObject({ status: 409, body: { code: "rollout.busy", data: { rollout: "r-1" } } });
});

test("a watched rollout streams its events and ends with the rollout", async () => {
  const { call, open, control, text } = await setup();
  await call("POST", "/v1/rollouts", { kind: "restart" });
  const response = await open("GET", "/v1/rollouts/r-1/events");
  expect(response.headers["content-type"]).toContain("application/x-ndjson");
  control.endRollout("r-1");
  const lines = (await text(response)).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: "starting" },
    { rollout: "r-1", state: "succeeded" },
  ]);
});

test.each([
  ["POST", "/v1/start/wep", undefined, 404, "instance.unknown", "Did you mean web?"],
  ["GET", "/v1/why/web-11", undefined, 404, "instance.unknown", "Did you mean web-1?"],
  ["GET", "/v1/rollouts/r-9", undefined, 404, "rollout.unknown", undefined],
  ["GET", "/v1/rollouts/r-9/events", undefined, 404, "rollout.unknown", undefined],
  ["POST", "/v1/rollouts", { kind: "restart", services: ["wbe"] }, 404, "service.unknown", "Did you mean web?"],
  ["POST", "/v1/rollouts", { kind: "rebuild" }, 400, "request.invalid", undefined],
  ["POST", "/v1/rollouts", "{", 400, "request.invalid", undefined],
  ["POST", "/v1/rollouts", undefined, 400, "request.invalid", undefined],
  ["POST", "/v1/scale", { web: -1 }, 400, "request.invalid", undefined],
  ["POST", "/v1/scale", {}, 400, "request.invalid", undefined],
  ["GET", "/v1/events?after=x", undefined, 400, "request.invalid", undefined],
  ["GET", "/v1/events?colour=red", undefined, 400, "request.invalid", undefined],
  ["GET", "/v1/logs?grep=x", undefined, 400, "request.invalid", undefined],
  ["GET", "/v1/why/%zz", undefined, 400, "request.invalid", undefined],
  ["POST", "/v1/reload", undefined, 422, "config.invalid", "Did you mean replicas?"],
  ["GET", "/v1/nothing", undefined, 404, "route.unknown", undefined],
  ["PUT", "/v1/status", undefined, 405, "method.notAllowed", undefined],
])("%s %s with %j is refused with %i %s", async (method, path, body, status, code, next) => {
  const { call, failures } = await setup();
  const refused = await call(method, path, body);
  expect(refused).toMatchObject({ status, body: { status, code } });
  if (next !== undefined) expect(refused.body.next).toBe(next);
  expect(failures).toEqual([]);
});

test("a bug is a 500 without its text, told to the log alone", async () => {
  const { call, control, failures } = await setup();
  control.failStatus = new Error("secret of the inside");
  const { status, body } = await call("GET", "/v1/status");
  expect({ status, code: (body as Problem).code }).toEqual({ status: 500, code: "internal" });
  expect(JSON.stringify(body)).not.toContain("secret");
  expect(failures.map(({ message }) => message)).toEqual(["secret of the inside"]);
});

test("each caller is answered in the language it asks for, without one in the installation's", async () => {
  const { open, text, server, socketPath } = await setup();
  const detail = async (accepted?: string): Promise<string> => {
    const headers: Record<string, string> = accepted === undefined ? {} : { "accept-language": accepted };
    return JSON.parse(await text(await open("GET", "/v1/why/wbe", undefined, headers))).detail;
  };
  expect(await detail()).toBe('There is no instance "wbe".');
  expect(await detail("ko-KR, en;q=0.5")).toBe('"wbe"이라는 인스턴스는 없습니다.');
  expect(await detail("fr, en-GB")).toBe('There is no instance "wbe".');
  expect(await detail("fr")).toBe('There is no instance "wbe".');
  await server.stop();
  const korean = createControlServer({
    control: createFakeControl(),
    socketPath,
    version: "1",
    language: () => "ko",
    metrics: async () => "",
    failed: () => undefined,
  });
  await korean.start();
  cleanups.push(() => korean.stop());
  expect(await detail()).toBe('"wbe"이라는 인스턴스는 없습니다.');
  expect(await detail("en")).toBe('There is no instance "wbe".');
});

test("a body over 1 MiB is refused", async () => {
  const { call } = await setup();
  const refused = await call("POST", "/v1/scale", JSON.stringify({ web: 1, pad: "x".repeat(1_100_000) }));
  expect(refused).toMatchObject({ status: 413, body: { code: "request.tooLarge" } });
});

test("an event stream goes on with what happens and ends its source when the client leaves", async () => {
  const { open, control } = await setup();
  control.emit({});
  const response = await open("GET", "/v1/events?follow=1");
  const lines = createInterface({ input: response })[Symbol.asyncIterator]();
  expect(JSON.parse((await lines.next()).value ?? "")).toMatchObject({ id: 1 });
  control.emit({});
  expect(JSON.parse((await lines.next()).value ?? "")).toMatchObject({ id: 2 });
  expect(control.readers()).toBe(1);
  response.destroy();
  await poll(() => control.readers() === 0);
});

test("a reader that does not read holds up nobody, and loses nothing", async () => {
  const { open, control, call, text } = await setup();
  const slow = await open("GET", "/v1/events?follow=1&after=0");
  slow.pause();
  for (let n = 0; n < 3_000; n++) control.emit({ message: "x".repeat(1_000) });
  expect((await call("GET", "/v1/status")).status).toBe(200);
  const quick = await open("GET", "/v1/events");
  expect((await text(quick)).trim().split("\n")).toHaveLength(3_000);
  const lines = createInterface({ input: slow })[Symbol.asyncIterator]();
  for (let n = 1; n <= 3_000; n++) expect(JSON.parse((await lines.next()).value ?? "").id).toBe(n);
  slow.destroy();
});

test("stop ends open streams", async () => {
  const { open, server, text } = await setup();
  const response = await open("GET", "/v1/events?follow=1");
  await server.stop();
  expect(await text(response)).toBe("");
});

test("a stale socket is replaced, a living one and a file are not", async () => {
  const directory = makeDirectory();
  const path = join(directory, "control.sock");
  const stale = createSocketServer().listen(path);
  await once(stale, "listening");
  const other = createControlServer({
    control: createFakeControl(),
    socketPath: path,
    version: "1",
    language: () => "en",
    metrics: async () => "",
    failed: () => undefined,
  });
  await expect(other.start()).rejects.toMatchObject({ code: "socket.taken" });
  stale.close();
  await once(stale, "close");

  writeFileSync(path, "precious");
  await expect(other.start()).rejects.toMatchObject({ code: "socket.blocked" });
  expect(statSync(path).isFile()).toBe(true);
  rmSync(path);

  await leaveStaleSocket(path);
  await other.start();
  cleanups.push(() => other.stop());
  expect(statSync(path).isSocket()).toBe(true);
});

/** A socket file whose process was killed. */
async function leaveStaleSocket(path: string): Promise<void> {
  const { execa } = await import("execa");
  const script = `require("net").createServer().listen(${JSON.stringify(path)},()=>process.kill(process.pid,"SIGKILL"))`;
  await execa(process.execPath, ["-e", script], { reject: false });
  expect(statSync(path).isSocket()).toBe(true);
}

test("a socket path over 107 bytes is one clear sentence", async () => {
  const path = join(makeDirectory(), "x".repeat(100), "control.sock");
  const server = createControlServer({
    control: createFakeControl(),
    socketPath: path,
    version: "1",
    language: () => "en",
    metrics: async () => "",
    failed: () => undefined,
  });
  await expect(server.start()).rejects.toMatchObject({
    code: "socket.pathTooLong",
    next: expect.stringContaining("OWL_HOME"),
  });
});

test("/v1/app passes requests on to the web instance's own /internal, and says when there is none", async () => {
  const directory = makeDirectory();
  const { control, call } = await setup(directory);
  expect(await call("GET", "/v1/app/users")).toMatchObject({ status: 503, body: { code: "app.unavailable" } });
  const socket = join(directory, "web.sock");
  const app = createServer((incoming, response) => {
    incoming.setEncoding("utf8");
    let body = "";
    incoming.on("data", (chunk) => {
      body += chunk;
    });
    incoming.on("end", () => {
      response.writeHead(201, { "content-type": "application/json", "x-app": "1" });
      response.end(JSON.stringify({ path: incoming.url, method: incoming.method, body }));
    });
  }).listen(socket);
  await once(app, "listening");
  cleanups.push(() => app.close());
  control.app = { socket };
  const passed = await call("POST", "/v1/app/users?x=1", { name: "kim" });
  expect(passed).toMatchObject({
    status: 201,
    headers: { "x-app": "1" },
    body: { path: "/internal/users?x=1", method: "POST", body: '{"name":"kim"}' },
  });
  control.app = { socket: `${socket}.gone` };
  expect(await call("GET", "/v1/app/users")).toMatchObject({ status: 503, body: { code: "app.unavailable" } });
});

test("the OpenAPI document describes every route that is served", async () => {
  const { call } = await setup();
  const { body } = await call("GET", "/v1/openapi.json");
  for (const route of ROUTES) {
    const described = body.paths[route.path.replace(/:(\w+)/g, "{$1}")]?.[route.method.toLowerCase()];
    expect(described, `${route.method} ${route.path}`).toMatchObject({ operationId: route.id });
    const names = described.parameters.map((parameter: { name: string }) => parameter.name);
    for (const [, name] of route.path.matchAll(/:(\w+)/g)) expect(names).toContain(name);
    const [media] = Object.values(described.responses[route.answer.status].content) as [{ schema: { $ref: string } }];
    expect(body.components.schemas).toHaveProperty([media.schema.$ref.replace("#/components/schemas/", "")]);
  }
  expect(new Set(ROUTES.map(({ id }) => id)).size).toBe(ROUTES.length);
  expect(Object.keys(body.paths)).toEqual(expect.arrayContaining(["/metrics", "/v1/openapi.json", "/v1/app/{path}"]));
  expect(body.components.schemas.Status.properties.state.enum).toContain("rolling");
});

/** What the routes want that take something else than a restart. */
const BODIES: readonly (readonly [RegExp, object])[] = [
  [/cale/, { web: 2 }],
  [/Update$|^stageRelease$/, { source: "/releases/1.1.0" }],
  [/Rollback$/, { version: null }],
  [/eploy$/, { path: "/app" }],
  [/^run$/, { target: "web", command: ["true"] }],
];

test("every route's answer fits its described shape", async () => {
  const { control, call, open, text } = await setup();
  control.emit({});
  await call("POST", "/v1/rollouts", { kind: "restart" });
  control.endRollout("r-1");
  for (const route of ROUTES.filter(({ id }) => !["reload", "cancelRunningRollout", "startRollout"].includes(id))) {
    const path = route.path.replace(":id", "r-1").replace(/:name|:target/, "web-1");
    const body = BODIES.find(([ids]) => ids.test(route.id))?.[1] ?? (route.body ? { kind: "restart" } : undefined);
    if (route.answer.lines === true) {
      for (const line of (await text(await open(route.method, path, body && JSON.stringify(body))))
        .split("\n")
        .filter((one) => one !== ""))
        expect(route.answer.shape.safeParse(JSON.parse(line)), path).toMatchObject({ success: true });
    } else {
      const reply = await call(route.method, path, body);
      expect(reply.status, path).toBe(route.answer.status);
      expect(route.answer.shape.safeParse(reply.body), path).toMatchObject({ success: true });
    }
  }
});
