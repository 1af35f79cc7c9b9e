// Answers compressed on their way: what arrives is what was sent, when it was sent, as slowly as it is taken.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, createGunzip, gunzipSync, zstdDecompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FIRST_CERTIFICATE } from "../../support/proxy/certificates.ts";
import { ask, openSession } from "../../support/proxy/http2-client.ts";
import { header, onRequests, readAnswers, readMessage } from "../../support/proxy/messages.ts";
import { eventually, type Rig, startRig } from "../../support/proxy/rig.ts";

const TEXT = Array.from({ length: 20_000 }, (_, n) => `line ${n} of ${(n * 7919) % 10_007}\n`).join("");
const DECODERS = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync } as const;
const TEXT_HEAD = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${TEXT.length}\r\nETag: "1"\r\n\r\n`;

const decoded = (body: string, coding: keyof typeof DECODERS) =>
  DECODERS[coding](Buffer.from(body, "latin1")).toString("latin1");
const get = (coding: string, target = "/") => `GET ${target} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ${coding}\r\n\r\n`;

describe("with proxy.compress", () => {
  let rig: Rig;
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "owl-compress-"));
  });
  afterEach(async () => {
    await rig.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  async function start(script: (socket: Socket) => void, changes: Parameters<typeof startRig>[0] = {}) {
    rig = await startRig({ compress: true, ...changes });
    const upstream = await rig.addUpstream("a", script);
    await rig.route(["a"]);
    return upstream;
  }

  test("a client gets the coding it takes, on a connection that lives on, from an upstream's that does too", async () => {
    const upstream = await start((socket) => onRequests(socket, () => socket.write(TEXT_HEAD + TEXT)));
    const client = rig.client();
    let came = 0;
    for (const coding of ["gzip", "br", "zstd"] as const) {
      client.send(get(coding));
      const all = await client.until((text) => readMessage(text.slice(came), { answer: true }) !== null);
      const answer = readMessage(all.slice(came), { answer: true })?.message;
      came = all.length;
      if (answer === undefined) throw new Error("no answer");
      expect(header(answer, "content-encoding")).toBe(coding);
      expect(header(answer, "content-length")).toBeNull();
      expect(header(answer, "etag")).toBe('W/"1"');
      expect(header(answer, "vary")).toBe("Accept-Encoding");
      expect(answer.body.length).toBeLessThan(TEXT.length / 2);
      expect(decoded(answer.body, coding) === TEXT).toBe(true);
    }
    client.send(get("deflate"));
    const all = await client.until((text) => readMessage(text.slice(came), { answer: true }) !== null);
    expect(all.slice(came).endsWith(TEXT)).toBe(true);
    expect(upstream.accepted).toBe(1);
    const old = rig.client().send("GET / HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n");
    const closed = await old.untilClosed();
    expect(decoded(closed.slice(closed.indexOf("\r\n\r\n") + 4), "gzip") === TEXT).toBe(true);
    expect(await rig.counters()).toMatchObject({ requests: 5, inFlight: 0 });
  });

  test("what must not change goes on byte for byte", async () => {
    const answers: Record<string, string> = {
      "/stream": "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 7\r\n\r\ndata: 1",
      "/part":
        "HTTP/1.1 206 Partial Content\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/9\r\nContent-Length: 2\r\n\r\nab",
      "/fixed": `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: no-transform\r\nContent-Length: 2000\r\n\r\n${"x".repeat(2_000)}`,
      "/empty": 'HTTP/1.1 304 Not Modified\r\nContent-Type: text/plain\r\nETag: "1"\r\n\r\n',
    };
    await start((socket) => onRequests(socket, ({ first }) => socket.write(answers[first.split(" ")[1] ?? ""] ?? "")));
    for (const [target, sent] of Object.entries(answers)) {
      const client = rig.client().send(get("gzip, br, zstd", target));
      const got = await client.until((text) => readAnswers(text, ["GET"]).length === 1);
      expect(got.replace(/X-Request-Id: [^\r]*\r\n/, ""), target).toBe(sent);
    }
  });

  test("what an upstream sends in pieces arrives in pieces", async () => {
    let socket: Socket | null = null;
    await start((upstream) =>
      onRequests(upstream, () => {
        socket = upstream;
        upstream.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
      }),
    );
    const client = rig.client().send(get("gzip"));
    const head = await client.until((text) => text.includes("\r\n\r\n"));
    let at = head.indexOf("\r\n\r\n") + 4;
    const gunzip = createGunzip();
    for (const piece of ["one", "two"]) {
      (socket as Socket | null)?.write(`3\r\n${piece}\r\n`);
      // One chunk of ours for one of the upstream's, and all of its text is in it.
      const arrived = new Promise((resolve) => gunzip.once("data", (bytes: Buffer) => resolve(bytes.toString())));
      const all = await client.until((text) => /^[0-9a-f]+\r\n/.test(text.slice(at)));
      const size = Number.parseInt(all.slice(at), 16);
      const from = all.indexOf("\r\n", at) + 2;
      at = from + size + 2;
      const whole = await client.until((text) => text.length >= at);
      gunzip.write(Buffer.from(whole.slice(from, from + size), "latin1"));
      expect(await arrived).toBe(piece);
    }
    (socket as Socket | null)?.write("0\r\n\r\n");
    await client.until((text) => text.endsWith("0\r\n\r\n"));
  });

  test("a client that takes nothing brakes the upstream, and one that leaves ends its answer", async () => {
    const most = 64 * 2 ** 20;
    let sent = 0;
    // No two of its lines alike, so that little is saved.
    let seed = 1;
    const noise = () =>
      Array.from({ length: 8_192 }, () => {
        seed = (seed * 48_271) % 2_147_483_647;
        return seed.toString(36);
      }).join("");
    const upstream = await start((socket) =>
      onRequests(socket, () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${most}\r\n\r\n`);
        const more = () => {
          while (sent < most) {
            const text = noise().slice(0, most - sent);
            sent += text.length;
            if (!socket.write(text)) return;
          }
        };
        socket.on("drain", more);
        more();
      }),
    );
    const client = rig.client().send(get("br"));
    await client.until((text) => text.includes("\r\n\r\n"));
    client.socket.pause();
    let still = 0;
    let before = -1;
    await eventually("the upstream is braked", () => {
      still = sent === before ? still + 1 : 0;
      before = sent;
      return still > 60;
    });
    expect(sent).toBeLessThan(most);
    client.socket.destroy();
    await eventually("the upstream's connection is closed", () => upstream.open.size === 0);
    expect(await rig.counters()).toMatchObject({ inFlight: 0 });
  });

  test("an answer that breaks off never looks whole", async () => {
    await start((socket) =>
      onRequests(socket, () => {
        socket.write(TEXT_HEAD + TEXT.slice(0, 100_000));
        socket.end();
      }),
    );
    const came = await rig.client().send(get("gzip")).untilClosed();
    expect(came).toContain("Content-Encoding: gzip");
    expect(came.endsWith("0\r\n\r\n")).toBe(false);
  });

  test("a client of HTTP/2 gets the same, many at a time", async () => {
    writeFileSync(join(dir, "cert.pem"), FIRST_CERTIFICATE.cert);
    writeFileSync(join(dir, "key.pem"), FIRST_CERTIFICATE.key);
    const files = { cert: join(dir, "cert.pem"), key: join(dir, "key.pem") };
    await start((socket) => onRequests(socket, () => socket.write(TEXT_HEAD + TEXT)), {
      tls: { ...files, acme: null, redirectFrom: null, hstsMaxAgeS: 0, http2: true },
    });
    const session = openSession(rig.port);
    const codings = ["gzip", "br", "zstd"] as const;
    const answers = await Promise.all(
      codings.map((coding) => ask(session, { ":path": "/", "accept-encoding": coding })),
    );
    session.destroy();
    for (const [at, coding] of codings.entries()) {
      const { headers, body } = answers[at] ?? { headers: {}, body: "" };
      expect(headers).toMatchObject({ "content-encoding": coding, vary: "Accept-Encoding", etag: 'W/"1"' });
      expect(headers["content-length"]).toBeUndefined();
      expect(decoded(body, coding) === TEXT).toBe(true);
    }
  });
});
