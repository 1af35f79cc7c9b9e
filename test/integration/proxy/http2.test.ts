// HTTP/2 to clients: the same requests, answers and limits as over HTTP/1.1, many at a time on one connection.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:http2";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { FIRST_CERTIFICATE } from "../../support/proxy/certificates.ts";
import {
  ask,
  FLAG,
  FRAME,
  FrameClient,
  frame,
  headerBlock,
  openSession,
  requestBlock,
  uint32,
} from "../../support/proxy/http2-client.ts";
import { onRequests } from "../../support/proxy/messages.ts";
import { eventually, type Rig, startRig } from "../../support/proxy/rig.ts";
import { proxyConfig } from "../../support/proxy-config.ts";

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;
const BIG = "x".repeat(1_500_000);

let dir: string;
let rig: Rig;
const open: { close(): void }[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "owl-h2-"));
  writeFileSync(join(dir, "cert.pem"), FIRST_CERTIFICATE.cert);
  writeFileSync(join(dir, "key.pem"), FIRST_CERTIFICATE.key);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));
afterEach(async () => {
  for (const one of open.splice(0)) one.close();
  await rig.stop();
});

async function start(changes: Parameters<typeof startRig>[0] = {}, http2 = true): Promise<void> {
  const tls = { cert: join(dir, "cert.pem"), key: join(dir, "key.pem"), acme: null, redirectFrom: null };
  rig = await startRig({ tls: { ...tls, hstsMaxAgeS: 60, http2 }, accessLog: true, ...changes });
}

function session() {
  const opened = openSession(rig.port);
  open.push({ close: () => opened.destroy() });
  return opened;
}

function frames(settings?: Buffer): FrameClient {
  const client = new FrameClient(rig.port, settings);
  open.push({ close: () => client.socket.destroy() });
  return client;
}

const text = (id: string) => rig.upstreams.get(id)?.received.map(String).join("") ?? "";
const limited = (more: Partial<ReturnType<typeof proxyConfig>["limits"]>) => ({
  limits: { ...proxyConfig().limits, ...more },
});

