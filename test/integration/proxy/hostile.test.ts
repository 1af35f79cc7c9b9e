// Hostile and ambiguous messages from both sides: in one write, behind a good request, and split at every byte.
// What is asserted: its status, a closed connection, nothing behind it forwarded, and other clients undisturbed.

import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOSTILE_ANSWERS, HOSTILE_BODIES, HOSTILE_REQUESTS } from "../../support/proxy/hostile.ts";
import { echoScript, onRequests, readAnswers } from "../../support/proxy/messages.ts";
import { eventually, type Rig, startRig } from "../../support/proxy/rig.ts";

const GOOD = "GET /good HTTP/1.1\r\nHost: x\r\n\r\n";

describe("the proxy", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
    await rig.addUpstream("a", echoScript("a"));
    await rig.route(["a"]);
  });
  afterAll(async () => {
    await rig.stop();
  });

  const requests = HOSTILE_REQUESTS;
  const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
  const forwarded = () => Buffer.concat(rig.upstreams.get("a")?.received ?? []).toString("latin1");
  const stillServes = async () => {
    const client = rig.client().send(GOOD);
    await client.until((text) => readAnswers(text, ["GET"]).length === 1);
    client.socket.destroy();
  };

  test.each(requests)("refuses $name", async ({ bytes, status }) => {
    const alone = await rig.client().send(bytes).untilClosed();
    expect(status).toContain(statusOf(alone));
    expect(alone.match(/HTTP\/1\.1 \d+ /g)).toHaveLength(1);
    const piped = await rig
      .client()
      .send(GOOD + bytes)
      .untilClosed();
    const [first, second] = readAnswers(piped, ["GET", "GET"]);
    expect(first?.body).toContain("/good");
    expect(status).toContain(statusOf(second?.raw ?? ""));
    expect(forwarded()).not.toContain("smuggled");
    await stillServes();
  });

  test.each(requests)("refuses $name split at every byte", async ({ bytes, status }) => {
    const cut = bytes.includes("GET /smuggled") ? bytes.indexOf("GET /smuggled") : bytes.length;
    await Promise.all(
      Array.from({ length: cut - 1 }, async (_, index) => {
        const client = rig.client();
        client.send(bytes.slice(0, index + 1));
        await new Promise<void>((resolve) => setImmediate(resolve));
        client.send(bytes.slice(index + 1));
        expect(status).toContain(statusOf(await client.untilClosed()));
      }),
    );
    expect(forwarded()).not.toContain("smuggled");
  });

  test.each(HOSTILE_BODIES)("never takes what follows $name for a request", async ({ bytes }) => {
    const came = await rig.client().send(bytes).untilClosed();
    expect(came === "" || statusOf(came) === 400).toBe(true);
    expect(came).not.toContain("smuggled");
    const client = rig.client();
    for (const byte of bytes) client.send(byte);
    await client.untilClosed();
    expect(client.received).not.toContain("smuggled");
    expect(forwarded()).not.toMatch(/GET \/smuggled/);
    await stillServes();
  });

  test("a body shorter than declared ends as an abort, one longer as the next request", async () => {
    const short = rig.client().send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    short.socket.end();
    await short.untilClosed();
    const long = await rig
      .client()
      .send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcdef\r\n\r\n")
      .untilClosed();
    const statuses = readAnswers(long, ["POST", "GET"]).map((answer) => statusOf(answer.raw));
    expect(statuses).toEqual([200, 400]);
    await stillServes();
  });
});

describe("from upstreams", () => {
  test.each(HOSTILE_ANSWERS)("passes no answer on that has $name", async ({ bytes }) => {
    const rig = await startRig();
    let split = 0;
    await rig.addUpstream("a", (socket: Socket) =>
      onRequests(socket, (request) => {
        if (request.first.includes("/good")) {
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood");
        } else if (split === 0) {
          socket.end(Buffer.from(bytes, "latin1"));
        } else {
          const at = split;
          socket.write(Buffer.from(bytes.slice(0, at), "latin1"));
          setImmediate(() => socket.end(Buffer.from(bytes.slice(at), "latin1")));
        }
      }),
    );
    await rig.route(["a"]);
    for (split = 0; split < bytes.length; split++) {
      const client = rig.client().send("GET /bad HTTP/1.1\r\nHost: x\r\n\r\n");
      await client.until((text) => readAnswers(text, ["GET"]).length === 1);
      expect(client.received).toMatch(/^HTTP\/1\.1 502 /);
      client.socket.destroy();
    }
    const good = rig.client().send(GOOD);
    await good.until((text) => text.endsWith("good"));
    await rig.stop();
  });

  test.each([
    [
      "a second answer behind the first",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nevil!",
    ],
    ["a body longer than declared", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more"],
    ["bytes behind the last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nevil"],
    ["a body on 204", "HTTP/1.1 204 No Content\r\n\r\nevil"],
    ["a body on 304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nevil"],
  ])("gives %s to nobody", async (_name, bytes) => {
    const rig = await startRig();
    const upstream = await rig.addUpstream("a", (socket: Socket) =>
      onRequests(socket, (request) =>
        socket.write(
          request.first.includes("/good")
            ? "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"
            : Buffer.from(bytes, "latin1"),
        ),
      ),
    );
    await rig.route(["a"]);
    for (let n = 0; n < 5; n++) {
      const client = rig.client().send("GET /bad HTTP/1.1\r\nHost: x\r\n\r\n");
      await client.until((text) => readAnswers(text, ["GET"]).length === 1);
      client.send(GOOD);
      await client.until((text) => readAnswers(text, ["GET", "GET"]).length === 2);
      expect(readAnswers(client.received, ["GET", "GET"]).at(-1)?.body).toBe("good");
      expect(client.received).not.toMatch(/evil|more/);
      client.socket.destroy();
    }
    await eventually("no foreign connection is kept", () => upstream.open.size <= 1);
    await rig.stop();
  });
});
