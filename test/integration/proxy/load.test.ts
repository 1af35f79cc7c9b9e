// Many event streams, and many requests: what grows with traffic must fall back with its end.
// Small here; `npm run bench -- proxy` does 10,000 streams and 1,000,000 requests.

import type { Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { echoScript, onRequests, readAnswers } from "../../support/proxy/messages.ts";
import { type Client, eventually, type Rig, startRig } from "../../support/proxy/rig.ts";

const STREAMS = 500;
const REQUESTS = 2_000;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

describe("the proxy", () => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig();
  });
  afterEach(async () => {
    await rig.stop();
  });

  test(`${STREAMS} event streams each get each event, hinder no request, and leave nothing behind`, async () => {
    const open = new Set<Socket>();
    const upstream = await rig.addUpstream("a", (socket) =>
      onRequests(socket, (request) => {
        if (!request.first.includes("/events")) {
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
          return;
        }
        open.add(socket);
        socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
      }),
    );
    await rig.route(["a"]);
    const clients: Client[] = [];
    for (let n = 0; n < STREAMS; n++) clients.push(rig.client().send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n"));
    await eventually("all streams are open", async () => (await rig.counters()).upstreams[0]?.streams === STREAMS);
    for (let event = 0; event < 3; event++) {
      const text = `data: ${event}\n\n`;
      for (const socket of open) socket.write(`${text.length.toString(16)}\r\n${text}\r\n`);
      await Promise.all(clients.map((client) => client.until((came) => came.includes(text))));
    }
    const client = rig.client().send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.until((came) => came.endsWith("ok"));
    expect((await rig.counters()).upstreams[0]).toMatchObject({ inFlight: 0, streams: STREAMS });
    for (const one of clients) one.socket.destroy();
    await eventually("all streams are gone", async () => (await rig.counters()).upstreams[0]?.streams === 0);
    await eventually("their connections too", () => upstream.open.size <= 64);
  });

  test(`the heap after ${2 * REQUESTS} requests is that after ${REQUESTS}`, async () => {
    await rig.addUpstream("a", (socket) => echoScript("a")(socket));
    await rig.route(["a"]);
    const kinds = [
      "GET /a HTTP/1.1\r\nHost: x\r\n\r\n",
      "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi",
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nA: b\r\n\r\n",
    ];
    const burst = async () => {
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let n = 0; n < REQUESTS / 8 / 50; n++) {
            const client = rig.client();
            for (let request = 0; request < 50; request++) {
              client.received = "";
              client.send(kinds[request % 3] ?? "");
              await client.until((text) => readAnswers(text, ["GET"]).length === 1);
            }
            // Each client leaves in a request or in an answer.
            client.send(kinds[n % 3]?.slice(0, n % 2 === 0 ? -1 : undefined) ?? "");
            client.socket.destroy();
          }
        }),
      );
      for (const upstream of rig.upstreams.values()) upstream.received.length = 0;
      await eventually("nothing is in flight", async () => (await rig.counters()).inFlight === 0);
      collect();
      await new Promise<void>((resolve) => setImmediate(resolve));
      collect();
      return process.memoryUsage().heapUsed;
    };
    await burst();
    const before = await burst();
    const after = await burst();
    // 300 bytes kept per request would show.
    expect(after - before).toBeLessThan(REQUESTS * 300);
  });
});
