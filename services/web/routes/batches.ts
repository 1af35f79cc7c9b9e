// Batches: plan (writes nothing), enqueue (one transaction, 202), observe (counts from one query; a resumable stream),
// and cancel, retry, pause, resume. All are the asking account's own.

import { OwlError } from "../../../config/errors.ts";
import { ITEM_STATES, type ItemState } from "../../core/batch-progress.ts";
import { type BatchRow, findBatch, listBatches, listBatchItems, listSkipped } from "../../db/batches.ts";
import { createAccountGate } from "../account-limits.ts";
import {
  actOnBatch,
  BATCH_ACTS,
  type BatchRequest,
  batchRequestSchema,
  enqueueBatch,
  planRequest,
} from "../batch-requests.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { leavingSignal } from "../leaving.ts";
import { accountOf } from "../sessions.ts";
import { batchEvent, batchItemJson, batchJson, batchSchema, isBatchOver } from "./batch-json.ts";
import { cursorOf, onePage, pageQuery, readPage } from "./paging.ts";
import { listOf, loose } from "./schemas.ts";
import { idParams } from "./turn-json.ts";

/** Ten thousand paths in one request. */
const BODY_LIMIT = 10 * 2 ** 20;
const STREAM_POLL_MS = 5_000;

export const batchRoutes: Routes = (app, deps) => {
  const find = async (id: string, accountId: string): Promise<BatchRow> => {
    const row = await findBatch(deps.db, id, accountId);
    if (!row) throw new OwlError("batch.notFound", "There is no such batch.");
    return row;
  };

  const plans = createAccountGate("searches", deps.config.limits.searches);

  app.post<{ Body: BatchRequest }>(
    "/api/batches/plan",
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        summary: "What a batch would do: its items, what is skipped and why, how long; writes nothing",
        tags: ["batches"],
        body: batchRequestSchema,
        response: {
          200: {
            type: "object",
            properties: {
              items: { type: "array", items: loose },
              skipped: { type: "array", items: loose },
              count: { type: "integer" },
              estimateSeconds: { type: "number" },
            },
          },
          403: { $ref: "Problem#" },
        },
      },
    },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const left = leavingSignal(reply);
      return plans.within(accountId, async () => (await planRequest(deps, accountId, request.body, left)).plan);
    },
  );

  app.post<{ Body: BatchRequest }>(
    "/api/batches",
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        summary: "Enqueue a batch",
        tags: ["batches"],
        headers: { type: "object", properties: { "idempotency-key": { type: "string" } } },
        body: batchRequestSchema,
        response: {
          202: { type: "object", properties: { batchId: { type: "string", format: "uuid" } } },
          403: { $ref: "Problem#" },
        },
      },
    },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const batchId = deps.random.uuid();
      // Planned before the transaction. A plan that fails counts only for a first use of the key: the folder of a
      // batch that was enqueued may be gone when the request is repeated.
      const left = leavingSignal(reply);
      const planned = await plans
        .within(accountId, () => planRequest(deps, accountId, request.body, left))
        .catch((error: unknown) => ({ error }));
      const answer = await onceOnly(deps, request, { status: 202, body: { batchId } }, async (sql) => {
        if ("error" in planned) throw planned.error;
        await enqueueBatch(deps, sql, { id: batchId, accountId, request: request.body, planned });
      });
      return reply.code(answer.status).send(answer.body);
    },
  );

  app.get<{ Querystring: { limit?: string; next?: string } }>(
    "/api/batches",
    {
      schema: {
        summary: "One's batches, newest first",
        tags: ["batches"],
        querystring: { type: "object", properties: pageQuery },
        response: { 200: listOf(batchSchema) },
      },
    },
    async (request) => {
      const accountId = accountOf(request).id;
      return await onePage(request.query, (page) => listBatches(deps.db, { accountId, ...page }), batchJson);
    },
  );

  app.get<{ Params: { id: string } }>(
    "/api/batches/:id",
    {
      schema: {
        summary: "State, counts, progress",
        tags: ["batches"],
        params: idParams,
        response: { 200: batchSchema },
      },
    },
    async (request) => batchJson(await find(request.params.id, accountOf(request).id)),
  );

  app.get<{ Params: { id: string } }>(
    "/api/batches/:id/events",
    {
      schema: {
        summary: "Event stream: the batch's state whenever it moved, `end` at last; Last-Event-ID resumes",
        tags: ["batches"],
        params: idParams,
      },
    },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const { id } = await find(request.params.id, accountId);
      await deps.streams.open(request, reply, {
        channel: "owl_observe",
        payload: `batch:${id}`,
        shared: true,
        pollMs: STREAM_POLL_MS,
        async read(lastId) {
          const row = await findBatch(deps.db, id, accountId);
          if (!row) return { events: [], done: true };
          const event = batchEvent(row);
          return { events: event.id === lastId ? [] : [event], done: isBatchOver(row) };
        },
      });
    },
  );

  app.get<{ Params: { id: string }; Querystring: { limit?: string; next?: string; state?: ItemState } }>(
    "/api/batches/:id/items",
    {
      schema: {
        summary: "Items in the plan's order",
        tags: ["batches"],
        params: idParams,
        querystring: {
          type: "object",
          properties: { ...pageQuery, state: { type: "string", enum: [...ITEM_STATES] } },
        },
        response: { 200: listOf(loose) },
      },
    },
    async (request) => {
      const { id } = await find(request.params.id, accountOf(request).id);
      const page = readPage(request.query);
      const rows = await listBatchItems(deps.db, {
        batchId: id,
        state: request.query.state ?? null,
        afterPosition: page.after ? Number(page.after[0]) : -1,
        limit: page.limit + 1,
      });
      const items = rows.slice(0, page.limit);
      const last = items.at(-1);
      return {
        items: items.map(batchItemJson),
        next: rows.length > page.limit && last ? cursorOf(last.position, last.id) : null,
      };
    },
  );

  app.get<{ Params: { id: string } }>(
    "/api/batches/:id/skipped",
    {
      schema: {
        summary: "Files the plan left out, each with its reason",
        tags: ["batches"],
        params: idParams,
        response: { 200: listOf(loose) },
      },
    },
    async (request) => {
      const { id } = await find(request.params.id, accountOf(request).id);
      return { items: await listSkipped(deps.db, id), next: null };
    },
  );

  for (const act of BATCH_ACTS) {
    app.post<{ Params: { id: string } }>(
      `/api/batches/:id/${act}`,
      {
        schema: {
          summary: `${act[0]?.toUpperCase()}${act.slice(1)} the batch`,
          tags: ["batches"],
          params: idParams,
          response: {
            202: { type: "object", properties: { batchId: { type: "string" } } },
            409: { $ref: "Problem#" },
          },
        },
      },
      async (request, reply) => {
        const row = await find(request.params.id, accountOf(request).id);
        await actOnBatch(deps, row, act);
        return reply.code(202).send({ batchId: row.id });
      },
    );
  }
};
