// Large bodies both ways, more at a time than there are buffers of their own: every byte arrives, in its place.

import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { onRequests, readAnswers } from "../../support/proxy/messages.ts";
import { type Rig, startRig } from "../../support/proxy/rig.ts";

/** More than the 64 that read into buffers of their own. */
const CLIENTS = 80;
const BYTES = 400_000;

/** Bytes that are the same in no two places and for no two numbers. */
function pattern(number: number): Buffer {
  const bytes = Buffer.alloc(BYTES);
  for (let at = 0; at < BYTES; at += 4) bytes.writeUInt32LE(((number << 24) | at) >>> 0, at);
  return bytes;
}

const digest = (bytes: Buffer | string) =>
  createHash("sha1")
    .update(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes)
    .digest("hex");

/** In chunks of uneven size. */
function chunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0, size = 5; at < bytes.length; at += size, size = (size * 7) % 30_011) {
    const part = bytes.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n"));
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

describe("the proxy", () => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig();
    await rig.addUpstream("a", (socket) =>
      onRequests(socket, (request) => {
        const number = Number(/\/(\d+) /.exec(request.first)?.[1]);
        if (request.first.startsWith("POST")) {
          const text = digest(request.body);
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
        } else if (number % 2 === 0) {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${BYTES}\r\n\r\n`);
          socket.write(pattern(number));
        } else {
          socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
          socket.write(chunked(pattern(number)));
        }
      }),
    );
    await rig.route(["a"]);
  });
  afterEach(async () => {
    await rig.stop();
  });

  const numbers = Array.from({ length: CLIENTS }, (_, number) => number);

  test("uploads of many clients at once", async () => {
    await Promise.all(
      numbers.map(async (number) => {
        const body = pattern(number);
        const framing = number % 2 === 0 ? `Content-Length: ${BYTES}` : "Transfer-Encoding: chunked";
        const client = rig.client().send(`POST /${number} HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n`);
        client.send(number % 2 === 0 ? body : chunked(body));
        const came = await client.until((text) => readAnswers(text, ["POST"]).length === 1);
        expect(readAnswers(came, ["POST"])[0]?.body).toBe(digest(body));
      }),
    );
  });

  test("downloads of many clients at once that all begin to read late", async () => {
    const clients = numbers.map((number) => {
      const client = rig.client();
      client.socket.pause();
      return client.send(`GET /${number} HTTP/1.1\r\nHost: x\r\n\r\n`);
    });
    while ((await rig.counters()).requests < CLIENTS);
    for (const { socket } of clients) socket.resume();
    await Promise.all(
      clients.map(async (client, number) => {
        const came = await client.until((text) => text.length > BYTES && readAnswers(text, ["GET"]).length === 1);
        expect(digest(readAnswers(came, ["GET"])[0]?.body ?? "")).toBe(digest(pattern(number)));
      }),
    );
  });
});
