// The schema-analysis kind's handler: table by table, each description stored as it is made.
// Invariants: the data source is only read; a table that is described stays so: who goes on after a lost worker, or was
// handed over to, begins with the next one.

import type { AppConfig } from "../../../config/config.ts";
import { OwlError } from "../../../config/errors.ts";
import { abortCauseOf } from "../../core/abort.ts";
import { actOn } from "../../core/journal.ts";
import { type Description, describeTable } from "../../core/table-describer.ts";
import {
  endSchemaAnalysis,
  loadAnalysisToDo,
  storeTableDescription,
  storeTablesTotal,
} from "../../db/schema-analyses.ts";
import { throughOutage } from "../../db/through-outage.ts";
import type { Sources } from "../../tools/sources.ts";
import type { Handler, HandlerResult, JobContext } from "../handler.ts";
import { openJournal } from "../journal.ts";
import { listTables, readTable, type TableFacts } from "./catalogue.ts";

interface SchemaAnalysisDeps {
  readonly config: AppConfig;
  readonly sources: Sources;
}

/** Runs schema analyses. */
export function createSchemaAnalysisHandler(deps: SchemaAnalysisDeps): Handler {
  return {
    async run(context) {
      try {
        return await analyse(deps, context);
      } catch (error) {
        if (!(error instanceof OwlError) || context.signal.aborted || error.code === "turn.lost") throw error;
        context.log.info({ code: error.code, reason: error.message }, "schema analysis failed");
        return end(context, "failed", context.text("schemaAnalysis.failed", { reason: error.message }));
      }
    },
    async fail(context, error) {
      const cause = abortCauseOf(context.signal);
      if (cause === "lostClaim" || (error instanceof OwlError && error.code === "turn.lost")) return "lostClaim";
      if (cause === "handOver") return "handBack";
      if (cause === "stopped") return end(context, "stopped", null);
      if (cause !== null) return end(context, "failed", context.text("schemaAnalysis.lost"));
      const reason = error instanceof Error ? error.message : String(error);
      return end(context, "failed", context.text("schemaAnalysis.failed", { reason }));
    },
  };
}

function end(context: JobContext, state: "done" | "failed" | "stopped", message: string | null) {
  return context.end((sql) => endSchemaAnalysis(sql, context, { state, message }));
}

async function analyse(deps: SchemaAnalysisDeps, context: JobContext): Promise<HandlerResult> {
  const { db, signal } = context;
  const { sources, config } = deps;
  const todo = await throughOutage(context, () => loadAnalysisToDo(db, context));
  if (todo === null) return "lostClaim";
  const tables = await listTables(sources, todo.dataSource, signal);
  if (!(await throughOutage(context, () => storeTablesTotal(db, context, tables.length)))) return "lostClaim";
  const describe = await createDescriber(config, context);
  let byRules = 0;
  const journal = await openJournal(context, "schema-analysis");
  for (const name of tables) {
    signal.throwIfAborted();
    const step = { kind: "tool", name: "describe", input: name, effect: "read", id: context.random.uuid() } as const;
    const found = journal.meet(step);
    let output = found !== null && actOn(found) === "replay" ? (found.output as { readonly byRules: boolean }) : null;
    if (output === null) {
      // Each description is a model call: the mark reads the claim again first.
      const { n } = await journal.begin(step, found);
      const described = await describe(await readTable(sources, todo.dataSource, name, signal));
      output = { byRules: described.byRules };
      const one = { schema: name.schema, table: name.table, ...described.description };
      if (!(await throughOutage(context, () => storeTableDescription(db, context, one)))) return "lostClaim";
      if (!(await journal.end(n, { state: "finished", output }))) return "lostClaim";
    }
    if (output.byRules) byRules += 1;
  }
  const message =
    config.model !== null && byRules > 0 ? context.text("schemaAnalysis.byRules", { tables: byRules }) : null;
  return end(context, "done", message);
}

type Described = { readonly description: Description; readonly byRules: boolean };

/** The model's words where there is a model and it answers with a description; the rules' otherwise. */
async function createDescriber(
  config: AppConfig,
  context: JobContext,
): Promise<(facts: TableFacts) => Promise<Described>> {
  const { clock, text, signal } = context;
  const { language, model } = config;
  const rules = (facts: TableFacts): Described => ({ description: describeTable(facts, language), byRules: true });
  if (model === null) return async (facts) => rules(facts);
  const { createModelDescriber } = await import("./model-describer.ts");
  const ask = createModelDescriber(model, { clock, text, language });
  return async (facts) => {
    const said = (await ask(facts, signal)) ?? (await ask(facts, signal));
    return said === null ? rules(facts) : { description: said, byRules: false };
  };
}
