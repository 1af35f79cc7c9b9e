// An endpoint's answer, mended before the library reads it: one that does not stream becomes a stream, a line that is no
// JSON is left out and counted, thoughts are told apart from text, and a character cut in two is whole again.
// Invariant: what is right passes as it is; what breaks off stays broken off.

import { type EventSourceMessage, EventSourceParserStream } from "eventsource-parser/stream";
import { createWholeCharacters } from "../core/whole-characters.ts";
import { createThinkTags } from "./think-tags.ts";

/** Counts the lines that were left out. */
export interface Mended {
  linesLost: number;
}

type Json = Readonly<Record<string, unknown>>;

/** One event, or an answer that is not streamed. */
const MOST_CHARACTERS = 8_000_000;

/** `fetch` for the endpoint of one turn. `traceparent`: of the call under way. */
export function mendedFetch(mended: Mended, traceparent?: () => string | null): typeof fetch {
  return async (input, init) => {
    const trace = traceparent?.() ?? null;
    const headers = new Headers(init?.headers);
    if (trace !== null) headers.set("traceparent", trace);
    const response = await fetch(input, { ...init, headers });
    if (!response.ok || response.body === null) return response;
    const texts = response.body.pipeThrough(new TextDecoderStream());
    const isWhole = response.headers.get("content-type")?.includes("json") ?? false;
    const events = (isWhole ? eventsOfAnswer(await textOf(texts)) : texts)
      .pipeThrough(new EventSourceParserStream({ maxBufferSize: MOST_CHARACTERS }))
      .pipeThrough(mend(mended))
      .pipeThrough(new TextEncoderStream());
    return new Response(events, { status: response.status, headers: { "content-type": "text/event-stream" } });
  };
}

async function textOf(texts: ReadableStream<string>): Promise<string> {
  let text = "";
  for await (const part of texts) {
    text += part;
    if (text.length > MOST_CHARACTERS) throw new Error("the endpoint's answer is too long");
  }
  return text;
}

/** A whole answer as a stream of one event; a stream that only calls itself JSON as it is. */
function eventsOfAnswer(text: string): ReadableStream<string> {
  const answer = parsed(text);
  if (answer === null) return streamOf(text);
  const choices = listOf(answer.choices).map((choice) => {
    const message = objectOf(choice.message);
    const calls = listOf(message.tool_calls).map((call, index) => ({ ...call, index }));
    return { ...choice, delta: { ...message, ...(calls.length === 0 ? {} : { tool_calls: calls }) } };
  });
  return streamOf(`data: ${JSON.stringify({ ...answer, choices })}\n\ndata: [DONE]\n\n`);
}

function streamOf(text: string): ReadableStream<string> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(text);
      controller.close();
    },
  });
}

function mend(mended: Mended): TransformStream<EventSourceMessage, string> {
  const tags = createThinkTags();
  const wholeText = createWholeCharacters();
  const wholeThought = createWholeCharacters();
  let finished = false;

  function mendedDelta(delta: Json, isLast: boolean): Json {
    const said = tags.push(typeof delta.content === "string" ? wholeText(delta.content) : "");
    const rest = isLast ? tags.end() : { thought: "", text: "" };
    const own = delta.reasoning_content ?? delta.reasoning;
    const thought = `${typeof own === "string" ? wholeThought(own) : ""}${said.thought}${rest.thought}`;
    const { reasoning: _reasoning, reasoning_content: _content, ...others } = delta;
    return {
      ...others,
      ...(typeof delta.content === "string" || delta.content === undefined ? { content: said.text + rest.text } : {}),
      ...(thought === "" ? {} : { reasoning_content: thought }),
    };
  }

  return new TransformStream({
    transform({ data }, controller) {
      const send = (chunk: Json) => controller.enqueue(`data: ${JSON.stringify(chunk)}\n\n`);
      if (data === "[DONE]") {
        // Whoever says that this is all has finished, also without a reason.
        if (!finished) send({ choices: [{ delta: mendedDelta({}, true), finish_reason: "stop" }] });
        finished = true;
        return;
      }
      const chunk = parsed(data);
      if (chunk === null) {
        mended.linesLost += 1;
        return;
      }
      if (!Array.isArray(chunk.choices)) {
        if (chunk.error) send(chunk);
        return;
      }
      const [choice, ...others] = listOf(chunk.choices);
      if (choice === undefined) return send(chunk);
      const isLast = typeof choice.finish_reason === "string";
      finished ||= isLast;
      send({ ...chunk, choices: [{ ...choice, delta: mendedDelta(objectOf(choice.delta), isLast) }, ...others] });
    },
  });
}

function parsed(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Json) : null;
  } catch {
    return null;
  }
}

const objectOf = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});
const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(objectOf) : []);
