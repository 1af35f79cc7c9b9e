// Hostile messages in pipelines and on connections that served before, each cut in two at every byte: what is refused in
// one write is refused in any two, and nothing of it becomes a request or an answer of somebody else.

import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  HOSTILE_ANSWER_BODIES,
  HOSTILE_ANSWERS,
  HOSTILE_BODIES,
  HOSTILE_REQUESTS,
} from "../../support/proxy/hostile.ts";
import { echoScript, onRequests, readAnswers, readMessage } from "../../support/proxy/messages.ts";
import { eventually, type Rig, startRig } from "../../support/proxy/rig.ts";

const GOOD = "GET /good HTTP/1.1\r\nHost: x\r\n\r\n";
const SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Sends `bytes` in two writes, cut after each byte in turn; `check` gets what came until the proxy closed. */
async function atEveryCut(rig: Rig, bytes: string, upTo: number, check: (came: string, cut: number) => void) {
  const cuts = Array.from({ length: upTo - 1 }, (_, index) => index + 1);
  await Promise.all(
    cuts.map(async (cut) => {
      const client = rig.client().send(bytes.slice(0, cut));
      await turn();
      client.send(bytes.slice(cut));
      check(await client.untilClosed(), cut);
    }),
  );
}

/** A whole answer of the good request, wherever a script serves others too. */
const good = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood";

// node:http dispatches pipelined requests before it has judged those behind them; what it then answers has no fixed order.
describe("requests behind a good one", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
    await rig.addUpstream("a", echoScript("a"));
    await rig.route(["a"]);
  });
  afterAll(async () => {
    await rig.stop();
  });
  const forwarded = () => Buffer.concat(rig.upstreams.get("a")?.received ?? []).toString("latin1");

  test.each(HOSTILE_REQUESTS)("refuses $name, cut at every byte of both", async ({ bytes, status }) => {
    const all = GOOD + bytes;
    const end = all.includes("GET /smuggled") ? all.indexOf("GET /smuggled") : all.length;
    await atEveryCut(rig, all, end, (came, cut) => {
      const answers = readAnswers(came, ["GET", "GET", "GET"]);
      expect(answers, `cut after ${cut} bytes: ${came}`).toHaveLength(2);
      expect(answers[0]?.body).toContain("/good");
      expect(status, `cut after ${cut} bytes`).toContain(statusOf(answers[1]?.raw ?? ""));
    });
    expect(forwarded()).not.toContain("smuggled");
  });
});

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

  test.each(HOSTILE_BODIES)("never takes what follows $name for a request, cut at every byte", async ({ bytes }) => {
    await atEveryCut(rig, bytes, bytes.length, (came, cut) => {
      expect(came === "" || statusOf(came) === 400, `cut after ${cut} bytes: ${came}`).toBe(true);
    });
    const upstream = rig.upstreams.get("a");
    for (const received of upstream?.received ?? []) expect(received.toString("latin1")).not.toMatch(/GET \/smuggled/);
  });
});

