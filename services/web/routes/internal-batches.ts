// owlctl's batches, by owld through this instance's own socket; the proxy never serves these paths. An operator sees
// every account's batches and starts one as the account named, else as the first administrator.

import { OwlError } from "../../../config/errors.ts";
import { findAccount } from "../../db/accounts.ts";
import { type BatchRow, findBatch, listBatches, listBatchItems } from "../../db/batches.ts";
import {
  actOnBatch,
  BATCH_ACTS,
  type BatchRequest,
  batchRequestSchema,
  enqueueBatch,
  planRequest,
} from "../batch-requests.ts";
import type { Routes } from "../deps.ts";
import { leavingSignal } from "../leaving.ts";
import { batchItemJson, batchJson } from "./batch-json.ts";
import { refuseProxied } from "./health.ts";
import { idParams } from "./turn-json.ts";

const LISTED = 100;
const hidden = { hide: true } as const;
const body = {
  ...batchRequestSchema,
  properties: { ...batchRequestSchema.properties, user: { type: "string", maxLength: 64 } },
} as const;

type OperatorRequest = BatchRequest & { readonly user?: string };

export const internalBatchRoutes: Routes = (app, deps) => {
  const find = async (id: string): Promise<BatchRow> => {
    const row = await findBatch(deps.db, id, null);
    if (!row) throw new OwlError("batch.notFound", "There is no such batch.", { next: "List them: owlctl batch list" });
    return row;
  };

  async function accountFor(name: string | undefined): Promise<string> {
    if (name !== undefined) {
      const account = await findAccount(deps.db, name.toLowerCase());
      if (!account || account.disabledAt) throw new OwlError("account.notFound", `There is no account ${name}.`);
      return account.id;
    }
    const { rows } = await deps.db.query<{ id: string }>(
      `SELECT id FROM owl.account WHERE role = 'administrator' AND disabled_at IS NULL ORDER BY created_at LIMIT 1`,
    );
    if (!rows[0]) throw new OwlError("account.notFound", "There is no administrator.");
    return rows[0].id;
  }

  const split = ({ user, ...request }: OperatorRequest) => ({ user, request });

  app.register(async (scope) => {
    scope.addHook("onRequest", async (request) => refuseProxied(request));

    scope.post<{ Body: OperatorRequest }>(
      "/internal/batches/plan",
      { schema: { ...hidden, body } },
      async (request, reply) => {
        const asked = split(request.body);
        const left = leavingSignal(reply);
        return (await planRequest(deps, await accountFor(asked.user), asked.request, left)).plan;
      },
    );

    scope.post<{ Body: OperatorRequest }>(
      "/internal/batches",
      { schema: { ...hidden, body } },
      async (request, reply) => {
        const asked = split(request.body);
        const accountId = await accountFor(asked.user);
        const planned = await planRequest(deps, accountId, asked.request, leavingSignal(reply));
        const id = deps.random.uuid();
        await deps.db.transaction((sql) => enqueueBatch(deps, sql, { id, accountId, request: asked.request, planned }));
        return reply.code(202).send({ batchId: id });
      },
    );

    scope.get("/internal/batches", { schema: hidden }, async () => {
      const rows = await listBatches(deps.db, { accountId: null, before: null, limit: LISTED });
      return { items: rows.map(batchJson), next: null };
    });

    const withId = { schema: { ...hidden, params: idParams } } as const;
    scope.get<{ Params: { id: string } }>("/internal/batches/:id", withId, async (request) =>
      batchJson(await find(request.params.id)),
    );

    scope.get<{ Params: { id: string } }>("/internal/batches/:id/items", withId, async (request) => {
      const { id } = await find(request.params.id);
      const rows = await listBatchItems(deps.db, { batchId: id, state: null, afterPosition: -1, limit: 100_000 });
      return { items: rows.map(batchItemJson), next: null };
    });

    for (const act of BATCH_ACTS) {
      scope.post<{ Params: { id: string } }>(`/internal/batches/:id/${act}`, withId, async (request, reply) => {
        const row = await find(request.params.id);
        await actOnBatch(deps, row, act);
        return reply.code(202).send({ batchId: row.id });
      });
    }
  });
};
