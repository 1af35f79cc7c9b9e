// What may be asked of a job, by its owner's routes and by administrators' alike: try it again, ask it anew (to stop it:
// db/stops.ts). Invariant: a row and its queue job are written in one transaction.

import { failure } from "../core/wire/errors.ts";
import type { Sql } from "../db/pool.ts";
import { insertSchemaAnalysis } from "../db/schema-analyses.ts";
import { retryTranscriptions } from "../db/transcriptions.ts";
import { holdToLimits } from "./account-limits.ts";
import type { WebDeps } from "./deps.ts";

/** Puts those of `ids` that ended in one of the states `from` in line again; answers how many. */
export async function transcribeAgain(
  deps: WebDeps,
  sql: Sql,
  ids: readonly string[],
  from: readonly ("failed" | "cancelled")[],
): Promise<number> {
  const again = await retryTranscriptions(sql, ids, from);
  await deps.queue.enqueueMany(sql, "transcription", again);
  return again.length;
}

/** The data sources there are: those of owl.yaml and those that prepare added. */
export async function dataSourceNames(deps: WebDeps): Promise<readonly string[]> {
  const { rows } = await deps.db.query<{ name: string }>("SELECT name FROM owl.data_source");
  return [...new Set([...Object.keys(deps.config.dataSources), ...rows.map((row) => row.name)])].sort();
}

/** Enqueues a new analysis. Throws `source.notFound` for a data source that is not among `known`. */
export async function analyse(
  deps: WebDeps,
  sql: Sql,
  one: { readonly id: string; readonly accountId: string; readonly dataSource: string; readonly requestId: string },
  known: readonly string[],
): Promise<void> {
  if (!known.includes(one.dataSource)) throw failure("source.notFound", { name: one.dataSource });
  const queueJob = deps.random.uuid();
  await insertSchemaAnalysis(sql, { ...one, queueJob });
  await holdToLimits(sql, one.accountId, deps.config.limits, ["runs"]);
  await deps.queue.enqueue(sql, "schema-analysis", { id: one.id, queueJob });
}
