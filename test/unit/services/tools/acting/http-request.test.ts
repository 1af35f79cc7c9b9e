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
const answers: Readonly<Record<string, string>> = {
  "/odd": '{"a":"x\\u0000y","b":"\\ud800"}',
  "/deep": `${"[".repeat(6_000)}${"]".repeat(6_000)}`,
};

beforeAll(async () => {
  server = createServer((request, response) => {
    reached += 1;
    const told = answers[request.url ?? ""];
    if (told !== undefined) return response.writeHead(200, { "content-type": "application/json" }).end(told);
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

test("an answer is kept so that the database takes it: without NUL and half characters, and as text where it is deep", async () => {
  const bodyOf = async (path: string) => {
    const outcome = await send({ url: `http://127.0.0.1:${port}${path}` }, ["127.0.0.1"]);
    return outcome.kind === "finished" ? (outcome.output as { body: unknown }).body : outcome;
  };
  expect(await bodyOf("/odd")).toEqual({ a: "xy", b: "\ufffd" });
  expect(await bodyOf("/deep")).toBe(answers["/deep"]);
});
