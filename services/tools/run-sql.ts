// The SQL tool: one read-only statement on a data source.

import { z } from "zod";
import type { Sources } from "./sources.ts";
import type { StatementResult } from "./statement.ts";
import type { Tool } from "./tool.ts";

const input = z.object({
  dataSource: z.string().describe("Name of the data source"),
  sql: z.string().min(1).describe("One read-only PostgreSQL statement"),
});

/** The statement without the semicolon that ends it. */
export function withoutEnd(sql: string): string {
  const trimmed = sql.trimEnd();
  return trimmed.endsWith(";") ? trimmed.slice(0, -1) : trimmed;
}

let lastOffer: { readonly names: string; readonly input: z.ZodType<z.infer<typeof input>> } | null = null;

/** The input with the sources' names; made anew only when they changed. */
function inputFor(names: readonly string[]): z.ZodType<z.infer<typeof input>> {
  const [first, ...rest] = names;
  if (first === undefined) return input;
  const key = JSON.stringify(names);
  if (lastOffer?.names !== key) {
    const offered = input.extend({ dataSource: z.enum([first, ...rest]) });
    lastOffer = { names: key, input: offered as z.ZodType<z.infer<typeof input>> };
  }
  return lastOffer.input;
}

/** `run_sql`, offering the named sources to the model. */
export function createRunSql(sources: Sources, names: readonly string[]): Tool<z.infer<typeof input>> {
  return {
    name: "run_sql",
    description:
      "Runs one read-only SQL statement (PostgreSQL) on a data source and returns its rows. " +
      "Long results are cut: aggregate, or use LIMIT.",
    input: inputFor(names),
    async run({ dataSource, sql }, { signal, accountId }) {
      const result = await sources.run(dataSource, withoutEnd(sql), signal, [], accountId);
      return {
        value: { columns: result.columns, rows: result.rows, cut: cutNote(result) },
        rows: result.rows.length,
        table: { columns: result.columns, rows: result.rows.slice(0, 100) },
      };
    },
  };
}

function cutNote(result: StatementResult): string | undefined {
  if (result.cut === null) return undefined;
  return `Only the first ${result.rows.length} rows are here (${result.cut} limit).`;
}
