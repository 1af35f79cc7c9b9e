// The retry table on real sockets: what is tried again, what never is, and what the client gets.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { echoScript, header, onRequests, readAnswers } from "../../support/proxy/messages.ts";
import { eventually, type Rig, startRig } from "../../support/proxy/rig.ts";

const GET = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const POST = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";

/** A TCP port whose accept queue is full and stays so: its process has stopped itself. */
async function startDeaf(): Promise<{ readonly port: number; stop(): void }> {
  const code = `const server = require("node:net").createServer();
    server.listen({ host: "127.0.0.1", port: 0, backlog: 1 }, () => {
      require("node:fs").writeSync(1, server.address().port + "\\n");
      process.kill(process.pid, "SIGSTOP");
    });`;
  const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  const [bytes] = (await once(child.stdout, "data")) as [Buffer];
  const port = Number(bytes.toString());
  const fillers: Socket[] = [];
  const stop = () => {
    for (const socket of fillers) socket.destroy();
    child.kill("SIGKILL");
  };
  // One filler after the other, until one is left waiting.
  for (let waiting = false; !waiting; ) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    fillers.push(socket);
    waiting = await Promise.race([
      once(socket, "connect").then(() => false),
      new Promise<true>((resolve) => setTimeout(() => resolve(true), 500)),
    ]);
  }
  return { port, stop };
}

