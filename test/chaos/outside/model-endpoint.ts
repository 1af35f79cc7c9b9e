// The model of a chaos run: an OpenAI-compatible endpoint that says what the question tells it to, and keeps a count.
// "say N words every M ms" streams `w1 … wN`; "sql: STATEMENT" calls the SQL tool, then tells its result; "steps: A | B"
// calls it for each statement, one after the other.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { systemClock } from "../../../config/system-time.ts";
import { listenOnLoopback } from "./listen-on-loopback.ts";

export interface ModelRecord {
  readonly text: string;
  /** How many tools' results each request carried. */
  readonly results: number[];
  /** First requests of an answer: more than one means that a turn ran twice. */
  firstAt: number[];
  /** Requests that carried a tool's result. */
  followUps: number;
  aborted: number;
  done: number;
}

export interface ModelEndpoint {
  readonly baseUrl: string;
  /** By the question's text. */
  readonly seen: ReadonlyMap<string, ModelRecord>;
  stop(): Promise<void>;
}

interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export async function startModelEndpoint(): Promise<ModelEndpoint> {
  const seen = new Map<string, ModelRecord>();
  const server = createServer((request, response) => {
    answer(seen, request, response).catch(() => response.destroy());
  });
  const port = await listenOnLoopback(server);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    seen,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  seen: Map<string, ModelRecord>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === "GET") {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ object: "list", data: [{ id: "stub", object: "model" }] }));
    return;
  }
  // With its fraction: the benchmark measures by it.
  const at = performance.timeOrigin + performance.now();
  let raw = "";
  for await (const chunk of request) raw += chunk;
  const { messages } = JSON.parse(raw) as ChatRequest;
  const text = textOf(messages.filter((message) => message.role === "user").at(-1)?.content);
  const last = messages.at(-1);
  const record = seen.get(text) ?? { text, results: [], firstAt: [], followUps: 0, aborted: 0, done: 0 };
  seen.set(text, record);
  const question = messages.findLastIndex(({ role }) => role === "user");
  const results = messages.slice(question).filter(({ role }) => role === "tool").length;
  record.results.push(results);
  if (last?.role === "tool") record.followUps += 1;
  else record.firstAt.push(at);
  let done = false;
  response.on("close", () => {
    if (done) record.done += 1;
    else record.aborted += 1;
  });
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: object, finish: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "stub", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  send({ role: "assistant", content: "" });
  const steps = /steps: ([\s\S]+)/.exec(text)?.[1]?.split(" | ") ?? [];
  const sql = steps[results] ?? (last?.role === "tool" ? null : /sql: ([\s\S]+)/.exec(text)?.[1]);
  if (sql) {
    const call = { name: "run_sql", arguments: JSON.stringify({ dataSource: "demo", sql }) };
    send({ tool_calls: [{ index: 0, id: `t${results}`, type: "function", function: call }] });
    send({}, "tool_calls");
  } else if (last?.role === "tool") {
    send({ content: `result: ${textOf(last.content)}` });
    send({}, "stop");
  } else {
    const say = /say (\d+) words every (\d+) ms/.exec(text);
    for (let n = 1; n <= Number(say?.[1] ?? 1); n++) {
      if (response.destroyed) return;
      send({ content: `w${n} ` });
      if (say) await systemClock.sleep(Number(say[2]));
    }
    send({}, "stop");
  }
  done = true;
  response.end("data: [DONE]\n\n");
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}
