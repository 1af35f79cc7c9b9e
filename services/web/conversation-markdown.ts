// A conversation as Markdown: questions, answers, the statements the tools ran. Invariant: whatever a text holds, the
// headings around it stay.

import type { Text } from "../text/text.ts";
import { sizeText } from "./pages/core/duration.ts";
import type { TurnView } from "./pages/core/turn-view.ts";

export const headMarkdown = (title: string): string => `# ${title.replace(/\s+/g, " ")}\n`;

/** One turn, an empty line before each of its parts. */
export function turnMarkdown(turn: TurnView, words: Text): string {
  const parts = [`## ${words("export.question")} · ${turn.createdAt}`, turn.text];
  if (turn.attachments.length > 0) {
    const files = turn.attachments.map((file) => `- ${inCode(file.name)} (${sizeText(file.bytes)})`);
    parts.push(`${words("export.attached")}:\n\n${files.join("\n")}`);
  }
  for (const tool of turn.tools) {
    if (tool.thought !== null) continue;
    const fence = fenceFor(tool.input);
    parts.push(`### ${words("export.tool")}: ${tool.name}`, `${fence}\n${tool.input}\n${fence}`);
  }
  parts.push(`## ${words("export.answer")}`);
  if (turn.answer !== "") parts.push(turn.answer);
  if (turn.state !== "answered") parts.push(`> ${turn.message ?? words(`export.${turn.state}`)}`);
  return parts.map((part) => `\n${part}\n`).join("");
}

/** A name as it is, whatever Markdown it looks like. */
function inCode(name: string): string {
  const fence = name.includes("`") ? fenceFor(name) : "`";
  return fence === "`" ? `\`${name}\`` : `${fence} ${name} ${fence}`;
}

/** A fence longer than any the text holds. */
function fenceFor(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  return "`".repeat(longest + 1);
}
