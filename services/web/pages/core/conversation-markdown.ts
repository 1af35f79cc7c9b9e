// A conversation as a Markdown file: questions, answers, the statements the tools ran.

import { sizeText } from "./duration.ts";
import type { TurnView } from "./turn-view.ts";

interface ExportWords {
  readonly question: string;
  readonly answer: string;
  readonly tool: string;
  readonly attached: string;
  readonly states: Readonly<Record<string, string>>;
}

/** The file's text. */
export function conversationMarkdown(title: string, turns: readonly TurnView[], words: ExportWords): string {
  const parts = [`# ${title.replaceAll("\n", " ")}`];
  for (const turn of turns) {
    parts.push(`## ${words.question} · ${turn.createdAt}`, turn.text);
    if (turn.attachments.length > 0) {
      const files = turn.attachments.map((file) => `- ${inCode(file.name)} (${sizeText(file.bytes)})`);
      parts.push(`${words.attached}:\n\n${files.join("\n")}`);
    }
    for (const tool of turn.tools) {
      const fence = fenceFor(tool.input);
      parts.push(`### ${words.tool}: ${tool.name}`, `${fence}\n${tool.input}\n${fence}`);
    }
    parts.push(`## ${words.answer}`);
    if (turn.answer !== "") parts.push(turn.answer);
    if (turn.state !== "answered") parts.push(`> ${turn.message ?? words.states[turn.state] ?? turn.state}`);
  }
  return `${parts.join("\n\n")}\n`;
}

/** A name as it is, whatever Markdown it looks like. */
function inCode(name: string): string {
  const fence = name.includes("`") ? fenceFor(name) : "`";
  return fence === "`" ? `\`${name}\`` : `${fence} ${name} ${fence}`;
}

/** A fence longer than any the text holds. */
function fenceFor(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  return "`".repeat(longest + 1);
}
