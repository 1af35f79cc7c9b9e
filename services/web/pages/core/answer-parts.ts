// An answer in the order it came about: its text, and each tool call at the place where it was made. Pure.

import type { ToolCall } from "./turn-view.ts";

type AnswerPart = { readonly kind: "text"; readonly text: string } | { readonly kind: "tool"; readonly tool: ToolCall };

/** The parts of `answer`; a tool whose place is behind its end (of a text that was taken back) stands at its end. */
export function answerParts(answer: string, tools: readonly ToolCall[]): readonly AnswerPart[] {
  const parts: AnswerPart[] = [];
  let from = 0;
  const textTo = (to: number): void => {
    const text = answer.slice(from, to);
    if (text.trim() !== "") parts.push({ kind: "text", text });
    from = to;
  };
  for (const tool of tools) {
    if (tool.at > from && answer.slice(from, tool.at).trim() !== "") textTo(Math.min(tool.at, answer.length));
    parts.push({ kind: "tool", tool });
  }
  textTo(answer.length);
  return parts;
}
