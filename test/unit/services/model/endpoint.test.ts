// An endpoint that falls silent, on fake time: the minute counts from what was heard last, and is not counted while a
// tool of ours is at work.

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEndpointResponder } from "../../../../services/model/endpoint.ts";
import { textOf } from "../../../../services/text/text.ts";
import { createTestClock, type TestClock } from "../../../support/test-clock.ts";

const MINUTE = 60_000;

let server: Server;
let clock: TestClock;
let said: string[];
let tools: number;
let asked: PromiseWithResolvers<ServerResponse>;
let closed: Promise<void>;
let heard: PromiseWithResolvers<void>;
let user: AbortController;

beforeEach(async () => {
  clock = createTestClock();
  said = [];
  tools = 0;
  asked = Promise.withResolvers();
  heard = Promise.withResolvers();
  user = new AbortController();
  const gone = Promise.withResolvers<void>();
  closed = gone.promise;
  server = createServer((_request, response) => {
    response.once("close", () => gone.resolve());
    asked.resolve(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Asks; answers how it ended: "answered", or the message of what was thrown. */
function ask(): Promise<string> {
  const { port } = server.address() as AddressInfo;
  const responder = createEndpointResponder({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: null, name: "m" });
  const answering = {
    signal: user.signal,
    clock,
    words: textOf("en"),
    text(delta: string) {
      said.push(delta);
      heard.resolve();
    },
    thought: () => undefined,
    call: () => Promise.reject(new Error("no tool is offered")),
    runningTools: () => tools,
  };
  return responder({ text: "hello", history: [], files: [], sources: [], tools: [] }, answering).then(
    () => "answered",
    (error: Error) => error.message,
  );
}

function say(response: ServerResponse, content: string): Promise<void> {
  heard = Promise.withResolvers();
  if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
  const choices = [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }];
  response.write(
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`,
  );
  return heard.promise;
}

test("one that sends no byte is given up after a minute with a sentence of its own, and is hung up on", async () => {
  const ending = ask();
  await asked.promise;
  await clock.advance(MINUTE - 1);
  expect(await Promise.race([ending, "waiting"])).toBe("waiting");
  await clock.advance(1);
  expect(await ending).toBe(textOf("en")("model.silent"));
  await closed;
  expect(clock.pending).toBe(0);
});

test("one that stops in the middle of its answer is given up a minute after its last word; the words are kept", async () => {
  const ending = ask();
  const response = await asked.promise;
  await clock.advance(MINUTE / 2);
  await say(response, "half an ");
  await clock.advance(MINUTE - 1);
  await say(response, "ans");
  await clock.advance(MINUTE - 1);
  expect(await Promise.race([ending, "waiting"])).toBe("waiting");
  await clock.advance(1);
  expect(await ending).toBe(textOf("en")("model.silent"));
  expect(said.join("")).toBe("half an ans");
  await closed;
  expect(clock.pending).toBe(0);
});

test("while a tool of ours runs nobody waits for the endpoint, so its silence is not counted", async () => {
  const ending = ask();
  await asked.promise;
  tools = 1;
  await clock.advance(4 * MINUTE);
  tools = 0;
  await clock.advance(MINUTE - 1);
  expect(await Promise.race([ending, "waiting"])).toBe("waiting");
  await clock.advance(MINUTE);
  expect(await ending).toBe(textOf("en")("model.silent"));
});

test("a user who stops a silent answer is not kept waiting for the minute", async () => {
  const ending = ask();
  await asked.promise;
  user.abort(new Error("stopped by its user"));
  expect(await ending).toBe("stopped by its user");
  await closed;
  expect(clock.pending).toBe(0);
});
