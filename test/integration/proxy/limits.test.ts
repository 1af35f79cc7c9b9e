// Limits, refusals and clients that leave, as the proxy must treat them: raw bytes in, raw bytes out.

import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../config/system-time.ts";
import { echoScript, onRequests, readAnswers } from "../../support/proxy/messages.ts";
import { eventually, type Rig, startRig } from "../../support/proxy/rig.ts";

const GET = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

describe("the proxy", () => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig({
      queueTimeoutMs: 300,
      limits: {
        headerBytes: 16_384,
        headerTimeoutMs: 400,
        idleTimeoutMs: 1_000,
        connections: 50,
        bodyBytes: 100_000,
        uploadBytes: 1_000_000,
        bodyBytesPerS: 500,
      },
    });
  });
  afterEach(async () => {
    await rig.stop();
  });

  /** One upstream `a` whose script is `script`, routed. */
  async function withUpstream(script: (socket: Socket, connection: number) => void) {
    const upstream = await rig.addUpstream("a", script);
    await rig.route(["a"]);
    return upstream;
  }

  test("a client that leaves aborts the upstream's request: before the answer, and in the middle of it", async () => {
    const upstream = await withUpstream((socket) =>
      onRequests(socket, (request) => {
        if (request.first.includes("/stream")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc");
      }),
    );
    const before = rig.client().send(GET);
    await eventually("the request arrived", () => upstream.open.size === 1);
    before.socket.destroy();
    await eventually("the upstream's connection is closed", () => upstream.open.size === 0);
    const middle = rig.client().send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    await middle.until((text) => text.endsWith("abc"));
    middle.socket.destroy();
    await eventually("the upstream's connection is closed", () => upstream.open.size === 0);
    expect((await rig.counters()).inFlight).toBe(0);
  });

  test("an early 413 of the upstream is readable while the client still sends", async () => {
    await withUpstream((socket) => {
      socket.once("data", () => {
        socket.end("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 7\r\n\r\ntoo big");
      });
    });
    const client = rig.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n");
    for (let n = 0; n < 8; n++) client.send("x".repeat(10_000));
    const came = await client.untilClosed();
    expect(came).toMatch(/^HTTP\/1\.1 413 /);
    expect(came).toContain("too big");
  });

  test("a body over the route's limit gets 413: declared at once, in chunks as soon as it is passed", async () => {
    await rig.addUpstream("a", echoScript("a"));
    await rig.route(["a"], { bodyBytes: 10 });
    const declared = await rig.client().send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n").untilClosed();
    expect(declared).toMatch(/^HTTP\/1\.1 413 /);
    const chunked = await rig
      .client()
      .send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n")
      .untilClosed();
    expect(chunked).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("a body that comes a byte at a time is ended with 408, however long each byte is waited for", async () => {
    await withUpstream((socket) => onRequests(socket, () => undefined));
    const client = rig.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n");
    const ending = new AbortController();
    const dripping = (async () => {
      for await (const _ of systemClock.every(50, ending.signal)) client.send("x");
    })();
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 408 /);
    ending.abort();
    await dripping;
  });

  test("a head over the limit gets 431, one too slow 408", async () => {
    await withUpstream(echoScript("a"));
    const large = await rig
      .client()
      .send(`GET / HTTP/1.1\r\nHost: x\r\nA: ${"b".repeat(17_000)}\r\n\r\n`)
      .untilClosed();
    expect(large).toMatch(/^HTTP\/1\.1 431 /);
    const url = await rig
      .client()
      .send(`GET /${"b".repeat(64_000)} HTTP/1.1\r\nHost: x\r\n\r\n`)
      .untilClosed();
    expect(url).toMatch(/^HTTP\/1\.1 431 /);
    const slow = await rig.client().send("GET / HTTP/1.1\r\nHo").untilClosed();
    expect(slow).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("an idle connection is closed without a word", async () => {
    await withUpstream(echoScript("a"));
    const client = rig.client().send(GET);
    const came = await client.untilClosed();
    expect(readAnswers(came, ["GET"])).toHaveLength(1);
    expect(readAnswers(came, ["GET"])[0]?.raw).toBe(came);
  });

  test("connections over the cap get 503 at once", async () => {
    await withUpstream(echoScript("a"));
    const held = Array.from({ length: 50 }, () => rig.client());
    await eventually("all are accepted", async () => (await rig.counters()).connections === 50);
    expect(await rig.client().untilClosed()).toMatch(/^HTTP\/1\.1 503 [\s\S]*Retry-After: 1\r\n/);
    held[0]?.socket.destroy();
    await eventually("a place is free", async () => (await rig.counters()).connections < 50);
    const client = rig.client().send(GET);
    await client.until((text) => readAnswers(text, ["GET"]).length === 1);
  });

  test("trusted networks keep their forwarding headers and ids", async () => {
    await rig.stop();
    rig = await startRig({ trust: ["127.0.0.0/8"] });
    const upstream = await withUpstream(echoScript("a"));
    const client = rig
      .client()
      .send(
        "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 9.9.9.9\r\nX-Forwarded-Proto: https\r\nX-Request-Id: given\r\nForwarded: for=9.9.9.9\r\n\r\n",
      );
    const came = await client.until((text) => readAnswers(text, ["GET"]).length === 1);
    const sent = upstream.received[0]?.toString("latin1") ?? "";
    expect(sent).toContain("X-Forwarded-For: 9.9.9.9, 127.0.0.1\r\n");
    expect(sent).toContain("X-Forwarded-Proto: https\r\n");
    expect(sent).toContain("X-Request-Id: given\r\n");
    expect(sent).toContain("Forwarded: for=9.9.9.9, for=127.0.0.1;host=x;proto=http\r\n");
    expect(came).toMatch(/X-Request-Id: given\r\n/i);
  });

  test("a large answer reaches a slow reader whole, and a large body a slow upstream", async () => {
    const size = 3_000_000;
    const payload = Buffer.alloc(size, "abcdefghij");
    await withUpstream((socket) =>
      onRequests(socket, (request) => {
        if (request.first.startsWith("POST")) {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n${String(request.body.length).padStart(6)}`);
        } else {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
          socket.write(payload);
        }
      }),
    );
    const client = rig.client();
    client.socket.pause();
    client.send(GET);
    await new Promise<void>((resolve) => setTimeout(resolve, 50));
    client.socket.resume();
    const came = await client.until((text) => readAnswers(text, ["GET"]).length === 1);
    expect(readAnswers(came, ["GET"])[0]?.body).toBe(payload.toString());
    const poster = rig
      .client()
      .send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n${"p".repeat(90_000)}`);
    await poster.until((text) => text.includes("90000"));
  });
});