describe("the proxy", () => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig({ queueTimeoutMs: 300, connectTimeoutMs: 200, drainTimeoutMs: 3_000 });
  });
  afterEach(async () => {
    await rig.stop();
  });

  const ask = async (request: string) => {
    const client = rig.client().send(request);
    await client.until((text) => readAnswers(text, ["GET"]).length === 1);
    const answer = readAnswers(client.received, ["GET"])[0];
    client.socket.destroy();
    return { status: Number(answer?.first.split(" ")[1]), answer };
  };
  test("one set aside answers while nobody else can be connected to, and never beside others", async () => {
    const fresh = await rig.addUpstream("new", echoScript("new"));
    const aside = await rig.addUpstream("aside", echoScript("aside"));
    await rig.route(["new"], { fallback: rig.routeTo(["aside"]).upstreams });
    expect((await ask(GET)).status).toBe(200);
    expect([fresh.accepted, aside.accepted]).toEqual([1, 0]);
    await fresh.close();
    for (let n = 0; n < 3; n++) expect((await ask(GET)).status).toBe(200);
    expect(aside.accepted).toBeGreaterThan(0);
    expect(await rig.counters()).toMatchObject({ failures: 0, inFlight: 0 });
  });

  /** Dies as soon as a request has arrived. */
  const deadly = (socket: Socket) => void socket.once("data", () => socket.destroy());
  const onTrial = () => rig.route(["new"], { fallback: rig.routeTo(["aside"]).upstreams });

  test.each([
    ["hangs up", deadly],
    [
      "answers 500",
      (socket: Socket) => onRequests(socket, () => void socket.write("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")),
    ],
  ])(
    "a change that %s while old ones stand aside: they answer what may be repeated, and nothing else",
    async (_, bad) => {
      const fresh = await rig.addUpstream("new", bad);
      await rig.addUpstream("aside", echoScript("aside"));
      await onTrial();
      expect((await ask(POST)).status).toBeGreaterThanOrEqual(500);
      expect((await ask(GET)).status).toBe(200);
      expect(fresh.accepted).toBe(2);
      const { upstreams, retries } = await rig.counters();
      expect(retries).toBe(1);
      expect(upstreams.find(({ id }) => id === "new")?.responses["5xx"]).toBe(2);
      // It failed twice in a row: others are asked for a while.
      expect((await ask(POST)).status).toBe(200);
    },
  );

  test("a change that never answers gets one request first, which an old one answers once it is taken back", async () => {
    const fresh = await rig.addUpstream("new", () => undefined);
    await rig.addUpstream("aside", echoScript("aside"));
    await onTrial();
    const waiting = ask(GET);
    await eventually("it is with the new one", () => fresh.accepted === 1);
    expect((await ask(POST)).status).toBe(200);
    await rig.route(["aside"]);
    expect((await waiting).status).toBe(200);
    expect(fresh.accepted).toBe(1);
    expect(await rig.counters()).toMatchObject({ failures: 0, inFlight: 0 });
  });

  test("a POST that cannot connect goes to the next upstream, and the refusing one is asked less", async () => {
    await rig.addUpstream("b", echoScript("b"));
    await rig.route(["gone", "b"]);
    for (let n = 0; n < 10; n++) expect((await ask(POST)).status).toBe(200);
    const counters = await rig.counters();
    // Once, or again when its mark is over: 1 s, then 2, 4 ... a slow machine needs that long for the ten.
    expect(counters.retries).toBeGreaterThan(0);
    expect(counters.retries).toBeLessThan(6);
    expect(counters.upstreams.find(({ id }) => id === "gone")?.connectFailures).toBe(counters.retries);
    expect(rig.log.find((line) => line.retries === "recovered")).toMatchObject({
      method: "POST",
      upstream: "b",
      attempts: 2,
      failed: [{ upstream: "gone", reason: "connectRefused" }],
    });
  });

  test("all refused: each is tried once, then 502 with Retry-After", async () => {
    await rig.route(["x", "y", "z"]);
    const { status, answer } = await ask(POST);
    expect(status).toBe(502);
    expect(answer && header(answer, "retry-after")).toBe("1");
    const { upstreams, failures } = await rig.counters();
    expect(upstreams.map((upstream) => upstream.connectFailures)).toEqual([1, 1, 1]);
    expect(failures).toBe(1);
  });

  test("the only upstream, though marked after a failure, is tried again at once", async () => {
    await rig.route(["a"]);
    expect((await ask(GET)).status).toBe(502);
    await rig.addUpstream("a", echoScript("a"));
    expect((await ask(GET)).status).toBe(200);
  });

  test("a full backlog on a Unix socket is a connect failure: the next upstream serves", async () => {
    const path = join(rig.dir, "full.sock");
    const { fill, stop } = await fullBacklog(path);
    await rig.addUpstream("b", echoScript("b"));
    await rig.route(["full", "b"]);
    for (let n = 0; n < 4; n++) expect((await ask(POST)).status).toBe(200);
    expect(fill).toBeGreaterThan(0);
    stop();
  });

  test("a POST whose upstream died after reading gets 502 and is executed once", async () => {
    const dead = await rig.addUpstream("a", deadly);
    const other = await rig.addUpstream("b", deadly);
    await rig.route(["a", "b"]);
    const { status, answer } = await ask(POST);
    expect(status).toBe(502);
    expect(answer && header(answer, "retry-after")).toBe("1");
    expect(dead.accepted + other.accepted).toBe(1);
    expect((await rig.counters()).retryReasons).toMatchObject({ failedAfterSend: 1 });
    expect(rig.log.find((line) => line.retries === "refused")).toMatchObject({
      reason: "failedAfterSend",
      method: "POST",
    });
  });

  test("a GET that died on a fresh connection gets 502 and is executed once", async () => {
    const upstream = await rig.addUpstream("a", deadly);
    await rig.route(["a"]);
    expect((await ask(GET)).status).toBe(502);
    expect(upstream.accepted).toBe(1);
    // What it owes an answer counts as one of its own: by that new instances are compared with old ones.
    expect((await rig.counters()).upstreams.find(({ id }) => id === "a")?.responses["5xx"]).toBe(1);
  });

  test("a GET on a reused connection that the upstream just closed goes once more on a fresh one", async () => {
    let served = 0;
    const upstream = await rig.addUpstream("a", (socket, connection) =>
      onRequests(socket, () => {
        served++;
        // The second request on the first connection finds it closing.
        if (connection === 0 && served === 2) socket.destroy();
        else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      }),
    );
    await rig.route(["a"]);
    expect((await ask(GET)).status).toBe(200);
    await eventually("the connection is idle", () => upstream.open.size === 1);
    expect((await ask(GET)).status).toBe(200);
    expect(upstream.accepted).toBe(2);
    expect((await rig.counters()).retryReasons).toMatchObject({ reusedConnectionClosed: 1 });
  });

  test("a GET on a reused connection that fails after a response byte is not sent again", async () => {
    let served = 0;
    const upstream = await rig.addUpstream("a", (socket) =>
      onRequests(socket, () => {
        served++;
        if (served === 2) socket.end("HTTP/1.1 2");
        else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      }),
    );
    await rig.route(["a"]);
    await ask(GET);
    expect((await ask(GET)).status).toBe(502);
    expect(served).toBe(2);
    expect(upstream.accepted).toBe(1);
  });

  test("a request that may write never goes on a reused connection", async () => {
    const upstream = await rig.addUpstream("a", echoScript("a"));
    await rig.route(["a"]);
    await ask(GET);
    for (let n = 1; n <= 4; n++) {
      await ask(POST);
      expect(upstream.accepted).toBe(n + 1);
    }
    for (const received of upstream.received.slice(1)) {
      expect(received.toString("latin1").match(/POST /g)).toHaveLength(1);
    }
  });

  test("the connection of a POST without a body serves the GETs after it, no other POST", async () => {
    const upstream = await rig.addUpstream("a", echoScript("a"));
    await rig.route(["a"]);
    const client = rig.client();
    const empty = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
    for (const request of [empty, GET, GET, empty, GET]) {
      client.received = "";
      client.send(request);
      await client.until((text) => readAnswers(text, ["GET"]).length === 1);
    }
    expect(upstream.received.map((bytes) => bytes.toString().match(/(?:GET|POST)(?= \/a)/g))).toEqual([
      ["POST", "GET", "GET"],
      ["POST", "GET"],
    ]);
  });

  test("an upstream that takes over the limit to connect to is passed over; 504 when every one does", async () => {
    await rig.addUpstream("b", echoScript("b"));
    const deaf = await startDeaf();
    try {
      const hanging = { id: "deaf", target: { host: "127.0.0.1", port: deaf.port } };
      const route = rig.routeTo(["b"]);
      await rig.routes([{ ...route, upstreams: [hanging, ...route.upstreams] }]);
      const [first, second] = await Promise.all([ask(POST), ask(POST)]);
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(rig.log.find((line) => line.retries === "recovered")).toMatchObject({
        failed: [{ upstream: "deaf", reason: "connectTimedOut" }],
      });
      await rig.routes([{ ...route, upstreams: [hanging] }]);
      expect((await ask(POST)).status).toBe(504);
      expect((await ask(GET)).status).toBe(504);
    } finally {
      deaf.stop();
    }
  });

  test("an answer that breaks off closes the client's connection short of its length", async () => {
    await rig.addUpstream("a", (socket) =>
      onRequests(socket, () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")),
    );
    await rig.route(["a"]);
    const came = await rig.client().send(GET).untilClosed();
    expect(came).toMatch(/short$/);
  });

  test("an answer that is not HTTP gets 502", async () => {
    await rig.addUpstream("a", (socket) => onRequests(socket, () => socket.write("SSH-2.0-x\r\n\r\n")));
    await rig.route(["a"]);
    expect((await ask(GET)).status).toBe(502);
  });

  test("requests wait for an upstream to become ready, then go on; in vain: 503 with a page for browsers", async () => {
    await rig.route([]);
    const waiting = rig.client().send(POST);
    await eventually("it waits", async () => (await rig.counters()).inFlight === 1);
    await rig.addUpstream("a", echoScript("a"));
    await rig.route(["a"]);
    await waiting.until((text) => readAnswers(text, ["POST"]).length === 1);
    expect(waiting.received).toMatch(/^HTTP\/1\.1 200 /);
    await rig.route([]);
    const { status, answer } = await ask(
      "GET / HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nAccept-Language: ko-KR,ko;q=0.9,en;q=0.5\r\n\r\n",
    );
    expect(status).toBe(503);
    expect(answer && header(answer, "retry-after")).toBe("1");
    expect(Buffer.from(answer?.body ?? "", "latin1").toString()).toContain("서비스");
  });

  test("before the first table requests wait too; no route: 404; a closed route: its 503 page at once", async () => {
    expect((await ask(GET)).status).toBe(503);
    await rig.addUpstream("a", echoScript("a"));
    await rig.routes([
      rig.routeTo(["a"], { path: "/api" }),
      rig.routeTo(["a"], { path: "/out", closed: { retryAfterS: 42, reason: "migration" } }),
    ]);
    expect((await ask("GET /apix HTTP/1.1\r\nHost: x\r\n\r\n")).status).toBe(404);
    expect((await ask("GET /api/x HTTP/1.1\r\nHost: x\r\n\r\n")).status).toBe(200);
    const { status, answer } = await ask("GET /out HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(status).toBe(503);
    expect(answer && header(answer, "retry-after")).toBe("42");
  });

  test("the busiest upstream gets no more, ties go round", async () => {
    const hang = (socket: Socket) => onRequests(socket, () => {});
    const names = ["a", "b", "c"];
    for (const name of names) await rig.addUpstream(name, hang);
    await rig.route(names);
    for (let n = 0; n < 9; n++) rig.client().send(GET);
    await eventually("all are under way", async () => (await rig.counters()).inFlight === 9);
    const { upstreams } = await rig.counters();
    expect(upstreams.map(({ inFlight }) => inFlight)).toEqual([3, 3, 3]);
  });

  test("an upstream that leaves: idle connections are closed at once, what is in flight finishes, then `idle` is told", async () => {
    let answer: () => void = () => {};
    const leaving = await rig.addUpstream("a", (socket) =>
      onRequests(socket, (request) => {
        const reply = () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone");
        if (request.first.includes("/slow")) answer = reply;
        else reply();
      }),
    );
    await rig.addUpstream("b", echoScript("b"));
    await rig.route(["a"]);
    const slow = rig.client().send("POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    await ask(GET);
    await eventually("one busy and one idle connection", () => leaving.open.size === 2);
    await rig.route(["b"]);
    await eventually("the idle one is closed", () => leaving.open.size === 1);
    expect((await ask(POST)).answer?.body).toContain('"id":"b"');
    answer();
    await slow.until((text) => text.endsWith("done"));
    expect((await rig.next("idle")).upstream).toBe("a");
    await eventually("the last connection is closed", () => leaving.open.size === 0);
  });

  test("moved streams: an event stream ends whole, a WebSocket between frames with 1012, a finished one untouched", async () => {
    let socketOfWeb: Socket | null = null;
    const upstream = await rig.addUpstream("a", (socket) => {
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1");
        if (!text.includes("\r\n\r\n") || socketOfWeb === socket) return;
        if (text.includes("/ws")) {
          socketOfWeb = socket;
          socket.write(
            Buffer.from(
              "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x05he",
              "latin1",
            ),
          );
        } else {
          socket.write(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n",
          );
          if (text.includes("/own")) socket.write("5\r\nlast\n\r\n0\r\n\r\n");
          text = "";
        }
      });
    });
    await rig.route(["a"]);
    const own = rig.client().send("GET /own HTTP/1.1\r\nHost: x\r\n\r\n");
    await own.until((text) => text.includes("last\n") && text.endsWith("0\r\n\r\n"));
    const events = rig.client().send(GET);
    await events.until((text) => text.includes("data: 1"));
    const web = rig.client().send("GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    await web.until((text) => text.endsWith("\x81\x05he"));
    rig.send({ type: "moveStreams", upstream: "a" });
    await events.until((text) => text.endsWith("data: 1\n\n\r\n0\r\n\r\n"));
    await eventually("both are moved", async () => (await rig.counters()).streamsMoved === 2);
    (socketOfWeb as Socket | null)?.write("llo!!!");
    expect((await web.untilClosed()).endsWith("\x81\x05hello\x88\x02\x03\xf4")).toBe(true);
    await eventually("the upstream's streams are closed", () => upstream.open.size <= 1);
  });

  test("draining: accepts nothing new, says close on answers, closes idle clients, ends when all is over", async () => {
    let answer: () => void = () => {};
    await rig.addUpstream("a", (socket) =>
      onRequests(socket, (request) => {
        const reply = () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone");
        if (request.first.includes("/slow")) answer = reply;
        else reply();
      }),
    );
    await rig.route(["a"]);
    const idle = rig.client().send(GET);
    await idle.until((text) => text.endsWith("done"));
    const busy = rig.client().send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
    await eventually("it is in flight", async () => (await rig.counters()).inFlight === 1);
    rig.send({ type: "drain" });
    expect((await rig.next("draining")).inFlight).toBe(1);
    await idle.untilClosed();
    answer();
    expect(await busy.untilClosed()).toMatch(/Connection: close\r\n[\s\S]*done$/i);
    await rig.proxy.stopped;
  });
});

/** A Unix socket whose accept queue is full and that nobody accepts from. */
async function fullBacklog(path: string): Promise<{ fill: number; stop: () => void }> {
  const { spawn } = await import("node:child_process");
  const program = `const net=require("node:net");const s=net.createServer();s.listen({path:process.argv[1],backlog:1},()=>{process.stdout.write("up\\n");const end=Date.now()+60000;while(Date.now()<end);});`;
  const child = spawn(process.execPath, ["-e", program, path], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  const { connect } = await import("node:net");
  const sockets: Socket[] = [];
  let full = false;
  while (!full) {
    const socket = connect({ path });
    sockets.push(socket);
    await new Promise<void>((resolve) => {
      socket.once("connect", () => resolve());
      socket.once("error", () => {
        full = true;
        resolve();
      });
    });
  }
  return {
    fill: sockets.length,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      child.kill("SIGKILL");
    },
  };
}
