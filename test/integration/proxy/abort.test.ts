// Aborts at every byte, from either side, and then the proof: every connection the proxy kept still answers rightly.

import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { onRequests, readAnswers } from "../../support/proxy/messages.ts";
import { eventually, type Rig, startRig } from "../../support/proxy/rig.ts";

const REQUESTS = [
  "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n",
  "POST /plain HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\nhello, world",
  "POST /chunked HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n",
];
const ANSWERS: Record<string, string> = {
  "/plain": "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nplain plain",
  "/chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nchunked\r\n3\r\n...\r\n0\r\nT: v\r\n\r\n",
};

describe("the proxy", () => {
  let rig: Rig;
  /** How many bytes of its next answers the upstream gives before it dies; null: all, and it lives. */
  let dieAfter: number | null = null;
  beforeEach(async () => {
    dieAfter = null;
    rig = await startRig();
    await rig.addUpstream("a", (socket: Socket) =>
      onRequests(socket, (request) => {
        const target = request.first.split(" ")[1] ?? "";
        const number = /\/n(\d+)/.exec(target)?.[1];
        const answer =
          number === undefined
            ? (ANSWERS[target] ?? "")
            : `HTTP/1.1 200 OK\r\nContent-Length: ${number.length}\r\n\r\n${number}`;
        if (dieAfter === null) socket.write(answer);
        else socket.end(answer.slice(0, dieAfter));
      }),
    );
    await rig.route(["a"]);
  });
  afterEach(async () => {
    await rig.stop();
  });

  /** More requests at once than connections can be idle: each pooled one is used, each must answer for itself. */
  async function everyConnectionAnswers(): Promise<void> {
    dieAfter = null;
    await eventually("nothing is in flight", async () => (await rig.counters()).inFlight === 0);
    for (let round = 0; round < 2; round++) {
      await Promise.all(
        Array.from({ length: 80 }, async (_, index) => {
          const client = rig.client().send(`GET /n${index} HTTP/1.1\r\nHost: x\r\n\r\n`);
          await client.until((text) => readAnswers(text, ["GET"]).length === 1);
          expect(readAnswers(client.received, ["GET"])[0]?.body).toBe(String(index));
          client.socket.destroy();
        }),
      );
    }
  }

  test("clients that leave at any byte of their request", async () => {
    for (const request of REQUESTS) {
      await Promise.all(
        Array.from({ length: request.length }, async (_, index) => {
          const client = rig.client();
          client.send(request.slice(0, index + 1));
          await new Promise<void>((resolve) => setImmediate(resolve));
          if (index % 2 === 0) client.socket.destroy();
          else client.socket.resetAndDestroy();
        }),
      );
    }
    await everyConnectionAnswers();
    const { connections } = await rig.counters();
    expect(connections).toBeLessThanOrEqual(80);
  });

  test("clients that leave at any byte of their answer", async () => {
    for (const request of REQUESTS) {
      const whole = rig.client().send(request);
      await whole.until((text) => readAnswers(text, ["GET"]).length === 1);
      await Promise.all(
        Array.from({ length: whole.received.length }, async (_, index) => {
          const client = rig.client().send(request);
          await client.until((text) => text.length > index);
          client.socket.resetAndDestroy();
        }),
      );
      await everyConnectionAnswers();
    }
  });

  test("upstreams that die at any byte of their answer: never a second execution, never a foreign byte", async () => {
    for (const request of REQUESTS) {
      const target = request.split(" ")[1] ?? "";
      const answer = ANSWERS[target] ?? "";
      for (let bytes = 0; bytes < answer.length; bytes++) {
        dieAfter = bytes;
        const client = rig.client().send(request);
        const came = await Promise.race([
          client.untilClosed(),
          client.until((text) => readAnswers(text, ["GET"]).length === 1).catch(() => client.received),
        ]);
        const status = /^HTTP\/1\.1 (\d+)/.exec(came)?.[1];
        const headIsOut = bytes >= answer.indexOf("\r\n\r\n") + 4;
        if (headIsOut) expect(["200", undefined], `${target} after ${bytes} bytes: ${came}`).toContain(status);
        else expect(status, `${target} after ${bytes} bytes: ${came}`).toBe("502");
        if (status === "200") expect(readAnswers(came, ["GET"])).toHaveLength(0);
        client.socket.destroy();
      }
    }
    await everyConnectionAnswers();
  });

  test("clients that stop reading a large answer and leave, again and again", async () => {
    const large = Buffer.alloc(2_000_000, "z");
    await rig.addUpstream("big", (socket: Socket) =>
      onRequests(socket, (request) => {
        const number = /\/n(\d+)/.exec(request.first)?.[1];
        if (number !== undefined) {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${number.length}\r\n\r\n${number}`);
          return;
        }
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${large.length}\r\n\r\n`);
        socket.write(large);
      }),
    );
    await rig.route(["big"]);
    for (let n = 0; n < 30; n++) {
      const client = rig.client().send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
      await client.until((text) => text.length > 0);
      client.socket.pause();
      await new Promise<void>((resolve) => setImmediate(resolve));
      client.socket.destroy();
    }
    await everyConnectionAnswers();
  });
});
