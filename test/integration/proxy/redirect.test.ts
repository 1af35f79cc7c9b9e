// The proxy program with TLS and its redirect listener, as owld starts it: plain HTTP is sent to https and nothing more,
// a client that trusts the certificate is served with HSTS, a new certificate reaches new connections while old ones live
// on, and a successor inherits both listeners.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FIRST_CERTIFICATE, SECOND_CERTIFICATE, type TestCertificate } from "../../support/proxy/certificates.ts";
import { header, type Message, readAnswers } from "../../support/proxy/messages.ts";
import {
  type Feed,
  openFeed,
  PROXY_COMMAND,
  proxySettings,
  startProcess,
  tableOf,
} from "../../support/proxy/process.ts";
import { eventually } from "../../support/proxy/rig.ts";
import { steadyPort } from "../../support/steady-port.ts";

describe("the proxy", () => {
  let dir: string;
  let server: Server;
  let port: number;
  let plainPort: number;
  const feeds: Feed[] = [];
  const write = ({ cert, key }: TestCertificate) => {
    writeFileSync(join(dir, "cert.pem"), cert);
    writeFileSync(join(dir, "key.pem"), key);
  };
  const settings = (id: string) =>
    proxySettings(id, dir, {
      drainTimeoutMs: 20_000,
      listen: [{ host: "127.0.0.1", port }],
      tls: {
        cert: join(dir, "cert.pem"),
        key: join(dir, "key.pem"),
        acme: null,
        redirectFrom: { host: "127.0.0.1", port: plainPort },
        hstsMaxAgeS: 31_536_000,
        http2: true,
      },
    });
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), "owl-redirect-"));
    write(FIRST_CERTIFICATE);
    server = createServer((_request, response) => response.end("secret page"));
    server.keepAliveTimeout = 60_000;
    await new Promise<void>((resolve) => server.listen(join(dir, "a.sock"), () => resolve()));
    port = await steadyPort();
    plainPort = await steadyPort();
    startProcess(settings("proxy-1"), []);
    const feed = await openFeed(settings("proxy-1"));
    feeds.push(feed);
    feed.send({ type: "table", table: tableOf(1, dir, ["a"]) });
    await feed.next("ack");
  });
  afterEach(async () => {
    for (const feed of feeds.splice(0)) {
      try {
        process.kill(feed.pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
      feed.close();
    }
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    rmSync(dir, { recursive: true, force: true });
  });

  /** Sends `pieces` in plain HTTP; resolves with everything until the proxy closed. */
  const plain = (...pieces: readonly string[]) =>
    new Promise<string>((resolve) => {
      const socket = connect({ host: "127.0.0.1", port: plainPort, noDelay: true });
      let came = "";
      socket.on("data", (chunk: Buffer) => {
        came += chunk.toString("latin1");
      });
      socket.on("error", () => {});
      socket.on("close", () => resolve(came));
      socket.on("connect", () => {
        for (const piece of pieces) setImmediate(() => socket.write(piece));
      });
    });

  /** A connection that trusts this certificate and no other; rejects when it is shown another one. */
  const trusting = ({ cert }: TestCertificate) =>
    new Promise<TLSSocket>((resolve, reject) => {
      const socket = connectTls({ host: "127.0.0.1", port, ca: [cert], servername: "localhost" });
      socket.once("secureConnect", () => resolve(socket));
      socket.on("error", reject);
    });
  const ask = (socket: TLSSocket, target: string) =>
    new Promise<Message | undefined>((resolve) => {
      let came = "";
      const take = (chunk: Buffer) => {
        came += chunk.toString("latin1");
        const [answer] = readAnswers(came, ["GET"]);
        if (answer === undefined) return;
        socket.off("data", take);
        resolve(answer);
      };
      socket.on("data", take);
      socket.once("close", () => resolve(readAnswers(came, ["GET"], true)[0]));
      socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`);
    });

  test("plain HTTP gets 308 to the same address under https, which serves it with HSTS", async () => {
    const request = `GET /a/b?c=%20d HTTP/1.1\r\nHost: localhost:${plainPort}\r\nCookie: s=1\r\n\r\n`;
    const came = await plain(request);
    expect(came).toMatch(/^HTTP\/1\.1 308 /);
    expect(came).toContain(`\r\nLocation: https://localhost:${port}/a/b?c=%20d\r\n`);
    expect(came).not.toContain("secret");
    const socket = await trusting(FIRST_CERTIFICATE);
    const answer = await ask(socket, "/a/b?c=%20d");
    socket.destroy();
    expect(answer?.body).toBe("secret page");
    expect(answer && header(answer, "strict-transport-security")).toBe("max-age=31536000");
    // HSTS over plain HTTP would mean nothing, and is not said.
    expect(came.toLowerCase()).not.toContain("strict-transport-security");
    for (let cut = 1; cut < request.length; cut++) {
      const split = await plain(request.slice(0, cut), request.slice(cut));
      expect(split, `cut after ${cut} bytes`).toContain(`\r\nLocation: https://localhost:${port}/a/b?c=%20d\r\n`);
    }
  });

  test.each([
    ["no Host", "GET / HTTP/1.1\r\nA: b\r\n\r\n"],
    ["a Host with a path", "GET / HTTP/1.1\r\nHost: x/@evil\r\n\r\n"],
    ["an absolute target", "GET http://evil/ HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a line break in the target", "GET /\nLocation: evil HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["more head than is read", `GET / HTTP/1.1\r\nA: ${"b".repeat(20_000)}`],
  ])("a plain request with %s is sent nowhere", async (_name, bytes) => {
    const came = await plain(bytes);
    expect(came).toMatch(/^HTTP\/1\.1 400 /);
    expect(came.toLowerCase()).not.toContain("location:");
  });

  test("a new certificate serves new connections, the old ones live on; the successor has both listeners", async () => {
    const old = await trusting(FIRST_CERTIFICATE);
    expect((await ask(old, "/"))?.body).toBe("secret page");
    write(SECOND_CERTIFICATE);
    await eventually("the new certificate serves", async () => {
      const socket = await trusting(SECOND_CERTIFICATE).catch(() => null);
      socket?.destroy();
      return socket !== null;
    });
    expect((await ask(old, "/"))?.body).toBe("secret page");
    const [feed] = feeds;
    feed?.send({ type: "succeed", settings: settings("proxy-2"), command: PROXY_COMMAND });
    await feed?.next("successor");
    feeds.push(await openFeed(settings("proxy-2")));
    old.destroy();
    await feed?.closed;
    const fresh = await trusting(SECOND_CERTIFICATE);
    expect((await ask(fresh, "/"))?.body).toBe("secret page");
    fresh.destroy();
    expect(await plain("GET / HTTP/1.1\r\nHost: x\r\n\r\n")).toMatch(/^HTTP\/1\.1 308 /);
  });
});
