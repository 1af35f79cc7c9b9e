// A small OpenAI-compatible endpoint for tests, scripted by the question: what it was asked and what was aborted is kept.
//   "say N words every M ms" streams N words; "sql: STATEMENT" calls the tool run_sql; "status N" answers with it (429: once);
//   "steps: A | B" says a word and calls run_sql with A, then with B, then answers; "garbage" sends no event stream; "half" breaks off; "silence" sends nothing at all, "half silence" nothing more after a
//   few words; else "ok: TEXT". Asked for its use, it says 600,000 tokens given and 400,000 said.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { systemClock } from "../../config/system-time.ts";

export interface TestModel {
  readonly baseUrl: string;
  readonly log: readonly {
    readonly event: "request" | "aborted" | "done";
    readonly text: string;
    readonly model?: string;
    readonly traceparent?: string;
    /** Data URLs of the images beside the text of its last question. */
    readonly images?: readonly string[];
  }[];
  /** Words sent for the question that contains `text`. */
  wordsSent(text: string): number;
  stop(): Promise<void>;
}

interface ChatRequest {
  readonly model: string;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

function imagesOf(content: unknown): readonly string[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: { type: string; image_url?: { url: string } }) =>
    part.type === "image_url" && part.image_url ? [part.image_url.url] : [],
  );
}

export async function startTestModel(): Promise<TestModel> {
  const log: TestModel["log"][number][] = [];
  const sent = new Map<string, number>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let raw = "";
    for await (const chunk of request) raw += chunk;
    const { messages, model, stream_options } = JSON.parse(raw) as ChatRequest;
    const question = messages.filter((message) => message.role === "user").at(-1)?.content;
    const user = textOf(question);
    const last = messages.at(-1);
    const { traceparent } = request.headers;
    log.push({
      ...{ event: "request", text: user, model, images: imagesOf(question) },
      ...(typeof traceparent === "string" && { traceparent }),
    });
    let done = false;
    response.on("close", () => log.push({ event: done ? "done" : "aborted", text: user }));
    const status = /^status (\d+)/.exec(user);
    const asked = log.filter((one) => one.event === "request" && one.text === user).length;
    if (status && !(Number(status[1]) === 429 && asked > 1)) {
      done = true;
      response.writeHead(Number(status[1]), { "content-type": "application/json", "retry-after": "1" });
      response.end(JSON.stringify({ error: { message: "scripted" } }));
      return;
    }
    if (user === "silence") return;
    response.writeHead(200, { "content-type": user === "garbage" ? "text/plain" : "text/event-stream" });
    if (user === "garbage") {
      done = true;
      response.end("<html>this is no stream</html>");
      return;
    }
    const send = (delta: object, finish: string | null = null) =>
      response.write(
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
      );
    send({ role: "assistant", content: "" });
    const results = messages
      .slice(messages.findLastIndex(({ role }) => role === "user"))
      .filter((m) => m.role === "tool");
    const steps = /^steps: ([\s\S]+)/.exec(user)?.[1]?.split(" | ");
    const sql = steps ? [user, steps[results.length]] : /^sql: ([\s\S]+)/.exec(user);
    const say = /^say (\d+) words every (\d+) ms/.exec(user);
    const isStep = steps !== undefined && results.length < steps.length;
    if (isStep) send({ content: `step ${results.length + 1}. ` });
    if (last?.role === "tool" && !isStep) send({ content: `result: ${textOf(last.content)}` });
    else if (sql) {
      const call = { name: "run_sql", arguments: JSON.stringify({ dataSource: "demo", sql: sql[1] }) };
      send({ tool_calls: [{ index: 0, id: `t${results.length}`, type: "function", function: call }] });
      send({}, "tool_calls");
    } else if (say) {
      for (let n = 1; n <= Number(say[1]) && !response.destroyed; n++) {
        send({ content: `w${n} ` });
        sent.set(user, n);
        if (Number(say[2]) > 0) await systemClock.sleep(Number(say[2]));
      }
    } else if (user === "half silence") {
      send({ content: "half an ans" });
      return;
    } else if (user === "half") {
      send({ content: "half an ans" });
      await systemClock.sleep(100);
      response.destroy();
      return;
    } else send({ content: `ok: ${user}` });
    if (!isStep && (!sql || last?.role === "tool")) send({}, "stop");
    if (stream_options?.include_usage) {
      const usage = { prompt_tokens: 600_000, completion_tokens: 400_000, total_tokens: 1_000_000 };
      response.write(
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model, choices: [], usage })}\n\n`,
      );
    }
    done = true;
    response.end("data: [DONE]\n\n");
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the test model has no port");
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    log,
    wordsSent: (text) => [...sent].find(([question]) => question.includes(text))?.[1] ?? 0,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