/** Answers everything with 200 and its own first line. */
const echo = (socket: Socket) =>
  onRequests(socket, ({ first }) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${first.length}\r\n\r\n${first}`));

describe("a client of HTTP/2", () => {
  test("gets what one of HTTP/1.1 gets, and the upstream sees a request of HTTP/1.1", async () => {
    await start();
    await rig.addUpstream("a", (socket) =>
      onRequests(socket, ({ first, body, trailers }) => {
        if (first.startsWith("HEAD")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n");
        else if (first.includes("/none")) socket.write("HTTP/1.1 204 No Content\r\n\r\n");
        else if (first.includes("/big"))
          socket.write(
            `HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nContent-Length: ${BIG.length}\r\n\r\n${BIG}`,
          );
        else if (first.includes("/early"))
          socket.write(
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n" +
              "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 9\r\nSet-Cookie: c=3\r\n\r\n",
          );
        else {
          const said = `${body}|${trailers.map((pair) => pair.join("=")).join()}`;
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${said.length}\r\n\r\n${said}`);
        }
      }),
    );
    await rig.route(["a"]);
    const client = session();
    const [head, none, big, early, sized, chunked] = await Promise.all([
      ask(client, { ":method": "HEAD", ":path": "/h" }),
      ask(client, { ":path": "/none" }),
      ask(client, { ":path": "/big?q=1", cookie: ["a=1", "b=2"], "x-forwarded-for": "6.6.6.6", te: "trailers" }),
      ask(client, { ":path": "/early" }),
      ask(client, { ":method": "POST", ":path": "/p", "content-length": 5 }, { parts: ["he", "llo"] }),
      ask(
        client,
        { ":method": "PUT", ":path": "/p", expect: "100-continue" },
        { parts: ["a".repeat(70_000), "b"], trailers: { "x-last": "1", host: "evil" } },
      ),
    ]);
    expect(head).toMatchObject({ status: 200, body: "" });
    expect(head.headers["content-length"]).toBe("7");
    expect(none.status).toBe(204);
    expect(big.body === BIG).toBe(true);
    expect(big.headers["x-hop"]).toBeUndefined();
    expect(big.headers["strict-transport-security"]).toBe("max-age=60");
    expect(big.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(early).toMatchObject({ status: 200, body: "ok", information: [103] });
    expect(early.headers["set-cookie"]).toEqual(["a=1", "b=2"]);
    expect(early.trailers).toMatchObject({ "x-sum": "9" });
    expect(early.trailers["set-cookie"]).toBeUndefined();
    expect(sized.body).toBe("hello|");
    expect(chunked.body).toBe(`${"a".repeat(70_000)}b|x-last=1`);
    const seen = text("a");
    expect(seen).toMatch(/GET \/big\?q=1 HTTP\/1\.1\r\n/);
    expect(seen).toMatch(/cookie: a=1; b=2\r\n/);
    expect(seen).toMatch(/X-Forwarded-For: 127\.0\.0\.1\r\nX-Forwarded-Proto: https\r\n/);
    expect(seen).not.toMatch(/6\.6\.6\.6|te: trailers|evil/);
    expect(rig.access).toContainEqual(
      expect.objectContaining({ method: "GET", target: "/big?q=1", status: 200, upstream: "a", bytesOut: BIG.length }),
    );
    expect(await rig.counters()).toMatchObject({ requests: 6, connections: 1, inFlight: 0 });
  });

  test("gets files by name, by part, packed, and not twice", async () => {
    await start();
    const files = mkdtempSync(join(dir, "files-"));
    writeFileSync(join(files, "app.js"), BIG);
    writeFileSync(join(files, "app.js.gz"), gzipSync(BIG));
    await rig.routes([rig.routeTo([], { path: "/", files: { directories: [files], cacheS: 60 } })]);
    const client = session();
    const whole = await ask(client, { ":path": "/app.js" });
    expect([whole.status, whole.body === BIG, whole.headers["cache-control"]]).toEqual([
      200,
      true,
      "public, max-age=60",
    ]);
    const etag = whole.headers.etag ?? "";
    const [same, part, packed, head, none] = await Promise.all([
      ask(client, { ":path": "/app.js", "if-none-match": etag }),
      ask(client, { ":path": "/app.js", range: "bytes=1-3" }),
      ask(client, { ":path": "/app.js", "accept-encoding": "gzip" }),
      ask(client, { ":path": "/app.js", ":method": "HEAD" }),
      ask(client, { ":path": "/none.js" }),
    ]);
    expect([same.status, same.body, same.headers.etag]).toEqual([304, "", etag]);
    expect([part.status, part.body, part.headers["content-range"]]).toEqual([206, "xxx", `bytes 1-3/${BIG.length}`]);
    expect(packed.headers).toMatchObject({ "content-encoding": "gzip", vary: "Accept-Encoding" });
    expect(gunzipSync(Buffer.from(packed.body, "latin1")).toString() === BIG).toBe(true);
    expect([head.status, head.body, head.headers["content-length"]]).toEqual([200, "", String(BIG.length)]);
    expect(none.status).toBe(404);
  });

  test("is offered no tunnels, and who knows no HTTP/2, or is not offered it, gets HTTP/1.1", async () => {
    await start();
    await rig.addUpstream("a", echo);
    await rig.route(["a"]);
    const client = session();
    const settings = await new Promise((resolve) => client.once("remoteSettings", resolve));
    expect(settings).toMatchObject({ enableConnectProtocol: false, maxConcurrentStreams: 100 });
    expect((await ask(client, { ":method": "CONNECT", ":authority": "x:1" })).status).toBe(405);
    const agreed = (protocols: string[]) =>
      new Promise((resolve, reject) => {
        const options = { port: rig.port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: protocols };
        const socket = connectTls(options, () => {
          resolve(socket.alpnProtocol);
          socket.destroy();
        });
        socket.on("error", reject);
      });
    expect(await agreed(["http/1.1"])).toBe("http/1.1");
    expect(await agreed(["h2", "http/1.1"])).toBe("h2");
    await rig.stop();
    await start({}, false);
    expect(await agreed(["h2", "http/1.1"])).toBe("http/1.1");
  });

  test("has its request tried again where the retry table says so, and nowhere else", async () => {
    await start();
    let cuts = 0;
    await rig.addUpstream("a", (socket) => {
      socket.once("data", () => {
        cuts++;
        socket.destroy();
      });
    });
    await rig.addUpstream("b", echo);
    await rig.route(["a"]);
    const client = session();
    expect((await ask(client, { ":method": "POST", ":path": "/" }, { parts: ["x"] })).status).toBe(502);
    expect(cuts).toBe(1);
    await rig.upstreams.get("a")?.close();
    await rig.route(["a", "b"]);
    const answers = await Promise.all(
      ["GET", "POST", "GET", "POST"].map((method) =>
        ask(client, { ":method": method, ":path": "/" }, method === "POST" ? { parts: ["x"] } : undefined),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await rig.routes([]);
    expect((await ask(client, { ":path": "/", "accept-language": "ko" })).headers["content-language"]).toBe("ko");
  });

  test("that breaks off a body never makes it look whole, and one that is too large is told", async () => {
    await start(limited({ bodyBytes: 100_000 }));
    const upstream = await rig.addUpstream("a", (socket) =>
      onRequests(socket, () => socket.write("HTTP/1.1 200 OK\r\n\r\n")),
    );
    await rig.route(["a"]);
    const client = session();
    const broken = client.request({ ":method": "POST", ":path": "/" });
    broken.on("error", () => undefined);
    broken.write("half");
    await eventually("the half is there", () => text("a").includes("half"));
    broken.close(NGHTTP2_CANCEL);
    await eventually("the upstream's request is aborted", () => upstream.open.size === 0);
    expect(text("a")).toMatch(/4\r\nhalf\r\n$/);
    const declared = { ":method": "POST", ":path": "/", "content-length": 200_000 };
    expect((await ask(client, declared, { parts: [BIG.slice(0, 200_000)] })).status).toBe(413);
    const counted = await ask(client, { ":method": "POST", ":path": "/" }, { parts: [BIG.slice(0, 200_000)] });
    expect(counted.status).toBe(413);
    expect(text("a")).not.toMatch(/0\r\n\r\n$/);
  });

  test("that reads slowly holds up its own stream alone, and its upstream with it", async () => {
    await start();
    let sent = 0;
    await rig.addUpstream("a", (socket) =>
      onRequests(socket, ({ first }) => {
        if (!first.includes("/endless")) {
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
          return;
        }
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        const more = () => {
          while (sent < 64 * BIG.length && socket.write(BIG)) sent += BIG.length;
          sent += BIG.length;
        };
        socket.on("drain", more);
        more();
      }),
    );
    await rig.route(["a"]);
    const client = session();
    const slow = client.request({ ":path": "/endless" });
    slow.on("error", () => undefined);
    slow.pause();
    await new Promise((resolve) => slow.once("response", resolve));
    for (let at = 0; at < 20; at++) expect((await ask(client, { ":path": "/" })).body).toBe("ok");
    expect(sent).toBeLessThan(4 * BIG.length);
    let read = 0;
    await new Promise<void>((resolve) => {
      slow.on("data", (chunk: Buffer) => {
        read += chunk.length;
        if (read > 6 * BIG.length) resolve();
      });
      slow.resume();
    });
    slow.close(NGHTTP2_CANCEL);
  });

  test("has its event stream moved and its request finished when the proxy drains, and is told to go elsewhere", async () => {
    await start();
    const waiting: Socket[] = [];
    await rig.addUpstream("a", (socket) =>
      onRequests(socket, ({ first }) => {
        if (first.includes("/events"))
          socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n");
        else waiting.push(socket);
      }),
    );
    await rig.route(["a"]);
    const client = session();
    const goaway = new Promise((resolve) => client.once("goaway", resolve));
    const events = ask(client, { ":path": "/events" });
    const slow = ask(client, { ":path": "/slow" });
    await eventually("both are under way", () => waiting.length === 1 && text("a").includes("/events"));
    await eventually("it is a stream", async () => (await rig.counters()).upstreams[0]?.streams === 1);
    rig.proxy.drain();
    expect(await goaway).toBe(NGHTTP2_NO_ERROR);
    expect(await events).toMatchObject({ status: 200, body: "data: 1\n\n", code: NGHTTP2_NO_ERROR });
    waiting[0]?.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    expect(await slow).toMatchObject({ status: 200, body: "ok" });
    await rig.proxy.stopped;
  });
});

