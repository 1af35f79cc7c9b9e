// Answers that come while the client still sends: it must be able to read them, whatever it goes on sending, and nothing
// of what it sends may be taken for a request. A connection reset would lose them.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { echoScript, onRequests, readAnswers } from "../../support/proxy/messages.ts";
import { eventually, type Rig, startRig } from "../../support/proxy/rig.ts";

const PIECE = Buffer.alloc(256 * 1024, "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n");
const PIECES = 96;
const CHUNK = Buffer.concat([Buffer.from(`${PIECE.length.toString(16)}\r\n`), PIECE, Buffer.from("\r\n")]);
const DECLARED = `Content-Length: ${PIECES * PIECE.length}`;

describe("the proxy", () => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig();
  });
  afterEach(async () => {
    await rig.stop();
  });

  /** Sends 24 MiB before it reads anything, as plain clients do; resolves with what it could read then. */
  async function upload(framing: string, piece: Buffer): Promise<string> {
    const client = rig.client();
    const { socket } = client;
    socket.pause();
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n`);
    for (let n = 0; n < PIECES; n++) {
      const sent = new Promise<Error | null | undefined>((resolve) => socket.write(piece, resolve));
      expect(await sent, `piece ${n} of ${PIECES}`).toBeFalsy();
    }
    socket.resume();
    return client.untilClosed();
  }

  test.each([
    ["declared", DECLARED, PIECE],
    ["in chunks", "Transfer-Encoding: chunked", CHUNK],
  ])("a body %s over the route's limit: 413 is read, 24 MiB behind it are dropped", async (_how, framing, piece) => {
    const upstream = await rig.addUpstream("a", (socket) => onRequests(socket, () => socket.write("never")));
    await rig.route(["a"], { bodyBytes: 1_000_000 });
    expect(await upload(framing, piece)).toMatch(/^HTTP\/1\.1 413 [\s\S]*larger than this address accepts/);
    for (const received of upstream.received) expect(received.toString("latin1")).not.toMatch(/^GET \/smuggled/);
    await eventually("the connection is over", async () => (await rig.counters()).connections === 0);
  });

  test("an upstream that answers before it has read the body: its answer is read, 24 MiB are dropped", async () => {
    await rig.addUpstream("a", (socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno");
        socket.end();
      });
    });
    await rig.route(["a"], { bodyBytes: 100_000_000 });
    expect(await upload(DECLARED, PIECE)).toMatch(/^HTTP\/1\.1 403 [\s\S]*no$/);
    await eventually("the connection is over", async () => (await rig.counters()).connections === 0);
  });

  test("one that stays silent behind its refusal is closed, and others are served meanwhile", async () => {
    await rig.addUpstream("a", echoScript("a"));
    await rig.route(["a"]);
    const silent = rig.client().send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\nabc");
    await silent.until((text) => text.startsWith("HTTP/1.1 413 "));
    const other = rig.client().send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await other.until((text) => readAnswers(text, ["GET"]).length === 1);
    other.socket.destroy();
    await eventually("the connection is over", async () => (await rig.counters()).connections === 0);
  });
});
