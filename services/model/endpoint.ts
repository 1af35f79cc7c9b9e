// A model behind any OpenAI-compatible endpoint, streamed, with tools. Invariant: its one signal ends the request, the
// tools and their SQL; whatever the endpoint does wrong becomes one clear sentence.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  isStepCount,
  type ModelMessage,
  RetryError,
  type Schema,
  streamText,
  type ToolSet,
  tool,
  zodSchema,
} from "ai";
import type { AppConfig } from "../../config/config.ts";
import { OwlError } from "../../config/errors.ts";
import { questionWithFiles } from "../core/attached-files.ts";
import { failure } from "../core/wire/errors.ts";
import type { Text } from "../text/text.ts";
import type { Tool } from "../tools/tool.ts";
import type { Answering, Question, Responder } from "./responder.ts";

const SILENCE_MS = 60_000;
const STEPS = 16;
const HISTORY_TURNS = 20;
const HISTORY_CHARACTERS = 60_000;

/** Answers by the configured endpoint. */
export function createEndpointResponder(
  model: NonNullable<AppConfig["model"]>,
  options: { readonly silenceMs?: number } = {},
): Responder {
  const provider = createOpenAICompatible({
    name: "endpoint",
    baseURL: model.baseUrl,
    ...(model.apiKey === null ? {} : { apiKey: model.apiKey }),
  });
  const chat = provider(model.name);
  const silenceMs = options.silenceMs ?? SILENCE_MS;

  return async (question, answering) => {
    const { clock, words } = answering;
    const silence = new AbortController();
    const signal = AbortSignal.any([answering.signal, silence.signal]);
    // Nothing for a minute, while no tool of ours is at work, means that nothing will come.
    let heardAt = clock.monotonicMs();
    let cancelWatch: () => void = () => undefined;
    const watch = () => {
      if (answering.runningTools() > 0) heardAt = clock.monotonicMs();
      const leftMs = heardAt + silenceMs - clock.monotonicMs();
      if (leftMs <= 0) silence.abort();
      else cancelWatch = clock.after(leftMs, watch, { unref: true });
    };
    watch();
    let finished = false;
    try {
      const result = streamText({
        model: chat,
        instructions: words("model.instructions", { sources: question.sources.join(", ") }),
        messages: messagesOf(question),
        tools: toolsOf(question, answering, signal),
        stopWhen: isStepCount(STEPS),
        maxRetries: 3,
        abortSignal: signal,
        // What goes wrong is thrown below, once; the library would write it to the console too.
        onError: () => undefined,
      });
      for await (const part of result.stream) {
        heardAt = clock.monotonicMs();
        if (part.type === "text-delta") answering.text(part.text);
        else if (part.type === "error") throw part.error;
        else if (part.type === "abort") throw signal.reason;
        else if (part.type === "finish") {
          finished = true;
          if (part.finishReason === "error") throw failure("model.failed", { why: words("model.garbage") });
        }
      }
      signal.throwIfAborted();
      if (!finished) throw failure("model.failed", { why: words("model.garbage") });
    } catch (error) {
      answering.signal.throwIfAborted();
      if (silence.signal.aborted) throw failure("model.failed", { why: words("model.silent") }, { cause: error });
      throw modelError(error, words);
    } finally {
      cancelWatch();
    }
  };
}

function messagesOf(question: Question): ModelMessage[] {
  const messages: ModelMessage[] = [{ role: "user", content: questionWithFiles(question.text, question.files) }];
  let characters = 0;
  for (const turn of question.history.slice(-HISTORY_TURNS).reverse()) {
    const answer = turn.answer ?? "";
    characters += turn.text.length + answer.length;
    if (characters > HISTORY_CHARACTERS) break;
    messages.unshift(
      { role: "user", content: turn.text },
      { role: "assistant", content: answer === "" ? "(interrupted)" : answer },
    );
  }
  return messages;
}

// As JSON Schema an input is the same for every turn: translated once.
const schemas = new WeakMap<Tool["input"], Schema>();

function schemaOf(input: Tool["input"]): Schema {
  const schema = schemas.get(input) ?? zodSchema(input);
  schemas.set(input, schema);
  return schema;
}

function toolsOf(question: Question, answering: Answering, signal: AbortSignal): ToolSet {
  return Object.fromEntries(
    question.tools.map((one) => [
      one.name,
      tool({
        description: one.description,
        inputSchema: schemaOf(one.input),
        async execute(input: unknown) {
          try {
            return (await answering.call(one.name, input, signal)).value;
          } catch (error) {
            signal.throwIfAborted();
            // The model can act on what the tool says: another statement, another table.
            if (error instanceof OwlError) return { error: error.message, next: error.next };
            throw error;
          }
        },
      }),
    ]),
  ) as ToolSet;
}

/** The one translator from the endpoint's failures to a user's sentence. */
export function modelError(error: unknown, words: Text): OwlError {
  if (error instanceof OwlError) return error;
  const call = RetryError.isInstance(error) ? error.lastError : error;
  if (APICallError.isInstance(call)) {
    const { statusCode: status } = call;
    const key =
      status === 401 || status === 403
        ? "model.key"
        : status === 429
          ? "model.busy"
          : status === undefined
            ? "model.away"
            : status >= 200 && status < 300
              ? "model.garbage"
              : "model.status";
    return failure("model.failed", { why: words(key, { status: status ?? 0 }) }, { cause: error });
  }
  return failure("model.failed", { why: words("model.garbage") }, { cause: error });
}
