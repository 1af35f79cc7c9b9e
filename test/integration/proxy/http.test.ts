// HTTP as the proxy must speak it: raw bytes in, raw bytes out, a scripted upstream behind.

import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { echoScript, header, onRequests, readAnswers } from "../../support/proxy/messages.ts";
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

  test("keeps a client connection through many requests and answers pipelined ones in order", async () => {
    await withUpstream(echoScript("a"));
    const client = rig.client();
    let text = "";
    for (let n = 0; n < 20; n++) text += `GET /${n} HTTP/1.1\r\nHost: x\r\n\r\n`;
    client.send(text);
    const all = await client.until((came) => readAnswers(came, Array(20).fill("GET")).length === 20);
    const targets = readAnswers(all, Array(20).fill("GET")).map((answer) => JSON.parse(answer.body).target);
    expect(targets).toEqual(Array.from({ length: 20 }, (_, n) => `/${n}`));
  });

  test.each([
    ["//cms/x"],
    ["/a/%2F/b"],
    ["/a//b?x=%E3%81%82&y=a+b"],
    ["/..%2f"],
    ["/a/../b/./c"],
    ["/a;b=c?d=[e]&f='g'"],
  ])("passes the target %s on byte for byte", async (target) => {
    await withUpstream(echoScript("a"));
    const client = rig.client().send(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const came = await client.until((text) => readAnswers(text, ["GET"]).length === 1);
    expect(JSON.parse(readAnswers(came, ["GET"])[0]?.body ?? "").target).toBe(target);
  });

  test("removes hop-by-hop headers both ways, those named by Connection too, and sets the forwarding ones", async () => {
    const upstream = await withUpstream((socket) =>
      onRequests(socket, () =>
        socket.write(
          "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=9\r\nConnection: keep-alive, X-Private\r\nX-Private: 1\r\nX-Kept: 2\r\nProxy-Authenticate: no\r\nContent-Length: 2\r\n\r\nok",
        ),
      ),
    );
    const client = rig
      .client()
      .send(
        "GET / HTTP/1.1\r\nHost: team.example:81\r\nConnection: keep-alive, x-secret, Host\r\nKeep-Alive: 5\r\nX-Secret: s\r\nTE: trailers\r\nProxy-Authorization: p\r\nX-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Prefix: /evil\r\nForwarded: for=6.6.6.6\r\nX-Request-Id: mine\r\nX-Real-IP: 6.6.6.6\r\nCookie: a=b\r\n\r\n",
      );
    const came = await client.until((text) => readAnswers(text, ["GET"]).length === 1);
    const answer = readAnswers(came, ["GET"])[0];
    expect(
      answer && [header(answer, "x-private"), header(answer, "keep-alive"), header(answer, "proxy-authenticate")],
    ).toEqual([null, null, null]);
    expect(answer && header(answer, "x-kept")).toBe("2");
    const sent = upstream.received[0]?.toString("latin1").toLowerCase() ?? "";
    for (const gone of [
      "x-secret",
      "te:",
      "proxy-authorization",
      "6.6.6.6",
      "/evil",
      "x-request-id: mine",
      "x-real-ip",
    ]) {
      expect(sent).not.toContain(gone);
    }
    expect(sent).toContain("host: team.example:81\r\n");
    expect(sent).toContain("cookie: a=b\r\n");
    expect(sent).toContain("x-forwarded-for: 127.0.0.1\r\n");
    expect(sent).toContain("x-forwarded-proto: http\r\n");
    expect(sent).toContain("x-forwarded-host: team.example:81\r\n");
    expect(sent).toContain('forwarded: for=127.0.0.1;host="team.example:81";proto=http\r\n');
    expect(sent).toMatch(/x-request-id: [0-9a-f-]{36}\r\n/);
  });

  test("passes bytes beyond ASCII in header values on as they are, both ways", async () => {
    const name = Buffer.from('attachment; filename="보고서.txt"').toString("latin1");
    const upstream = await withUpstream((socket) =>
      onRequests(socket, (request) => {
        const head = `HTTP/1.1 200 OK\r\nContent-Disposition: ${name}\r\nX-Old: caf\xe9\r\n`;
        const body = request.first.startsWith("HEAD") ? "" : "ok";
        socket.write(Buffer.from(`${head}Content-Length: 2\r\n\r\n${body}`, "latin1"));
      }),
    );
    for (const request of [
      "GET / HTTP/1.1\r\n",
      "HEAD / HTTP/1.1\r\n",
      "POST / HTTP/1.1\r\nContent-Length: 0\r\n",
      // node:http writes the head of a request with Expect as UTF-8.
      "POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n",
    ]) {
      const client = rig.client().send(`${request}Host: x\r\nX-Name: ${name}\r\n\r\n`);
      if (request.includes("Expect")) client.send("hi");
      const method = request.split(" ")[0] ?? "";
      await client.until((text) => readAnswers(text, [method]).length === 1);
      expect(client.received).toMatch(/^HTTP\/1\.1 200 /);
      expect(client.received).toContain(`: ${name}\r\n`);
      expect(client.received).toContain(": caf\xe9\r\n");
      const sent = Buffer.concat(upstream.received).toString("latin1");
      expect(sent.split(`X-Name: ${name}\r\n`).length).toBeGreaterThan(1);
      expect(sent.match(/X-Name: [^\r]*\r\n/g)?.every((line) => line === `X-Name: ${name}\r\n`)).toBe(true);
    }
  });

  test("passes a body of known length and one in chunks with trailers", async () => {
    const upstream = await withUpstream(echoScript("a"));
    const client = rig
      .client()
      .send("POST /l HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
      .send(
        "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 11\r\nHost: evil\r\n\r\n",
      )
      .send(GET);
    const came = await client.until((text) => readAnswers(text, ["POST", "POST", "GET"]).length === 3);
    const bodies = readAnswers(came, ["POST", "POST", "GET"]).map((answer) => JSON.parse(answer.body).body);
    expect(bodies).toEqual(["hello", "hello world", ""]);
    const sent = Buffer.concat(upstream.received).toString("latin1");
    expect(sent).toMatch(/\r\n0\r\nX-Sum: 11\r\n\r\n/i);
    expect(sent).not.toContain("evil");
    expect(sent).not.toContain("ext=1");
  });

  test("answers in chunks with trailers, and a body that only the end of the connection ends", async () => {
    await withUpstream((socket) =>
      onRequests(socket, (request) => {
        if (request.first.includes("/close")) {
          socket.end("HTTP/1.1 200 OK\r\n\r\nuntil the end");
        } else {
          socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
          setImmediate(() => socket.write("4;x=y\r\ndefg\r\n0\r\nX-Sum: 7\r\n\r\n"));
        }
      }),
    );
    const client = rig.client().send(GET).send("GET /close HTTP/1.1\r\nHost: x\r\n\r\n");
    const came = await client.until((text) => readAnswers(text, ["GET", "GET"]).length === 2);
    const [chunked, closed] = readAnswers(came, ["GET", "GET"]);
    expect(chunked?.body).toBe("abcdefg");
    expect(chunked?.trailers).toEqual([["x-sum", "7"]]);
    expect(closed?.body).toBe("until the end");
  });

  test("ends HEAD, 204 and 304 at the blank line, whatever headers they carry, and both connections go on", async () => {
    const upstream = await withUpstream((socket) =>
      onRequests(socket, (request) => {
        const [method, target] = request.first.split(" ");
        if (method === "HEAD") socket.write("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n");
        else if (target === "/204") socket.write("HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n");
        else if (target === "/304") socket.write("HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n");
        else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      }),
    );
    const client = rig.client();
    const methods = ["HEAD", "GET", "GET", "GET"];
    client
      .send(
        "HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET /204 HTTP/1.1\r\nHost: x\r\n\r\nGET /304 HTTP/1.1\r\nHost: x\r\n\r\n",
      )
      .send(GET);
    const came = await client.until((text) => readAnswers(text, methods).length === 4);
    const [head, none, same, last] = readAnswers(came, methods);
    expect(head && header(head, "content-length")).toBe("500");
    expect(none && header(none, "content-length")).toBeNull();
    expect(same && header(same, "content-length")).toBe("77");
    expect(last?.body).toBe("ok");
    expect(upstream.accepted).toBe(1);
  });

  test("passes 1xx on, and answers once", async () => {
    await withUpstream((socket) =>
      onRequests(socket, () =>
        socket.write(
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        ),
      ),
    );
    const client = rig.client().send(GET);
    const came = await client.until((text) => text.endsWith("ok"));
    expect(came).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a>\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  test("a 1xx of a pipelined request comes between the answer before and its own", async () => {
    let first: (() => void) | null = null;
    await withUpstream((socket) =>
      onRequests(socket, (request) => {
        const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
        if (request.first.includes("/first")) first = () => socket.write(`${answer}1.`);
        else {
          socket.write(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${answer}2.`);
          setImmediate(() => first?.());
        }
      }),
    );
    const client = rig.client().send(`GET /first HTTP/1.1\r\nHost: x\r\n\r\n${GET}`);
    // The engine asks for the second one only behind the answer of the first.
    await eventually("the first is under way", () => first !== null);
    (first as (() => void) | null)?.();
    const came = await client.until((text) => text.endsWith("2."));
    expect(came).toMatch(
      /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n1\.HTTP\/1\.1 103 [^\r]*\r\nLink: <\/a>\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*2\.$/,
    );
  });

  test("Expect: 100-continue gets exactly one 100, after the upstream's, and the body follows", async () => {
    await withUpstream((socket) => {
      let text = "";
      socket.on("data", (chunk) => {
        const before = text;
        text += chunk.toString("latin1");
        if (!before.includes("\r\n\r\n") && text.includes("\r\n\r\n")) socket.write("HTTP/1.1 100 Continue\r\n\r\n");
        if (text.endsWith("hello")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      });
    });
    const client = rig.client().send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    await client.until((text) => text.includes("100 Continue\r\n\r\n"));
    client.send("hello");
    const came = await client.until((text) => text.endsWith("ok"));
    expect(came.match(/100 Continue/g)).toHaveLength(1);
    expect(came).toContain("HTTP/1.1 200 OK");
  });

  test("Expect: 100-continue refused by the upstream gets its status alone", async () => {
    await withUpstream((socket) => {
      socket.once("data", () => socket.write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno"));
    });
    const client = rig.client().send("POST / HTTP/1.1\r\nHost: x\r\nexpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    const came = await client.until((text) => text.endsWith("no"));
    expect(came).not.toContain("100 Continue");
    expect(came).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
    await client.untilClosed();
  });

  test("another expectation gets 417", async () => {
    await withUpstream(echoScript("a"));
    const came = await rig
      .client()
      .send("POST / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nContent-Length: 0\r\n\r\n")
      .untilClosed();
    expect(came).toMatch(/^HTTP\/1\.1 417 /);
  });

  test("a WebSocket's first frames in the same write as the heads arrive, 50 times", async () => {
    await withUpstream((socket) => {
      let upgraded = false;
      socket.on("data", (chunk) => {
        const text = chunk.toString("latin1");
        if (upgraded) socket.write(chunk);
        else if (text.includes("\r\n\r\n")) {
          upgraded = true;
          const rest = text.slice(text.indexOf("\r\n\r\n") + 4);
          socket.write(
            Buffer.from(
              `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x02hi${rest}`,
              "latin1",
            ),
          );
        }
      });
    });
    for (let n = 0; n < 50; n++) {
      const client = rig
        .client()
        .send("GET /ws HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x01?");
      const came = await client.until((text) => text.includes("\x81\x02hi\x81\x01?"));
      expect(came).toMatch(/^HTTP\/1\.1 101 /);
      expect(came.toLowerCase()).not.toContain("content-length");
      client.socket.destroy();
    }
    await eventually("the upstream's tunnels are gone", () => rig.upstreams.get("a")?.open.size === 0);
  });

  test("an upgrade the upstream does not follow gets its answer; one with a body gets 400", async () => {
    await withUpstream(echoScript("a"));
    const refused = await rig
      .client()
      .send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
      .untilClosed();
    expect(refused).toMatch(/^HTTP\/1\.1 200 OK/);
    const body = await rig
      .client()
      .send("POST / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\nhi")
      .untilClosed();
    expect(body).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("an offer of h2c is ignored and the request served", async () => {
    await withUpstream(echoScript("a"));
    const client = rig
      .client()
      .send(
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n",
      );
    const came = await client.until((text) => readAnswers(text, ["GET"]).length === 1);
    expect(came).toMatch(/^HTTP\/1\.1 200 OK/);
    client.send(GET);
    await client.until((text) => readAnswers(text, ["GET", "GET"]).length === 2);
  });

  test("CONNECT is refused", async () => {
    await withUpstream(echoScript("a"));
    expect(await rig.client().send("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n").untilClosed()).toMatch(
      /^HTTP\/1\.1 405 /,
    );
  });

  test("serves HTTP/1.0 clients: closed by default, kept when asked, never chunked", async () => {
    await withUpstream((socket) =>
      onRequests(socket, () =>
        socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
      ),
    );
    const came = await rig.client().send("GET / HTTP/1.0\r\n\r\n").untilClosed();
    expect(came).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(came.toLowerCase()).not.toContain("transfer-encoding");
    expect(came).toMatch(/\r\n\r\nok$/);
  });

  test("a health checker with HTTP/1.0 and keep-alive gets several answers on one connection", async () => {
    await withUpstream(echoScript("a"));
    const client = rig.client();
    for (let n = 1; n <= 3; n++) {
      client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
      await client.until((text) => readAnswers(text, Array(n).fill("GET")).length === n);
    }
    expect(client.received).toMatch(/Connection: keep-alive/i);
  });

  test("event streams pass at once", async () => {
    let push: (text: string) => void = () => {};
    await withUpstream((socket) =>
      onRequests(socket, () => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        push = (text) => socket.write(`${text.length.toString(16)}\r\n${text}\r\n`);
        push("data: 1\n\n");
      }),
    );
    const client = rig.client().send(GET);
    await client.until((text) => text.includes("data: 1\n\n"));
    push("data: 2\n\n");
    await client.until((text) => text.includes("data: 2\n\n"));
    const { upstreams } = await rig.counters();
    expect(upstreams[0]).toMatchObject({ inFlight: 0, streams: 1 });
  });
});
