// Health checks against real servers and commands.

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { HealthCheck } from "../../../../config/config.ts";
import { systemClock } from "../../../../config/system-time.ts";
import type { ProbeTarget } from "../../../../supervisor/ports.ts";
import { createHealthProbe } from "../../../../supervisor/process/health-probe.ts";
import { createProcReader } from "../../../../supervisor/process/proc-identity.ts";
import { poll } from "../../../support/poll.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const probe = createHealthProbe(systemClock);
const never = new AbortController().signal;
const target = (where: ProbeTarget["target"]): ProbeTarget => ({
  instance: "web-1",
  target: where,
  env: { PATH: process.env.PATH ?? "" },
  cwd: tmpdir(),
});
const check = (where: ProbeTarget["target"], what: HealthCheck, timeoutMs = 2_000, signal = never) =>
  probe.check(target(where), what, timeoutMs, signal);
const http: HealthCheck = { kind: "http", path: "/readyz" };

async function serve(answer: RequestListener): Promise<{ socket: string }> {
  const directory = mkdtempSync(join(tmpdir(), "owl-probe-"));
  const server = createServer(answer).listen(join(directory, "web.sock"));
  await once(server, "listening");
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  });
  return { socket: join(directory, "web.sock") };
}

test("a 2xx over the instance's own socket, asked with Host: localhost, is healthy", async () => {
  const seen: unknown[] = [];
  const where = await serve((request, response) => {
    seen.push([request.url, request.headers.host]);
    response.writeHead(204).end();
  });
  expect(await check(where, http)).toMatchObject({ ok: true, status: 204, error: null });
  expect(seen).toEqual([["/readyz", "localhost"]]);
});

test("another status is not, and its body is kept up to 500 characters", async () => {
  const where = await serve((_, response) => response.writeHead(503).end(`no database ${"x".repeat(9_000)}`));
  const result = await check(where, http);
  expect(result).toMatchObject({ ok: false, status: 503, error: expect.stringMatching(/^GET \/\S*: HTTP 503/) });
  expect(result.body).toHaveLength(500);
  expect(result.body).toMatch(/^no database/);
});

test("a redirect is not healthy and is not followed", async () => {
  const where = await serve((_, response) => response.writeHead(302, { location: "/login" }).end());
  expect(await check(where, http)).toMatchObject({ ok: false, status: 302 });
});

test("no answer within the timeout says so, and leaves no connection", async () => {
  const closed = Promise.withResolvers<void>();
  const where = await serve((request) => request.socket.on("close", () => closed.resolve()));
  expect(await check(where, http, 50)).toMatchObject({ ok: false, status: null, error: "no answer within 50 ms" });
  await closed.promise;
});

test("a 2xx whose body never ends is healthy all the same", async () => {
  const where = await serve((_, response) => {
    response.writeHead(200);
    response.write("some");
  });
  expect(await check(where, http, 2_000)).toMatchObject({ ok: true, status: 200, body: "some" });
});

test("a socket that is not there, and a port nobody listens on", async () => {
  expect(await check({ socket: "/tmp/owl-no-such.sock" }, http)).toMatchObject({
    ok: false,
    error: "its socket does not exist yet",
  });
  expect(await check({ host: "127.0.0.1", port: 1 }, { kind: "connect" })).toMatchObject({
    ok: false,
    error: "connection refused",
  });
  expect(await check(null, http)).toMatchObject({ ok: false, error: "it listens nowhere" });
});

test("connecting is enough for connect", async () => {
  const server = createSocketServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === "string") expect.fail("a port was given");
  expect(await check({ host: "127.0.0.1", port: address.port }, { kind: "connect" })).toMatchObject({ ok: true });
});

test("a command is healthy by its exit code, and its output is kept", async () => {
  const command = (script: string): HealthCheck => ({ kind: "command", command: ["sh", "-c", script] });
  expect(await check(null, command("echo fine"))).toMatchObject({ ok: true, status: 0, body: "fine\n" });
  expect(await check(null, command("echo broken >&2; exit 3"))).toMatchObject({
    ok: false,
    status: 3,
    body: "broken\n",
    error: "exit code 3",
  });
  expect(await check(null, { kind: "command", command: ["no-such-command"] })).toMatchObject({ ok: false });
});

test("a command that hangs is killed with its children at the timeout", async () => {
  const hang: HealthCheck = { kind: "command", command: ["sh", "-c", "sleep 611.5 & sleep 611.5"] };
  expect(await check(null, hang, 200)).toMatchObject({ ok: false, error: "no answer within 200 ms" });
  const reader = createProcReader();
  await poll(() => reader.pids().every((pid) => reader.command(pid) !== "sleep 611.5"));
});

test("a check that is aborted ends at once and does not reject", async () => {
  const where = await serve(() => undefined);
  const stop = new AbortController();
  const asked = check(where, http, 60_000, stop.signal);
  stop.abort(new Error("the instance is gone"));
  expect(await asked).toMatchObject({ ok: false, error: "the instance is gone" });
});
