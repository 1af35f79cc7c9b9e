// What may be asked of a job, by its owner's routes and by administrators' alike: stop it, try it again, ask it anew.
// Invariants: a waiting row is ended here, a running one by its worker (or the reclaimer) alone; a row and its queue job
// are written in one transaction.

import type { JobKind } from "../../config/config.ts";
import { failure } from "../core/wire/errors.ts";
import { requestStop } from "../db/claims.ts";
import { stopQueuedRun } from "../db/playbook-runs.ts";
import type { Sql } from "../db/pool.ts";
import { insertSchemaAnalysis, stopQueuedAnalysis } from "../db/schema-analyses.ts";
import { cancelQueuedTranscription, retryTranscriptions } from "../db/transcriptions.ts";
import { endQueuedTurn } from "../db/turns.ts";
import type { WebDeps } from "./deps.ts";

/** Ends a waiting row; gives its stale queue job, or null when it does not wait. */
type StopWaiting = (sql: Sql, id: string) => Promise<{ readonly queueJob: string | null } | null>;

const stopWaiting: Readonly<Record<JobKind, StopWaiting>> = {
  async chat(sql, id) {
    const ended = await endQueuedTurn(sql, id, { state: "stopped", cause: "stopped", message: null });
    // Its queue job went with it.
    return ended ? { queueJob: null } : null;
  },
  transcription: cancelQueuedTranscription,
  playbook: stopQueuedRun,
  "schema-analysis": stopQueuedAnalysis,
};

/** Ends the waiting job or asks its worker to stop it; gives the queue job to tidy away after the commit. */
export async function askToStop(sql: Sql, kind: JobKind, id: string): Promise<string | null> {
  const stopped = await stopWaiting[kind](sql, id);
  if (stopped === null) await requestStop(sql, kind, id);
  return stopped?.queueJob ?? null;
}

/** Takes a stopped job out of its queue. Only tidying: one that a worker fetches first is cleared away there. */
export async function tidyAway(deps: WebDeps, kind: JobKind, queueJob: string | null): Promise<void> {
  if (queueJob !== null) await deps.queue.remove(deps.db, kind, [queueJob]).catch(() => undefined);
}

/** Stops the job: at once while it waits, through its worker when it runs; one that has ended stays as it is. */
export async function stopJob(deps: WebDeps, kind: JobKind, id: string): Promise<void> {
  await tidyAway(deps, kind, await deps.db.transaction((sql) => askToStop(sql, kind, id)));
}

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
  one: { readonly id: string; readonly accountId: string; readonly dataSource: string },
  known: readonly string[],
): Promise<void> {
  if (!known.includes(one.dataSource)) throw failure("source.notFound", { name: one.dataSource });
  const queueJob = deps.random.uuid();
  await insertSchemaAnalysis(sql, { ...one, queueJob });
  await deps.queue.enqueue(sql, "schema-analysis", { id: one.id, queueJob });
}
