// Describes a table by one model call. Invariant: what the model says is taken only for columns that exist; an answer
// that is no description is null, and the caller describes by rules.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText } from "ai";
import type { AppConfig } from "../../../config/config.ts";
import type { Language } from "../../../config/language.ts";
import type { Clock } from "../../../config/time.ts";
import { type Description, describeTable } from "../../core/table-describer.ts";
import { failure } from "../../core/wire/errors.ts";
import { modelError } from "../../model/failures.ts";
import type { Text } from "../../text/text.ts";
import type { TableFacts } from "./catalogue.ts";

export type DescribeByModel = (table: TableFacts, signal: AbortSignal) => Promise<Description | null>;

const ANSWER_MS = 120_000;

/** A describer over the configured endpoint. */
export function createModelDescriber(
  model: NonNullable<AppConfig["model"]>,
  deps: { readonly clock: Clock; readonly text: Text; readonly language: Language },
): DescribeByModel {
  const provider = createOpenAICompatible({
    name: "endpoint",
    baseURL: model.baseUrl,
    ...(model.apiKey === null ? {} : { apiKey: model.apiKey }),
  });
  return async (table, signal) => {
    const late = new AbortController();
    const cancel = deps.clock.after(ANSWER_MS, () => late.abort(), { unref: true });
    try {
      const { text } = await generateText({
        model: provider(model.name),
        prompt: promptFor(table, deps.language),
        maxRetries: 4,
        abortSignal: AbortSignal.any([signal, late.signal]),
      });
      return readDescription(text, table, deps.language);
    } catch (error) {
      signal.throwIfAborted();
      if (late.signal.aborted) throw failure("model.failed", { why: deps.text("model.silent") }, { cause: error });
      throw modelError(error, deps.text);
    } finally {
      cancel();
    }
  };
}

function promptFor(table: TableFacts, language: Language): string {
  const facts = { ...table, columns: table.columns.slice(0, 150) };
  return [
    `Describe this database table for people who will ask questions about its data, in ${language === "ko" ? "Korean" : "English"}.`,
    "One or two sentences for the table, one short sentence for each column. Say only what the facts show.",
    'Answer with JSON alone: {"description": "...", "columns": [{"name": "...", "description": "..."}]}',
    `Facts: ${JSON.stringify(facts)}`,
  ].join("\n");
}

/** The description in the model's answer, its gaps filled by rules; null when it holds none. */
export function readDescription(answer: string, table: TableFacts, language: Language): Description | null {
  const start = answer.indexOf("{");
  const end = answer.lastIndexOf("}");
  if (start < 0 || end <= start) return null;
  let said: { description?: unknown; columns?: unknown };
  try {
    said = JSON.parse(answer.slice(start, end + 1)) as typeof said;
  } catch {
    return null;
  }
  if (typeof said.description !== "string" || said.description.trim() === "") return null;
  const columns = Array.isArray(said.columns) ? (said.columns as readonly Record<string, unknown>[]) : [];
  const texts = new Map(columns.map((one) => [one?.name, one?.description]));
  const byRules = describeTable(table, language);
  const clean = (text: string) => text.replaceAll("\u0000", "").trim().slice(0, 2_000);
  return {
    description: clean(said.description),
    columns: byRules.columns.map((column) => {
      const text = texts.get(column.name);
      return typeof text === "string" && text.trim() !== "" ? { ...column, description: clean(text) } : column;
    }),
  };
}
