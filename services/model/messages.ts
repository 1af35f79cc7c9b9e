// What a model is given of a conversation. Pure. Two measures: the usual one, and a short one for a model that said the
// usual is too long for it. The short one keeps the question whole, the last earlier turn if it is small, the beginning
// of each file, and the beginning of what each tool gave.

import type { ModelMessage } from "ai";
import { imagesOf, questionWithFiles } from "../core/attached-files.ts";
import type { Text } from "../text/text.ts";
import type { Question } from "./responder.ts";

interface Measure {
  readonly turns: number;
  readonly turnCharacters: number;
  /** Of all files together; null: as they come, they are bounded already. */
  readonly fileCharacters: number | null;
  /** Of one tool's output. */
  readonly outputCharacters: number | null;
}

export const USUAL: Measure = { turns: 20, turnCharacters: 60_000, fileCharacters: null, outputCharacters: null };
export const SHORT: Measure = { turns: 1, turnCharacters: 2_000, fileCharacters: 6_000, outputCharacters: 2_000 };

/** What the model is told before everything: ours, then everyone's, the account's, the chat's, the assistant's. */
export function instructionsOf({ sources, instructions = [], assistant = null }: Question, words: Text): string {
  const ours = words("model.instructions", { sources: sources.join(", ") });
  const who = assistant === null ? [] : [words("model.assistant", { name: assistant.name }), assistant.instructions];
  return [ours, ...instructions, ...who].filter((text) => text.trim() !== "").join("\n\n");
}

/** The question after the conversation's earlier turns. */
export function messagesOf(question: Question, measure: Measure): ModelMessage[] {
  const files = measure.fileCharacters === null ? question.files : shortFiles(question.files, measure.fileCharacters);
  const text = questionWithFiles(question.text, files);
  const images = imagesOf(files).map(({ mediaType, content }) => ({ type: "file", mediaType, data: content }) as const);
  const content = images.length === 0 ? text : [{ type: "text", text } as const, ...images];
  const messages: ModelMessage[] = [{ role: "user", content }];
  let characters = 0;
  for (const turn of question.history.slice(-measure.turns).reverse()) {
    const answer = turn.answer ?? "";
    characters += turn.text.length + answer.length;
    if (characters > measure.turnCharacters) break;
    messages.unshift(
      { role: "user", content: turn.text },
      { role: "assistant", content: answer === "" ? "(interrupted)" : answer },
    );
  }
  return messages;
}

function shortFiles(files: Question["files"], most: number): Question["files"] {
  const each = Math.floor(most / Math.max(1, files.length));
  // An earlier image goes first.
  return files.map(({ image, ...file }) => ({
    ...file,
    text: file.text.slice(0, each).toWellFormed(),
    ...(image === undefined || file.isEarlier ? {} : { image }),
  }));
}

/** The steps taken so far: what was said, what was called, what it gave. */
export function stepMessages(messages: readonly ModelMessage[], measure: Measure): ModelMessage[] {
  const most = measure.outputCharacters;
  if (most === null) return [...messages];
  return messages.map((message) => {
    if (message.role !== "tool") return message;
    return {
      ...message,
      content: message.content.map((part) => {
        if (part.type !== "tool-result") return part;
        const output = JSON.stringify("value" in part.output ? part.output.value : part.output);
        if (output.length <= most) return part;
        const text = `${output.slice(0, most).toWellFormed()} (cut: the first ${most} of ${output.length} characters)`;
        return { ...part, output: { type: "text", value: text } };
      }),
    };
  });
}
