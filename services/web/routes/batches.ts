// Batches: plan (writes nothing), enqueue (one transaction, 202), observe (counts from one query; a resumable stream),
// and cancel, retry, pause, resume. All are the asking account's own.

import {
  batch,
  batchAccepted,
  batchItemPage,
  batchItemQuery,
  batchPage,
  batchPlan,
  batchRequest,
  skippedPage,
} from "../../core/wire/batch.ts";
import { failure } from "../../core/wire/errors.ts";
import { nothing, page, withId } from "../../core/wire/parts.ts";
import { type BatchRow, deleteBatch, findBatch, listBatches, listBatchItems, listSkipped } from "../../db/batches.ts";
import { actOnBatch, BATCH_ACTS, enqueueBatch, planRequest } from "../batch-requests.ts";
import type { Routes, WebDeps } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { leavingSignal } from "../leaving.ts";
import { accountOf } from "../sessions.ts";
import { batchEvent, batchItemJson, batchJson, isBatchOver } from "./batch-json.ts";
import { cursorOf, onePage, readPage } from "./paging.ts";

const tags = ["batches"];
/** Ten thousand paths in one request. */
const BODY_LIMIT = 10 * 2 ** 20;
const STREAM_POLL_MS = 5_000;

async function findOwn(deps: Pick<WebDeps, "db">, id: string, accountId: string): Promise<BatchRow> {
  const row = await findBatch(deps.db, id, accountId);
  if (!row) throw failure("batch.notFound");
  return row;
}

export const batchRoutes: Routes = (app, deps) => {
  app.post(
    "/api/batches/plan",
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        summary: "What a batch would do: its items, what is skipped and why, how long; writes nothing",
        tags,
        body: batchRequest,
        response: { 200: batchPlan },
      },
    },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const left = leavingSignal(reply);
      return deps.searches.within(accountId, async () => (await planRequest(deps, accountId, request.body, left)).plan);
    },
  );

  app.post(
    "/api/batches",
    {
      bodyLimit: BODY_LIMIT,
      schema: { summary: "Enqueue a batch", tags, body: batchRequest, response: { 202: batchAccepted } },
    },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const batchId = deps.random.uuid();
      // Planned before the transaction. A plan that fails counts only for a first use of the key: the folder of a
      // batch that was enqueued may be gone when the request is repeated.
      const left = leavingSignal(reply);
      const planned = await deps.searches
        .within(accountId, () => planRequest(deps, accountId, request.body, left))
        .catch((error: unknown) => ({ error }));
      return onceOnly(deps, request, { batchId }, async (sql) => {
        if ("error" in planned) throw planned.error;
        const batch = { id: batchId, accountId, request: request.body, planned, requestId: request.id };
        await enqueueBatch(deps, sql, batch);
      });
    },
  );

  app.get(
    "/api/batches",
    { schema: { summary: "One's batches, newest first", tags, querystring: page, response: { 200: batchPage } } },
    async (request) => {
      const accountId = accountOf(request).id;
      return await onePage(request.query, (page) => listBatches(deps.db, { accountId, ...page }), batchJson);
    },
  );

  app.get(
    "/api/batches/:id",
    { schema: { summary: "State, counts, progress", tags, params: withId, response: { 200: batch } } },
    async (request) => batchJson(await findOwn(deps, request.params.id, accountOf(request).id)),
  );

  app.get(
    "/api/batches/:id/events",
    {
      config: { isLong: true },
      schema: {
        summary: "Event stream: the batch's state whenever it moved, `end` at last; Last-Event-ID resumes",
        tags,
        params: withId,
      },
    },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const { id } = await findOwn(deps, request.params.id, accountId);
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

  app.get(
    "/api/batches/:id/items",
    {
      schema: {
        summary: "Items in the plan's order",
        tags,
        params: withId,
        querystring: batchItemQuery,
        response: { 200: batchItemPage },
      },
    },
    async (request) => {
      const { id } = await findOwn(deps, request.params.id, accountOf(request).id);
      const { limit, after } = readPage(request.query);
      const rows = await listBatchItems(deps.db, {
        batchId: id,
        state: request.query.state ?? null,
        afterPosition: after ? Number(after[0]) : -1,
        limit: limit + 1,
      });
      const items = rows.slice(0, limit);
      const last = items.at(-1);
      return {
        items: items.map(batchItemJson),
        next: rows.length > limit && last ? cursorOf(last.position, last.id) : null,
      };
    },
  );

  app.get(
    "/api/batches/:id/skipped",
    {
      schema: {
        summary: "Files the plan left out, each with its reason",
        tags,
        params: withId,
        response: { 200: skippedPage },
      },
    },
    async (request) => {
      const { id } = await findOwn(deps, request.params.id, accountOf(request).id);
      return { items: await listSkipped(deps.db, id), next: null };
    },
  );

  actRoutes(app, deps);
};

/** What its owner does with one. */
const actRoutes: Routes = (app, deps) => {
  app.delete(
    "/api/batches/:id",
    {
      schema: {
        summary: "Delete one that has ended, with its texts and the recordings that were uploaded for it",
        tags,
        params: withId,
        response: { 204: nothing },
      },
    },
    async (request) => {
      const { id } = await findOwn(deps, request.params.id, accountOf(request).id);
      if (!(await deleteBatch(deps.db, id))) throw failure("batch.conflict#open");
    },
  );

  for (const act of BATCH_ACTS) {
    app.post(
      `/api/batches/:id/${act}`,
      {
        schema: {
          summary: `${act[0]?.toUpperCase()}${act.slice(1)} the batch`,
          tags,
          params: withId,
          response: { 202: batchAccepted },
        },
      },
      async (request) => {
        const row = await findOwn(deps, request.params.id, accountOf(request).id);
        await actOnBatch(deps, row, act);
        return { batchId: row.id };
      },
    );
  }
};
