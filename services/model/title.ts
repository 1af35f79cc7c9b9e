// A conversation's name by its model: one short call, without tools, as one more message of the conversation.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";
import type { ModelConfig } from "../../config/config.ts";
import { titleOf } from "../core/title.ts";

const MOST_TOKENS = 500;

/** null: it said nothing that is a name. Throws what the endpoint fails with, or the signal's reason. */
export async function askTitle(
  model: ModelConfig,
  chat: { readonly question: string; readonly answer: string },
  asked: string,
  signal: AbortSignal,
): Promise<{ readonly title: string | null; readonly tokens: { readonly input: number; readonly output: number } }> {
  const provider = createOpenAICompatible({
    name: "endpoint",
    baseURL: model.baseUrl,
    ...(model.apiKey === null ? {} : { apiKey: model.apiKey }),
    ...(model.price === undefined ? {} : { includeUsage: true }),
  });
  const result = streamText({
    model: provider(model.name),
    messages: [
      { role: "user", content: chat.question },
      { role: "assistant", content: chat.answer },
      { role: "user", content: asked },
    ],
    maxOutputTokens: MOST_TOKENS,
    maxRetries: 0,
    abortSignal: signal,
    onError: () => undefined,
  });
  let said = "";
  let tokens = { input: 0, output: 0 };
  for await (const part of result.stream) {
    if (part.type === "text-delta") said += part.text;
    else if (part.type === "error") throw part.error;
    else if (part.type === "abort") throw signal.reason;
    else if (part.type === "finish") {
      tokens = { input: part.totalUsage.inputTokens ?? 0, output: part.totalUsage.outputTokens ?? 0 };
    }
  }
  return { title: titleOf(said), tokens };
}
