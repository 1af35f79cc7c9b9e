// What the HTTP tool refuses before anything is sent, against a server that counts what reached it.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock as clock } from "../../../../../config/system-time.ts";
import { type HttpInput, sendHttp } from "../../../../../services/tools/acting/http-request.ts";
import { createReach } from "../../../../../services/tools/acting/reach.ts";

let server: Server;
let port: number;
let reached = 0;

beforeAll(async () => {
  server = createServer((_request, response) => {
    reached += 1;
    response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const send = (input: HttpInput, allow: readonly string[]) =>
  sendHttp(
    input,
    { signal: new AbortController().signal, key: "run:step" },
    {
      clock,
      reach: createReach(allow),
    },
  );

test.each(["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"])(
  "http://%s is closed without the operator's word, and nothing is sent",
  async (host) => {
    const outcome = await send({ url: `http://${host}:${port}/` }, []);
    expect(outcome).toMatchObject({ kind: "failed", reason: expect.stringContaining("tools.http.allow") });
    expect(reached).toBe(0);
  },
);

test.each(["Transfer-Encoding", "transfer_encoding", "content-length", "Host", "connection", "Upgrade", "te"])(
  "the header %s is not a playbook's to set",
  async (name) => {
    const outcome = await send({ url: `http://127.0.0.1:${port}/`, headers: { [name]: "x" } }, ["127.0.0.1"]);
    expect(outcome).toMatchObject({ kind: "failed", reason: expect.stringContaining(name) });
    expect(reached).toBe(0);
  },
);

test("an allowed host is reached, and its redirect is told, not followed", async () => {
  const outcome = await send({ url: `http://localhost:${port}/` }, [`localhost:${port}`]);
  expect(outcome).toMatchObject({ kind: "failed", output: { status: 302 } });
  expect(reached).toBe(1);
});
