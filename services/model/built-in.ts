// The built-in responder: answers by rules with the same tools, and says that it is one. It serves a fresh install that
// has no model endpoint: it runs the SQL it is given, lists, describes and counts tables, searches transcripts, and says
// what it can read off attached files.

import { OwlError } from "../../config/errors.ts";
import type { ToolOutput } from "../tools/tool.ts";
import { describeFile } from "./attached.ts";
import { type Intent, readIntent } from "./intent.ts";
import { markdownTable } from "./markdown-table.ts";
import type { Answering, Question, Responder } from "./responder.ts";

/** Answers by rules. */
export const builtInResponder: Responder = async (question, answering) => {
  const { words } = answering;
  answering.text(`${words("builtIn.name")}\n\n`);
  const { assistant = null } = question;
  if (assistant !== null) answering.text(`${words("builtIn.assistant", { name: assistant.name })}\n\n`);
  const intent = readIntent(question.text, question.sources);
  const own = question.files.filter((file) => !file.isEarlier);
  // A question that asks nothing else is about its files, or about those of before.
  const files = own.length === 0 && intent.kind === "help" ? question.files : own;
  for (const file of files) answering.text(describeFile(file, words));
  if (files.length > 0 && intent.kind === "help") {
    answering.text(`${words("builtIn.fileOnly")}\n\n`);
    if (own.length > 0) return;
  }
  try {
    await answer(intent, question, answering);
  } catch (error) {
    answering.signal.throwIfAborted();
    if (!(error instanceof OwlError)) throw error;
    answering.text(`${words("builtIn.refused", { reason: error.message })}${error.next ? ` ${error.next}` : ""}\n`);
  }
};

async function answer(intent: Intent, question: Question, answering: Answering): Promise<void> {
  const { words, signal } = answering;
  const call = (name: string, input: unknown) => answering.call(name, input, signal);
  if (intent.kind === "search") {
    const found = await call("search_transcripts", { words: intent.words });
    answering.text(found.rows ? table(found) : words("builtIn.nothingFound", { words: intent.words }));
    return;
  }
  const dataSource = intent.kind === "help" ? undefined : intent.source;
  if (intent.kind === "help" || dataSource === undefined) {
    answering.text(words("builtIn.help", { sources: question.sources.join(", ") || "-" }));
    return;
  }
  if (intent.kind === "sql") {
    answering.text(resultText(await call("run_sql", { dataSource, sql: intent.sql }), answering));
  } else if (intent.kind === "count") {
    const sql = `SELECT count(*) AS count FROM ${quoted(intent.table)}`;
    answering.text(`\`${sql}\`\n\n${resultText(await call("run_sql", { dataSource, sql }), answering)}`);
  } else if (intent.kind === "describe") {
    answering.text(`**${intent.table}** (${dataSource})\n\n`);
    answering.text(table(await call("describe_table", { dataSource, table: quoted(intent.table) })));
  } else {
    answering.text(`**${dataSource}**\n\n${table(await call("list_tables", { dataSource }))}`);
  }
}

/** `sales.Order` as SQL names it; what is quoted already stays. */
function quoted(name: string): string {
  return name
    .split(".")
    .map((part) =>
      /^[a-z_][a-z0-9_$]*$/.test(part) || part.startsWith('"') ? part : `"${part.replaceAll('"', '""')}"`,
    )
    .join(".");
}

function resultText(output: ToolOutput, { words }: Answering): string {
  const { cut } = output.value as { cut?: string };
  const note = cut === undefined ? "" : `\n${words("builtIn.cut", { rows: output.rows ?? 0 })}\n`;
  return `${table(output)}\n${words("builtIn.rows", { rows: output.rows ?? 0 })}\n${note}`;
}

const SHOWN_ROWS = 50;

/** The output's table as Markdown. */
function table(output: ToolOutput): string {
  if (!output.table) return "";
  return markdownTable(output.table.columns, output.table.rows.slice(0, SHOWN_ROWS));
}
