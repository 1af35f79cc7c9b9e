// A data source and the analyses of its schema.

import { z } from "zod";
import { count, id, instant, list, pageOf, text } from "./parts.ts";
import { runState } from "./playbook.ts";

export const dataSourcePage = pageOf(z.object({ name: text }));
export type DataSourcePage = z.infer<typeof dataSourcePage>;

export const analysis = z.object({
  id,
  dataSource: text,
  state: runState,
  message: text.nullable(),
  tablesTotal: count.nullable(),
  tablesDone: count,
  stopRequested: z.boolean(),
  createdAt: instant,
  endedAt: instant.nullable(),
});
export type Analysis = z.infer<typeof analysis>;
export const analysisPage = pageOf(analysis);

const describedTable = z.object({
  name: text,
  schema: text,
  table: text,
  description: text,
  columns: list(z.object({ name: text, type: text, description: text })),
});
export type DescribedTable = z.infer<typeof describedTable>;
export const analysisWithTables = analysis.extend({ tables: list(describedTable) });
export type AnalysisWithTables = z.infer<typeof analysisWithTables>;

export const newAnalysis = z
  .strictObject({ dataSource: text.min(1).max(200) })
  .meta({ examples: [{ dataSource: "demo" }] });
export const analysisAccepted = z.object({ analysisId: id, id });
export type AnalysisAccepted = z.infer<typeof analysisAccepted>;
