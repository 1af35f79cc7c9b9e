// Schema analyses: ask, look, follow, stop; and the data sources there are.

import type { z } from "zod";
import { failure } from "../../core/wire/errors.ts";
import { page, withId } from "../../core/wire/parts.ts";
import {
  type analysis,
  analysisAccepted,
  analysisPage,
  analysisWithTables,
  dataSourcePage,
  newAnalysis,
} from "../../core/wire/schema-analysis.ts";
import {
  findSchemaAnalysis,
  listSchemaAnalyses,
  listTableDescriptions,
  type SchemaAnalysisRow,
} from "../../db/schema-analyses.ts";
import { stopRow } from "../../db/stops.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { analyse, dataSourceNames } from "../job-requests.ts";
import { accountOf } from "../sessions.ts";
import { onePage } from "./paging.ts";

const tags = ["schema analyses"];

const analysisJson = (row: SchemaAnalysisRow): z.input<typeof analysis> => ({
  id: row.id,
  dataSource: row.dataSource,
  state: row.state,
  message: row.message,
  tablesTotal: row.tablesTotal,
  tablesDone: row.tablesDone,
  stopRequested: row.stopRequested,
  createdAt: row.createdAt,
  endedAt: row.endedAt,
});

export const schemaAnalysisRoutes: Routes = (app, deps) => {
  const find = async (id: string, accountId: string): Promise<SchemaAnalysisRow> => {
    const row = await findSchemaAnalysis(deps.db, id, accountId);
    if (!row) throw failure("analysis.notFound");
    return row;
  };
  const withTables = async (row: SchemaAnalysisRow) => ({
    ...analysisJson(row),
    tables: (await listTableDescriptions(deps.db, row.id)).map((one) => ({ name: one.table, ...one })),
  });

  app.get(
    "/api/data-sources",
    { schema: { summary: "Data sources by name", tags, response: { 200: dataSourcePage } } },
    async () => ({ items: (await dataSourceNames(deps)).map((name) => ({ name })), next: null }),
  );

  app.post(
    "/api/schema-analyses",
    {
      schema: {
        summary: "Analyse a data source's schema",
        tags,
        body: newAnalysis,
        response: { 202: analysisAccepted },
      },
    },
    async (request) => {
      const accountId = accountOf(request).id;
      const { dataSource } = request.body;
      const known = await dataSourceNames(deps);
      const id = deps.random.uuid();
      return onceOnly(deps, request, { analysisId: id, id }, (sql) =>
        analyse(deps, sql, { id, accountId, dataSource, requestId: request.id }, known),
      );
    },
  );

  app.get(
    "/api/schema-analyses",
    { schema: { summary: "One's analyses, newest first", tags, querystring: page, response: { 200: analysisPage } } },
    async (request) => {
      const accountId = accountOf(request).id;
      return onePage(request.query, (asked) => listSchemaAnalyses(deps.db, { accountId, ...asked }), analysisJson);
    },
  );

  app.get(
    "/api/schema-analyses/:id",
    {
      schema: {
        summary: "State, and tables as they are described",
        tags,
        params: withId,
        response: { 200: analysisWithTables },
      },
    },
    async (request) => withTables(await find(request.params.id, accountOf(request).id)),
  );

  app.get(
    "/api/schema-analyses/:id/events",
    {
      config: { isLong: true },
      schema: { summary: "Event stream: the analysis whenever it moved, `end` at last", tags, params: withId },
    },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const { id } = await find(request.params.id, accountId);
      await deps.streams.open(request, reply, {
        channel: "owl_observe",
        payload: `schema-analysis:${id}`,
        shared: true,
        pollMs: 5_000,
        async read(lastId) {
          const row = await findSchemaAnalysis(deps.db, id, accountId);
          if (!row) return { events: [], done: true };
          const mark = [row.state, row.tablesTotal ?? "", row.tablesDone, row.stopRequested].join("-");
          const over = row.endedAt !== null;
          if (mark === lastId) return { events: [], done: over };
          return { events: [{ id: mark, event: over ? "end" : "state", data: await withTables(row) }], done: over };
        },
      });
    },
  );

  app.post(
    "/api/schema-analyses/:id/stop",
    { schema: { summary: "Ask for it to be stopped", tags, params: withId, response: { 202: analysisAccepted } } },
    async (request) => {
      const { id } = await find(request.params.id, accountOf(request).id);
      await stopRow(deps.db, "schema-analysis", id);
      return { analysisId: id, id };
    },
  );
};
