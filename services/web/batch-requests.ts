// What a request may do with a batch: plan (reads only), enqueue, and ask to cancel, retry, pause, resume. Used by the
// public routes and by those of owlctl. Invariant: enqueue writes batch, items and jobs in one transaction or nothing.

import { type BatchPlan, planBatch } from "../core/batch-plan.ts";
import type { BatchRequest } from "../core/wire/batch.ts";
import { failure } from "../core/wire/errors.ts";
import {
  type BatchRow,
  cancelBatch,
  insertBatch,
  pauseBatch,
  readPace,
  resumeBatch,
  retryBatch,
} from "../db/batches.ts";
import type { Sql } from "../db/pool.ts";
import { findUploads } from "../db/uploads.ts";
import { findFiles } from "../media/archive.ts";
import { holdToLimits } from "./account-limits.ts";
import type { WebDeps } from "./deps.ts";

type ItemSource = ReadonlyMap<string, string>;

interface Planned {
  readonly plan: BatchPlan;
  /** Upload ids by the path they are shown under. */
  readonly uploads: ItemSource;
}

/** Computes the plan until `signal`; writes nothing. Throws `path.outside` (403), `path.notFound`, `upload.notFound`, `batch.invalid`. */
export async function planRequest(
  deps: WebDeps,
  accountId: string,
  request: BatchRequest,
  signal: AbortSignal,
): Promise<Planned> {
  const given = [request.path, request.paths, request.uploadIds].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw failure("batch.invalid");
  }
  const { found, uploads } =
    request.uploadIds === undefined
      ? {
          found: await findFiles(request.paths ?? [request.path ?? ""], deps.config.archiveRoots, signal),
          uploads: new Map<string, string>(),
        }
      : await findAmongUploads(deps, accountId, request.uploadIds);
  const { workers, ...pace } = await readPace(deps.db);
  const lanes = Math.max(1, workers * deps.config.worker.concurrency.transcription);
  // An upload was measured and looked at when it came; an archive file may be as large as it is.
  const limits = { maxBytes: Number.MAX_SAFE_INTEGER };
  return { plan: planBatch(found, limits, { ...pace, lanes }), uploads };
}

async function findAmongUploads(deps: WebDeps, accountId: string, ids: readonly string[]) {
  const rows = await findUploads(deps.db, ids, accountId);
  if (rows.length < new Set(ids).size) {
    throw failure("upload.notFound#oneOf");
  }
  const uploads = new Map(rows.map((row) => [`${row.id}/${row.name}`, row.id]));
  const found = rows.map((row) => ({
    path: `${row.id}/${row.name}`,
    bytes: row.bytes,
    refused: null,
    recording: true as const,
  }));
  return { found, uploads };
}

/** Writes batch, items and jobs of the plan with `sql`. Throws `batch.invalid` for a plan without items. */
export async function enqueueBatch(
  deps: WebDeps,
  sql: Sql,
  batch: {
    readonly id: string;
    readonly accountId: string;
    readonly request: BatchRequest;
    readonly planned: Planned;
    readonly requestId: string;
  },
): Promise<void> {
  const { plan, uploads } = batch.planned;
  if (plan.count === 0) {
    throw failure("batch.invalid#empty", {}, { data: { skipped: plan.skipped.length } });
  }
  const items = plan.items.map((item) => {
    const uploadId = uploads.get(item.path);
    return {
      id: deps.random.uuid(),
      queueJob: deps.random.uuid(),
      item: uploadId === undefined ? item : { ...item, uploadId },
    };
  });
  const { language, ...rest } = batch.request;
  await insertBatch(sql, {
    id: batch.id,
    accountId: batch.accountId,
    kind: batch.request.kind,
    request: "path" in rest ? { path: rest.path } : { items: items.length },
    options: language === undefined ? {} : { language },
    skipped: plan.skipped,
    items,
    requestId: batch.requestId,
  });
  await holdToLimits(sql, batch.accountId, deps.config.limits, ["recordings"]);
  await deps.queue.enqueueMany(sql, "transcription", items);
}

export const BATCH_ACTS = ["cancel", "retry", "pause", "resume"] as const;
type BatchAct = (typeof BATCH_ACTS)[number];

/** Does what was asked for. Throws `batch.conflict` (409) where the batch's state does not allow it. */
export async function actOnBatch(deps: WebDeps, batch: BatchRow, act: BatchAct): Promise<void> {
  const { db, queue } = deps;
  const refuse = () => failure("batch.conflict", { state: batch.state, act: act === "retry" ? "be retried" : act });
  let stale: readonly string[] = [];
  await db.transaction(async (sql) => {
    switch (act) {
      case "cancel": {
        if (batch.state === "cancelled") return;
        const { cancelled, staleJobs } = await cancelBatch(sql, batch.id);
        if (!cancelled) throw refuse();
        stale = staleJobs;
        return;
      }
      case "pause": {
        if (batch.state === "paused") return;
        const waiting = await pauseBatch(sql, batch.id);
        if (waiting === null) throw refuse();
        stale = waiting;
        return;
      }
      case "resume": {
        if (batch.state === "running") return;
        const again = await resumeBatch(sql, batch.id);
        if (again === null) throw refuse();
        await queue.enqueueMany(sql, "transcription", again);
        return;
      }
      case "retry": {
        const { count, requeued } = await retryBatch(sql, batch.id);
        if (count === 0) throw refuse();
        await queue.enqueueMany(sql, "transcription", requeued);
        return;
      }
    }
  });
  // After the commit, and only tidying: a stale job that a worker fetches first is cleared away there.
  if (stale.length > 0) {
    await queue
      .remove(db, "transcription", stale)
      .catch((error: unknown) => deps.log.warn({ err: error, batch: batch.id }, "stale queue jobs are left"));
  }
}
