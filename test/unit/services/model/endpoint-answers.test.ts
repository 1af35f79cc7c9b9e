// What an endpoint does is told: each scripted answer of a real HTTP server, and what its user reads.

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { createEndpointResponder } from "../../../../services/model/endpoint.ts";
import type { Question, Thought } from "../../../../services/model/responder.ts";
import { textOf } from "../../../../services/text/text.ts";
import type { Tool } from "../../../../services/tools/tool.ts";
import { createTestClock } from "../../../support/test-clock.ts";

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: unknown; readonly [name: string]: unknown }[];
  readonly tools?: readonly unknown[];
  readonly temperature?: number;
}

const words = textOf("en");
let server: Server;
let asked: Asked[];
let script: (request: Asked, n: number, response: ServerResponse) => void;
let thoughts: Thought[];
let calls: number;

beforeEach(async () => {
  asked = [];
  thoughts = [];
  calls = 0;
  server = createServer(async (request, response) => {
    let raw = "";
    for await (const part of request) raw += part;
    asked.push(JSON.parse(raw) as Asked);
    script(asked.at(-1) as Asked, asked.length, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const look = { name: "look", description: "Looks.", input: z.object({}) } as unknown as Tool;
const QUESTION: Question = { text: "how many?", history: [], files: [], sources: [], tools: [look] };

/** Asks; the answer's text, and how it ended. */
async function ask(question: Partial<Question> = {}): Promise<{ answer: string; end: string }> {
  const { port } = server.address() as AddressInfo;
  const responder = createEndpointResponder({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: null, name: "m" });
  let answer = "";
  const end = await responder(
    { ...QUESTION, ...question },
    {
      signal: new AbortController().signal,
      clock: createTestClock(),
      words,
      text(delta) {
        answer += delta;
      },
      thought: (thought) => thoughts.push(thought),
      call: async () => {
        calls += 1;
        return { value: { rows: "r".repeat(9_000) }, rows: 1, table: null };
      },
      runningTools: () => 0,
    },
  ).then(
    () => "answered",
    (error: Error) => error.message,
  );
  return { answer, end };
}

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const CALL = { tool_calls: [{ index: 0, id: "t", type: "function", function: { name: "look", arguments: "{}" } }] };

function stream(response: ServerResponse, ...parts: readonly (string | Buffer)[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const part of parts) response.write(part);
  response.end();
}

function refuse(response: ServerResponse, message: string): void {
  response.writeHead(400, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { message, type: "invalid_request_error" } }));
}

test("an answer cut by the model's length says so and offers to go on", async () => {
  script = (_, __, response) => stream(response, chunk({ content: "One, two" }), chunk({}, "length"));
  expect(await ask()).toEqual({ answer: `One, two\n\n> ${words("model.lengthCut")}`, end: "answered" });
});

test.each([
  ["length", "model.lengthEmpty"],
  ["content_filter", "model.filteredEmpty"],
  ["stop", "model.empty"],
] as const)("no word before %s is no answer, and the failure says why", async (finish, key) => {
  script = (_, __, response) => stream(response, chunk({ content: " \n" }), chunk({}, finish));
  expect((await ask()).end).toBe(words(key));
});

test("the model is told who it is and what was asked of it: everyone's word first, the assistant's last", async () => {
  script = (_, __, response) => stream(response, chunk({ content: "Yes." }), chunk({}, "stop"));
  const assistant = { name: "Analyst", instructions: "Tables only.", temperature: 0.2 };
  expect((await ask({ instructions: ["Be brief.", "No jokes."], assistant })).end).toBe("answered");
  const [first] = asked;
  expect(first?.temperature).toBe(0.2);
  expect(first?.messages[0]).toMatchObject({ role: "system" });
  const told = String(first?.messages[0]?.content).split("\n\n");
  expect(told.slice(1)).toEqual(["Be brief.", "No jokes.", words("model.assistant", assistant), "Tables only."]);
  await ask();
  expect(asked[1]).not.toHaveProperty("temperature");
  expect(String(asked[1]?.messages[0]?.content).split("\n\n")).toHaveLength(1);
});

test("a content filter that ends an answer is told", async () => {
  script = (_, __, response) => stream(response, chunk({ content: "Well" }), chunk({}, "content_filter"));
  expect((await ask()).answer).toBe(`Well\n\n> ${words("model.filtered")}`);
});

test("sixteen steps of tools end in one question without tools", async () => {
  script = (request, _, response) =>
    request.tools
      ? stream(response, chunk(CALL), chunk({}, "tool_calls"))
      : stream(response, chunk({ content: "Seven." }), chunk({}, "stop"));
  expect(await ask()).toEqual({ answer: "Seven.", end: "answered" });
  expect([asked.length, calls]).toEqual([17, 16]);
  expect(asked.at(-1)?.messages.at(-1)).toMatchObject({ role: "user", content: words("model.lastStep") });
});

test("a model that says nothing even then fails with the reason", async () => {
  script = (request, _, response) =>
    request.tools ? stream(response, chunk(CALL), chunk({}, "tool_calls")) : stream(response, chunk({}, "stop"));
  expect((await ask()).end).toBe(words("model.noAnswer", { steps: 16 }));
});

test("what a model says before and after a tool are paragraphs of one answer", async () => {
  script = (_, n, response) =>
    n === 1
      ? stream(response, chunk({ content: "I look." }), chunk(CALL), chunk({}, "tool_calls"))
      : stream(response, chunk({ content: "Seven." }), chunk({}, "stop"));
  expect((await ask()).answer).toBe("I look.\n\nSeven.");
  expect(asked[1]?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool"]);
});

const HISTORY = Array.from({ length: 5 }, (_, n) => ({ text: `question ${n} ${"q".repeat(500)}`, answer: "a" }));

test("a conversation too long for the model is shortened by the rule and asked once more", async () => {
  script = (_, n, response) =>
    n === 1
      ? refuse(response, "This model's maximum context length is 4096 tokens.")
      : stream(response, chunk({ content: "Six." }), chunk({}, "stop"));
  const file = { name: "a.txt", bytes: 9_000, characters: 9_000, text: "f".repeat(9_000), isEarlier: false };
  const { answer } = await ask({ history: HISTORY, files: [file] });
  expect(answer).toBe(`Six.\n\n> ${words("model.shortened")}`);
  const given = asked[1]?.messages.map(({ content }) => String(content)) ?? [];
  expect(given.slice(1, 3)).toEqual([HISTORY.at(-1)?.text, "a"]);
  expect(given.at(-1)).toMatch(/^how many\?[\s\S]*f{6000}\n[\s\S]*only the first 6000 of its 9000 characters/);
  expect(asked).toHaveLength(2);
});

test("results too long for the model are shortened too; no tool is called again", async () => {
  script = (_, n, response) => {
    if (n === 1) stream(response, chunk(CALL), chunk({}, "tool_calls"));
    else if (n === 2) stream(response, `data: {"error":{"message":"too long","code":"context_length_exceeded"}}\n\n`);
    else stream(response, chunk({ content: "Six." }), chunk({}, "stop"));
  };
  expect((await ask()).answer).toBe(`Six.\n\n> ${words("model.shortened")}`);
  expect(calls).toBe(1);
  expect(String(asked[2]?.messages.at(-1)?.content)).toMatch(/^.{2000} \(cut: the first 2000 of /);
});

test("a question too long in itself is told so, not to be tried again in a moment", async () => {
  script = (_, __, response) => refuse(response, "prompt is too long: 9000 tokens > 4096 maximum");
  expect((await ask()).end).toBe(words("model.tooLong"));
  expect(asked).toHaveLength(2);
});

test("an endpoint that does not stream is understood, its tool calls too", async () => {
  script = (_, n, response) => {
    response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
    const call = { id: "t", type: "function", function: { name: "look", arguments: "{}" } };
    const message = n === 1 ? { content: null, tool_calls: [call] } : { content: "Six 😀", reasoning_content: "hm" };
    const finish = n === 1 ? "tool_calls" : "stop";
    response.end(JSON.stringify({ id: "c", choices: [{ index: 0, message, finish_reason: finish }] }));
  };
  expect(await ask()).toEqual({ answer: "Six 😀", end: "answered" });
  expect([calls, thoughts.at(-1)?.thought]).toEqual([1, "hm"]);
});

test("one malformed line costs itself alone, and is told", async () => {
  script = (_, __, response) =>
    stream(response, chunk({ content: "One " }), 'data: {"choices": [{"del\n\n', chunk({ content: "three" }, "stop"));
  expect(await ask()).toEqual({
    answer: `One three\n\n> ${words("model.linesLost", { lines: 1 })}`,
    end: "answered",
  });
});

test("a character cut in two deltas or in two packets is whole", async () => {
  script = (_, __, response) => {
    const bytes = Buffer.from(chunk({ content: "한" }));
    const at = bytes.indexOf(0xed) + 1;
    const halves = ['{"content":"\\ud83d"}', '{"content":"\\ude00"}'].map(
      (delta) => `data: {"choices":[{"index":0,"delta":${delta}}]}\n\n`,
    );
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(bytes.subarray(0, at));
    setImmediate(() => {
      response.write(bytes.subarray(at));
      response.end(`${halves.join("")}${chunk({}, "stop")}`);
    });
  };
  expect((await ask()).answer).toBe("한😀");
});

test("an answer that ends with [DONE] alone is whole; one that just ends is not", async () => {
  script = (_, n, response) => stream(response, chunk({ content: "Six" }), n === 1 ? "data: [DONE]\n\n" : "");
  expect((await ask()).end).toBe("answered");
  expect((await ask()).end).toBe(words("model.garbage"));
});

test.each([
  ["<think>", [{ content: "<thi" }, { content: "nk>hm, six" }, { content: "?</think>\n\nSix." }]],
  ["reasoning_content", [{ reasoning_content: "hm, " }, { reasoning_content: "six?" }, { content: "Six." }]],
  ["reasoning", [{ reasoning: "hm, six?" }, { content: "Six." }]],
])("thoughts told as %s are kept apart from the answer", async (_, deltas) => {
  script = (__, ___, response) => stream(response, ...deltas.map((delta) => chunk(delta)), chunk({}, "stop"));
  expect(await ask()).toEqual({ answer: "Six.", end: "answered" });
  expect(thoughts).toEqual([
    { id: "thought-1", state: "running", thought: "" },
    { id: "thought-1", state: "done", thought: "hm, six?" },
  ]);
});

test("thoughts are kept up to a bound", async () => {
  script = (_, __, response) =>
    stream(
      response,
      ...Array.from({ length: 30 }, () => chunk({ reasoning_content: "x".repeat(1_000) })),
      chunk({ content: "Six." }, "stop"),
    );
  expect((await ask()).answer).toBe("Six.");
  expect(thoughts.at(-1)?.thought).toHaveLength(20_000);
});
