// Clients that stop in the middle: one whose body stops coming, one that does not take its answer. Both are given up after
// the idle limit, cost no other anything, and leave no connection behind; one that is only slow is served.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../config/system-time.ts";
import { echoScript, onRequests, readAnswers } from "../../support/proxy/messages.ts";
import { eventually, type Rig, startRig } from "../../support/proxy/rig.ts";
import { proxyConfig } from "../../support/proxy-config.ts";

const IDLE_MS = 1_500;

describe("the proxy", () => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig({ limits: { ...proxyConfig().limits, idleTimeoutMs: IDLE_MS } });
  });
  afterEach(async () => {
    await rig.stop();
  });

  test.each([
    ["with a length", "Content-Length: 10\r\n\r\nabc"],
    ["in chunks", "Transfer-Encoding: chunked\r\n\r\na\r\nabc"],
  ])("a body %s that stops coming gets 408, and the upstream's request is aborted", async (_how, body) => {
    const upstream = await rig.addUpstream("a", (socket) => onRequests(socket, () => socket.write("never")));
    await rig.route(["a"]);
    const client = rig.client().send(`POST / HTTP/1.1\r\nHost: x\r\n${body}`);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 408 /);
    await eventually("the upstream's connection is closed", () => upstream.accepted === 1 && upstream.open.size === 0);
    await eventually("the client's too", async () => (await rig.counters()).connections === 0);
  });

  test("a slow body is not a stopped one", async () => {
    await rig.addUpstream("a", echoScript("a"));
    await rig.route(["a"]);
    const client = rig.client().send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n");
    for (const byte of "slowly, slowly.") {
      await systemClock.sleep(IDLE_MS / 10);
      client.send(byte);
    }
    await client.until((text) => readAnswers(text, ["POST"]).length === 1);
    expect(client.received).toContain('"body":"slowly, slowly."');
  });

  test("a client that does not take its answer is given up, and its upstream's connection with it", async () => {
    const large = Buffer.alloc(4_000_000, "z");
    const upstream = await rig.addUpstream("a", (socket) =>
      onRequests(socket, (request) => {
        if (request.first.includes("/small")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${20 * large.length}\r\n\r\n`);
        if (!request.first.includes("/small")) for (let n = 0; n < 20; n++) socket.write(large);
      }),
    );
    await rig.route(["a"]);
    const stalled = rig.client();
    stalled.socket.pause();
    stalled.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    await eventually("its answer is under way", () => upstream.open.size === 1);
    const other = rig.client().send("GET /small HTTP/1.1\r\nHost: x\r\n\r\n");
    await other.until((text) => text.endsWith("ok"));
    other.socket.destroy();
    await eventually("it is given up", async () => (await rig.counters()).connections === 0);
    expect((await rig.counters()).inFlight).toBe(0);
  });

  test("an upstream that takes its time is waited for, with a whole request before it and with one that it reads late", async () => {
    await rig.addUpstream("a", (socket) => {
      socket.pause();
      const cancel = systemClock.after(2 * IDLE_MS, () => socket.resume());
      socket.on("close", cancel);
      echoScript("a")(socket);
    });
    await rig.route(["a"], { bodyBytes: 100_000_000 });
    const small = rig.client().send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const body = "b".repeat(2_000_000);
    const large = rig.client().send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    for (const client of [small, large]) {
      await client.until((text) => readAnswers(text, ["GET"]).length === 1);
      expect(client.received).toMatch(/^HTTP\/1\.1 200 /);
    }
  });
});
