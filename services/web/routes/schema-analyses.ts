// Schema analyses: ask, look, follow, stop; and the data sources there are.

import { OwlError } from "../../../config/errors.ts";
import {
  findSchemaAnalysis,
  listSchemaAnalyses,
  listTableDescriptions,
  type SchemaAnalysisRow,
} from "../../db/schema-analyses.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { analyse, dataSourceNames, stopJob } from "../job-requests.ts";
import { accountOf } from "../sessions.ts";
import { onePage, pageQuery } from "./paging.ts";
import { listOf, loose, problem } from "./schemas.ts";
import { idParams } from "./turn-json.ts";

function analysisJson(row: SchemaAnalysisRow): Record<string, unknown> {
  return {
    id: row.id,
    dataSource: row.dataSource,
    state: row.state,
    message: row.message,
    tablesTotal: row.tablesTotal,
    tablesDone: row.tablesDone,
    stopRequested: row.stopRequested,
    createdAt: row.createdAt.toISOString(),
    endedAt: row.endedAt?.toISOString() ?? null,
  };
}

export const schemaAnalysisRoutes: Routes = (app, deps) => {
  const find = async (id: string, accountId: string): Promise<SchemaAnalysisRow> => {
    const row = await findSchemaAnalysis(deps.db, id, accountId);
    if (!row) throw new OwlError("analysis.notFound", "There is no such analysis.");
    return row;
  };
  const withTables = async (row: SchemaAnalysisRow) => ({
    ...analysisJson(row),
    tables: (await listTableDescriptions(deps.db, row.id)).map((one) => ({ name: one.table, ...one })),
  });
  const withId = { tags: ["schema analyses"], params: idParams } as const;
  const accepted = { type: "object", properties: { analysisId: { type: "string" }, id: { type: "string" } } } as const;

  app.get(
    "/api/data-sources",
    { schema: { summary: "Data sources by name", tags: ["schema analyses"], response: { 200: listOf(loose) } } },
    async () => ({ items: (await dataSourceNames(deps)).map((name) => ({ name })), next: null }),
  );

  app.post<{ Body: { dataSource: string } }>(
    "/api/schema-analyses",
    {
      schema: {
        summary: "Analyse a data source's schema",
        tags: ["schema analyses"],
        headers: { type: "object", properties: { "idempotency-key": { type: "string" } } },
        body: {
          type: "object",
          additionalProperties: false,
          required: ["dataSource"],
          properties: { dataSource: { type: "string", minLength: 1, maxLength: 200 } },
          examples: [{ dataSource: "demo" }],
        },
        response: { 202: accepted, 404: problem },
      },
    },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const { dataSource } = request.body;
      const known = await dataSourceNames(deps);
      const id = deps.random.uuid();
      const answer = await onceOnly(deps, request, { status: 202, body: { analysisId: id, id } }, async (sql) => {
        await analyse(deps, sql, { id, accountId, dataSource }, known);
      });
      return reply.code(answer.status).send(answer.body);
    },
  );

  app.get<{ Querystring: { limit?: string; next?: string } }>(
    "/api/schema-analyses",
    {
      schema: {
        summary: "One's analyses, newest first",
        tags: ["schema analyses"],
        querystring: { type: "object", properties: pageQuery },
        response: { 200: listOf(loose) },
      },
    },
    async (request) => {
      const accountId = accountOf(request).id;
      return await onePage(request.query, (page) => listSchemaAnalyses(deps.db, { accountId, ...page }), analysisJson);
    },
  );

  app.get<{ Params: { id: string } }>(
    "/api/schema-analyses/:id",
    {
      schema: { ...withId, summary: "State, and tables as they are described", response: { 200: loose, 404: problem } },
    },
    async (request) => withTables(await find(request.params.id, accountOf(request).id)),
  );

  app.get<{ Params: { id: string } }>(
    "/api/schema-analyses/:id/events",
    { schema: { ...withId, summary: "Event stream: the analysis whenever it moved, `end` at last" } },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const { id } = await find(request.params.id, accountId);
      await deps.streams.open(request, reply, {
        channel: "owl_observe",
        payload: `schema-analysis:${id}`,
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

  app.post<{ Params: { id: string } }>(
    "/api/schema-analyses/:id/stop",
    { schema: { ...withId, summary: "Ask for it to be stopped", response: { 202: accepted, 404: problem } } },
    async (request, reply) => {
      const { id } = await find(request.params.id, accountOf(request).id);
      await stopJob(deps, "schema-analysis", id);
      return reply.code(202).send({ analysisId: id, id });
    },
  );
};
