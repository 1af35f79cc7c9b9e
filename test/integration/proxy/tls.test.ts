// TLS in front of the engine: served, headers told of it, certificate changed while running, plain HTTP redirected.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { redirectAnswer } from "../../../supervisor/proxy/tls.ts";
import { FIRST_CERTIFICATE, SECOND_CERTIFICATE, type TestCertificate } from "../../support/proxy/certificates.ts";
import { onRequests } from "../../support/proxy/messages.ts";
import { eventually, type Rig, startRig } from "../../support/proxy/rig.ts";

describe("the proxy", () => {
  let rig: Rig;
  let dir: string;
  const write = ({ cert, key }: TestCertificate) => {
    writeFileSync(join(dir, "cert.pem"), cert);
    writeFileSync(join(dir, "key.pem"), key);
  };
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), "owl-tls-"));
    write(FIRST_CERTIFICATE);
    rig = await startRig({
      tls: {
        cert: join(dir, "cert.pem"),
        key: join(dir, "key.pem"),
        acme: null,
        redirectFrom: null,
        hstsMaxAgeS: 60,
        http2: true,
      },
    });
  });
  afterEach(async () => {
    await rig.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const get = (path: string) =>
    new Promise<{ status: number; headers: IncomingHttpHeaders; body: string; name: string }>((resolve, reject) => {
      const asked = request(
        { host: "127.0.0.1", port: rig.port, path, rejectUnauthorized: false, agent: false },
        (answer) => {
          const name = String((answer.socket as TLSSocket).getPeerCertificate().subject.CN);
          let body = "";
          answer.on("data", (chunk: Buffer) => {
            body += chunk.toString("latin1");
          });
          answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body, name }));
        },
      );
      asked.on("error", reject);
      asked.end();
    });

  test("serves over TLS, large answers too, with HSTS, and tells the upstream", async () => {
    const big = "x".repeat(1_500_000);
    const upstream = await rig.addUpstream("a", (socket) =>
      onRequests(socket, (asked) => {
        const body = asked.first.includes("/big") ? big : "ok";
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      }),
    );
    await rig.route(["a"]);
    const small = await get("/");
    expect(small).toMatchObject({ status: 200, body: "ok", name: "first.localhost" });
    expect(small.headers["strict-transport-security"]).toBe("max-age=60");
    expect((await get("/big")).body).toBe(big);
    expect(upstream.received[0]?.toString("latin1")).toMatch(/X-Forwarded-Proto: https\r\n/i);
  });

  test("takes a new certificate without a restart, and keeps the old one while the new pair does not fit", async () => {
    await rig.addUpstream("a", (socket) =>
      onRequests(socket, () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")),
    );
    await rig.route(["a"]);
    writeFileSync(join(dir, "cert.pem"), SECOND_CERTIFICATE.cert);
    await eventually("the misfit is told", () =>
      rig.log.some(({ message }) => String(message).includes("cannot be used")),
    );
    expect((await get("/")).name).toBe("first.localhost");
    writeFileSync(join(dir, "key.pem"), SECOND_CERTIFICATE.key);
    await eventually("the new certificate serves", async () => (await get("/")).name === "second.localhost");
  });

  test("somebody who speaks plain HTTP to it costs nobody anything", async () => {
    await rig.client().send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").untilClosed();
    expect((await rig.counters()).refused).toMatchObject({ tlsFailed: 1 });
  });
});

test("the redirect keeps host and target, and nothing else of the request", () => {
  const answer = (head: string, port = 443) => redirectAnswer(head, port).toString();
  expect(answer("GET /a?b=c HTTP/1.1\r\nHost: team.example:80\r\n\r\n")).toContain(
    "Location: https://team.example/a?b=c\r\n",
  );
  expect(answer("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 8443)).toContain("Location: https://x:8443/\r\n");
  expect(answer("GET //evil HTTP/1.1\r\nHost: x\r\n\r\n")).toContain("Location: https://x//evil\r\n");
  expect(answer("GET / HTTP/1.1\r\nHost: x/@evil\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
});