describe("CL.0", () => {
  // Upstreams that answer by the head alone and take the body for the next request on the connection.
  test.each([
    ["GET", 1],
    ["POST", 0],
    ["OPTIONS", 1],
  ])(
    "a %s whose upstream ignores its body: the connection is never used again, at every cut",
    async (method, reuses) => {
      const rig = await startRig();
      const upstream = await rig.addUpstream("a", (socket: Socket) => {
        let text = "";
        let late = "";
        socket.on("data", (chunk) => {
          text += chunk.toString("latin1");
          for (let end = text.indexOf("\r\n\r\n"); end >= 0; end = text.indexOf("\r\n\r\n")) {
            const target = text.split(" ")[1] ?? "";
            text = text.slice(end + 4);
            const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${target.length}\r\n\r\n${target}`;
            // A slow handler: its answer comes when the next request is already under way.
            if (target === "/smuggled") late = answer;
            else socket.write(late + answer);
          }
        });
      });
      await rig.route(["a"]);
      const bytes = `${method} /outer HTTP/1.1\r\nHost: x\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`;
      for (let cut = 1; cut < bytes.length; cut++) {
        // An idle connection is there to be reused by methods that may.
        const before = rig.client().send(GOOD);
        await before.until((text) => text.endsWith("/good"));
        const client = rig.client().send(bytes.slice(0, cut));
        await turn();
        client.send(bytes.slice(cut));
        await client.until((text) => readAnswers(text, ["GET"]).length === 1);
        expect(readAnswers(client.received, ["GET"])[0]?.body).toBe("/outer");
        const others = Array.from({ length: 3 }, () => rig.client().send(GOOD));
        for (const other of others) {
          await other.until((text) => readAnswers(text, ["GET"]).length === 1);
          expect(readAnswers(other.received, ["GET"])[0]?.body).toBe("/good");
        }
        for (const one of [before, client, ...others]) one.socket.destroy();
        expect(client.received).not.toContain("smuggled");
      }
      expect(upstream.accepted).toBeGreaterThan(reuses);
      for (const received of upstream.received) {
        const text = received.toString("latin1");
        // Nothing but the end comes behind a body that was not read.
        if (text.includes(SMUGGLED)) expect(text.endsWith(SMUGGLED)).toBe(true);
      }
      await rig.stop();
    },
  );
});

describe("from upstreams", () => {
  /** An upstream that gives `bytes` cut after `cut` bytes on a connection that has served before. */
  async function withAnswer(bytes: string, each: (rig: Rig, cut: number) => Promise<void>): Promise<void> {
    const rig = await startRig();
    let cut = 0;
    await rig.addUpstream("a", (socket: Socket) =>
      onRequests(socket, (request) => {
        if (!request.first.includes("/bad")) {
          socket.write(good);
          return;
        }
        const at = cut;
        socket.write(Buffer.from(bytes.slice(0, at), "latin1"));
        setImmediate(() => socket.end(Buffer.from(bytes.slice(at), "latin1")));
      }),
    );
    await rig.route(["a"]);
    for (cut = 1; cut < bytes.length; cut++) await each(rig, cut);
    await rig.stop();
  }

  test.each(HOSTILE_ANSWERS)("passes nothing on that has $name behind a good answer", async ({ bytes }) => {
    await withAnswer(bytes, async (rig, cut) => {
      const client = rig.client().send(GOOD);
      await client.until((text) => text.endsWith("good"));
      client.send("GET /bad HTTP/1.1\r\nHost: x\r\n\r\n");
      await client.until((text) => readAnswers(text, ["GET", "GET"]).length === 2);
      expect(statusOf(readAnswers(client.received, ["GET", "GET"])[1]?.raw ?? ""), `cut after ${cut}`).toBe(502);
      client.socket.destroy();
    });
  });

  test.each(HOSTILE_ANSWER_BODIES)("never completes an answer with $name", async ({ bytes }) => {
    await withAnswer(bytes, async (rig, cut) => {
      const client = rig.client().send("GET /bad HTTP/1.1\r\nHost: x\r\n\r\n");
      const came = await Promise.race([
        client.untilClosed(),
        client.until((text) => readMessage(text, { answer: true }) !== null).catch(() => client.received),
      ]);
      const whole = readMessage(came, { answer: true });
      expect(whole === null ? 502 : statusOf(whole.message.raw), `cut after ${cut}: ${came}`).toBe(502);
      client.socket.destroy();
      const other = rig.client().send(GOOD);
      await other.until((text) => readAnswers(text, ["GET"]).length === 1);
      expect(readAnswers(other.received, ["GET"])[0]?.body).toBe("good");
      other.socket.destroy();
    });
  });

  test.each([
    ["a second answer behind the first", `${good}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nevil!`],
    ["a body longer than declared", `${good}evil`],
    ["bytes behind the last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n0\r\n\r\nevil"],
    ["a body on 204", "HTTP/1.1 204 No Content\r\n\r\nevil"],
    ["a body on 304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nevil"],
  ])("gives %s to nobody, cut at every byte", async (_name, bytes) => {
    const rig = await startRig();
    let cut = 0;
    const upstream = await rig.addUpstream("a", (socket: Socket) =>
      onRequests(socket, (request) => {
        if (!request.first.includes("/bad")) {
          socket.write(good);
          return;
        }
        const at = cut;
        socket.write(Buffer.from(bytes.slice(0, at), "latin1"));
        setImmediate(() => socket.write(Buffer.from(bytes.slice(at), "latin1")));
      }),
    );
    await rig.route(["a"]);
    for (cut = 1; cut < bytes.length; cut++) {
      const client = rig.client().send("GET /bad HTTP/1.1\r\nHost: x\r\n\r\n");
      await client.until((text) => readAnswers(text, ["GET"]).length === 1);
      const others = Array.from({ length: 2 }, () => rig.client().send(GOOD));
      for (const other of others) {
        await other.until((text) => readAnswers(text, ["GET"]).length === 1);
        expect(readAnswers(other.received, ["GET"])[0]?.body, `cut after ${cut} bytes`).toBe("good");
        expect(other.received).not.toContain("evil");
      }
      expect(client.received).not.toContain("evil");
      for (const one of [client, ...others]) one.socket.destroy();
    }
    await eventually("no foreign connection is kept", () => upstream.open.size <= 4);
    await rig.stop();
  });
});