describe("a hostile client of HTTP/2", () => {
  const request = (stream: number, more: readonly (readonly [string, string])[] = []) =>
    frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, stream, requestBlock(more));

  test("that opens and resets streams, pings, or sends settings without end is sent away", async () => {
    await start();
    await rig.addUpstream("a", () => undefined);
    await rig.route(["a"]);
    const floods: ((at: number) => Buffer)[] = [
      (at) => Buffer.concat([request(2 * at + 1), frame(FRAME.rstStream, 0, 2 * at + 1, uint32(NGHTTP2_CANCEL))]),
      () => frame(FRAME.ping, 0, 0, Buffer.alloc(8)),
      () => frame(FRAME.settings, 0, 0),
      // A window too large by a WINDOW_UPDATE: the reset is ours, the work is the same.
      (at) => Buffer.concat([request(2 * at + 1), frame(FRAME.windowUpdate, 0, 2 * at + 1, uint32(2 ** 31 - 1))]),
    ];
    for (const flood of floods) {
      const client = frames();
      client.send(...Array.from({ length: 2_000 }, (_, at) => flood(at)));
      expect(await client.farewell()).not.toBe(NGHTTP2_NO_ERROR);
      expect(client.frames.filter(({ type }) => type === FRAME.headers)).toEqual([]);
    }
    expect((await rig.counters()).refused.http2Flood).toBeGreaterThanOrEqual(2);
    await eventually("nothing is left of it", async () => {
      const { connections, inFlight } = await rig.counters();
      return connections === 0 && inFlight === 0 && rig.upstreams.get("a")?.open.size === 0;
    });
  });

  test("that sends a head without end, or a list too large, is refused, and many streams are bounded", async () => {
    await start();
    await rig.addUpstream("a", () => undefined);
    await rig.route(["a"]);
    const endless = frames().send(frame(FRAME.headers, FLAG.endStream, 1, requestBlock()));
    for (let at = 0; at < 40; at++)
      endless.send(frame(FRAME.continuation, 0, 1, headerBlock([[`x-${at}`, "v".repeat(4_000)]])));
    expect(await endless.farewell()).not.toBe(NGHTTP2_NO_ERROR);
    const client = session();
    const large = { ":path": "/", "x-large": "v".repeat(20_000) };
    expect((await ask(client, large)).status).toBe(431);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`x-${at}`, "v".repeat(40)]));
    expect(await ask(client, { ":path": "/", ...many })).toMatchObject({ status: 431 });
    const greedy = frames();
    greedy.send(...Array.from({ length: 110 }, (_, at) => request(2 * at + 1)));
    const refused = await greedy.next(FRAME.rstStream);
    expect(refused?.payload.readUInt32BE(0) ?? NGHTTP2_REFUSED_STREAM).toBe(NGHTTP2_REFUSED_STREAM);
    await eventually("a hundred are under way", async () => (await rig.counters()).inFlight === 100);
  });

  test.each([
    ["a header of the connection", [["connection", "close"]]],
    ["a coding of HTTP/1.1", [["transfer-encoding", "chunked"]]],
    ["a name in upper case", [["X-Up", "1"]]],
    ["another Host", [["host", "evil"]]],
    ["a length without a body", [["content-length", "5"]]],
    [
      "two lengths",
      [
        ["content-length", "0"],
        ["content-length", "0"],
      ],
    ],
    [
      "a pseudo-header too late",
      [
        ["x-a", "1"],
        [":path", "/evil"],
      ],
    ],
  ] as const)("that sends %s reaches no upstream", async (_, more) => {
    await start();
    const upstream = await rig.addUpstream("a", echo);
    await rig.route(["a"]);
    const client = frames().send(request(1, more));
    const ended = await Promise.race([
      client.next(FRAME.rstStream, 1),
      client.next(FRAME.headers, 1),
      client.next(FRAME.goaway),
    ]);
    expect(ended).not.toBeNull();
    expect(upstream.accepted).toBe(0);
  });

  test("that hides a line's end in a value has the value passed over", async () => {
    await start();
    await rig.addUpstream("a", echo);
    await rig.route(["a"]);
    await frames()
      .send(request(1, [["x-a", "1\r\nHost: evil"]]))
      .next(FRAME.headers, 1);
    expect(text("a")).toContain("GET / HTTP/1.1\r\n");
    expect(text("a")).not.toContain("evil");
  });

  test("that sends nothing, half a body, or takes nothing, is left after the idle time", async () => {
    await start(limited({ idleTimeoutMs: 600, headerTimeoutMs: 600 }));
    await rig.addUpstream("a", (socket) =>
      onRequests(socket, () => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${BIG.length}\r\n\r\n${BIG}`)),
    );
    await rig.route(["a"]);
    const idle = frames();
    const half = frames().send(
      frame(FRAME.headers, FLAG.endHeaders, 1, requestBlock([["content-length", "9"]], "/", "POST")),
      frame(FRAME.data, 0, 1, Buffer.from("half")),
    );
    // No window at all: SETTINGS_INITIAL_WINDOW_SIZE 0.
    const deaf = frames(Buffer.concat([Buffer.of(0, 4), uint32(0)])).send(request(1));
    expect(await idle.farewell()).toBe(NGHTTP2_NO_ERROR);
    expect((await half.next(FRAME.headers, 1))?.payload.includes("408")).toBe(true);
    expect(await deaf.next(FRAME.rstStream, 1)).not.toBeNull();
    await Promise.all([half.farewell(), deaf.farewell()]);
    await eventually("nothing is left of them", async () => {
      const { connections, inFlight } = await rig.counters();
      return connections === 0 && inFlight === 0 && rig.upstreams.get("a")?.open.size === 0;
    });
  });

  test("that opens more streams than the process may serve has the further ones refused", async () => {
    await start(limited({ connections: 3 }));
    await rig.addUpstream("a", () => undefined);
    await rig.route(["a"]);
    const client = frames().send(request(1), request(3), request(5), request(7));
    expect((await client.next(FRAME.rstStream, 7))?.payload.readUInt32BE(0)).toBe(NGHTTP2_REFUSED_STREAM);
    expect((await rig.counters()).inFlight).toBe(3);
  });
});
