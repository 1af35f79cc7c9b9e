// owlctl's batches, by owld through this instance's own socket; the proxy never serves these paths. An operator sees
// every account's batches and starts one as the account named, else as the first administrator.

import type { z } from "zod";
import {
  batch,
  batchAccepted,
  batchItemPage,
  batchPage,
  batchPlan,
  operatorBatchRequest,
} from "../../core/wire/batch.ts";
import { failure } from "../../core/wire/errors.ts";
import { withId } from "../../core/wire/parts.ts";
import { findAccount } from "../../db/accounts.ts";
import { type BatchRow, findBatch, listBatches, listBatchItems } from "../../db/batches.ts";
import { actOnBatch, BATCH_ACTS, enqueueBatch, planRequest } from "../batch-requests.ts";
import type { Routes } from "../deps.ts";
import { leavingSignal } from "../leaving.ts";
import { batchItemJson, batchJson } from "./batch-json.ts";

const LISTED = 100;
const hide = true;

export const internalBatchRoutes: Routes = (app, deps) => {
  const find = async (id: string): Promise<BatchRow> => {
    const row = await findBatch(deps.db, id, null);
    if (!row) throw failure("batch.notFound#operator");
    return row;
  };

  async function accountFor(name: string | undefined): Promise<string> {
    if (name !== undefined) {
      const account = await findAccount(deps.db, name.toLowerCase());
      if (!account || account.disabledAt) throw failure("account.notFound", { name });
      return account.id;
    }
    const { rows } = await deps.db.query<{ id: string }>(
      `SELECT id FROM owl.account WHERE role = 'administrator' AND disabled_at IS NULL ORDER BY created_at LIMIT 1`,
    );
    if (!rows[0]) throw failure("account.notFound#administrator");
    return rows[0].id;
  }

  async function planFor({ user, ...request }: z.infer<typeof operatorBatchRequest>, left: AbortSignal) {
    const accountId = await accountFor(user);
    return { accountId, request, planned: await planRequest(deps, accountId, request, left) };
  }

  app.post(
    "/internal/batches/plan",
    { schema: { hide, body: operatorBatchRequest, response: { 200: batchPlan } } },
    async (request, reply) => (await planFor(request.body, leavingSignal(reply))).planned.plan,
  );

  app.post(
    "/internal/batches",
    { schema: { hide, body: operatorBatchRequest, response: { 202: batchAccepted } } },
    async (request, reply) => {
      const plan = await planFor(request.body, leavingSignal(reply));
      const id = deps.random.uuid();
      await deps.db.transaction((sql) => enqueueBatch(deps, sql, { id, ...plan, requestId: request.id }));
      return { batchId: id };
    },
  );

  app.get("/internal/batches", { schema: { hide, response: { 200: batchPage } } }, async () => {
    const rows = await listBatches(deps.db, { accountId: null, before: null, limit: LISTED });
    return { items: rows.map(batchJson), next: null };
  });

  app.get("/internal/batches/:id", { schema: { hide, params: withId, response: { 200: batch } } }, async (request) =>
    batchJson(await find(request.params.id)),
  );

  app.get(
    "/internal/batches/:id/items",
    { schema: { hide, params: withId, response: { 200: batchItemPage } } },
    async (request) => {
      const { id } = await find(request.params.id);
      const rows = await listBatchItems(deps.db, { batchId: id, state: null, afterPosition: -1, limit: 100_000 });
      return { items: rows.map(batchItemJson), next: null };
    },
  );

  for (const act of BATCH_ACTS) {
    app.post(
      `/internal/batches/:id/${act}`,
      { schema: { hide, params: withId, response: { 202: batchAccepted } } },
      async (request) => {
        const row = await find(request.params.id);
        await actOnBatch(deps, row, act);
        return { batchId: row.id };
      },
    );
  }
};
