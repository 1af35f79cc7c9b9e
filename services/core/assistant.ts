// What stands before a question: instructions of several hands, and an assistant that says who answers and with what. Pure.

import type { ToolName } from "./tool-effects.ts";

/** The tools of a chat; an assistant may be given some of them. */
export const CHAT_TOOLS = [
  "list_tables",
  "describe_table",
  "run_sql",
  "search_transcripts",
] as const satisfies readonly ToolName[];
export type ChatTool = (typeof CHAT_TOOLS)[number];

/** Tools that mean nothing without a data source. */
const OF_SOURCES: ReadonlySet<string> = new Set<ChatTool>(["list_tables", "describe_table", "run_sql"]);

export interface Assistant {
  readonly name: string;
  readonly instructions: string;
  /** null: the usual one. */
  readonly model: string | null;
  /** null: the model's own. */
  readonly temperature: number | null;
  /** null: all of them. */
  readonly tools: readonly string[] | null;
  readonly dataSources: readonly string[] | null;
}

/** Of the data sources there are, those the assistant may ask. */
export function sourcesOf(assistant: Assistant | null, names: readonly string[]): readonly string[] {
  const allowed = assistant?.dataSources ?? null;
  return allowed === null ? names : names.filter((name) => allowed.includes(name));
}

/** May the assistant use that tool, when these are its data sources? */
export function mayUse(assistant: Assistant | null, tool: string, sources: readonly string[]): boolean {
  if (assistant === null) return true;
  if (assistant.dataSources !== null && sources.length === 0 && OF_SOURCES.has(tool)) return false;
  return assistant.tools === null || assistant.tools.includes(tool);
}
