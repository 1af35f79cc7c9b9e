// Everybody's jobs, for administrators: figures, list, one job, stop, try again. Invariants: every act goes the way its
// owner's own route goes (job-requests.ts) and is in the audit trail in the same transaction; nobody's words are told
// (but what a call is that an administrator may allow: `tools.approvers`).

import type { JobKind } from "../../../config/config.ts";
import { kindRetry } from "../../core/job-view.ts";
import { problemsFirst } from "../../core/job-warnings.ts";
import { failure } from "../../core/wire/errors.ts";
import {
  jobAccepted,
  jobCounts,
  jobDetail,
  jobPage,
  jobParams,
  jobQuery,
  jobRetried,
  jobsRetried,
  retryRequest,
} from "../../core/wire/job.ts";
import { findJobDetail } from "../../db/job-detail.ts";
import { COUNTED, readJobFigures } from "../../db/job-figures.ts";
import { findJob, type JobRow, listFailed, listJobs } from "../../db/job-list.ts";
import { lockLatestEnded } from "../../db/schema-analyses.ts";
import { stopRow } from "../../db/stops.ts";
import { findAsked } from "../../db/waiting.ts";
import { audit } from "../approving.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { analyse, dataSourceNames, transcribeAgain } from "../job-requests.ts";
import { jobJson, jobTimings } from "./job-json.ts";
import { onePage } from "./paging.ts";

const tags = ["admin"];
/** What one "retry all failed" takes on: a transaction of about a second. */
const MOST_RETRIED = 5_000;

export const adminJobRoutes: Routes = (app, deps) => {
  const { stalledAfterMs } = deps.config.heartbeat;
  const find = async (kind: JobKind, id: string): Promise<JobRow> => {
    const row = await findJob(deps.db, kind, id, stalledAfterMs);
    if (!row) throw failure("job.notFound");
    return row;
  };
  const named = (job: JobRow): string => `${job.kind} ${job.id}`;

  app.get(
    "/api/admin/jobs",
    {
      schema: {
        summary: "Jobs of every kind and owner: unfinished ones newest first, ended ones latest end first",
        tags,
        querystring: jobQuery,
        response: { 200: jobPage },
      },
    },
    async (request) => {
      const { kind, state, owner, limit, before: next } = request.query;
      const wanted = {
        kind: kind ?? null,
        filter: state ?? "unfinished",
        owner: owner?.toLowerCase() ?? null,
      } as const;
      return onePage({ limit, next }, (page) => listJobs(deps.db, { ...wanted, stalledAfterMs, ...page }), jobJson);
    },
  );

  app.get(
    "/api/admin/jobs/counts",
    {
      schema: {
        summary: "Waiting, running and failed jobs by kind with warnings, problems first; all read at one instant",
        tags,
        response: { 200: jobCounts },
      },
    },
    async () => {
      const { asOf, kinds } = await readJobFigures(deps.db, stalledAfterMs);
      const { claimMs, limitMs: turnLimitMs } = deps.config.turn;
      return { asOf, countedTo: COUNTED, kinds: problemsFirst(kinds, { claimMs, turnLimitMs }) };
    },
  );

  app.get(
    "/api/admin/jobs/:kind/:id",
    {
      schema: {
        summary: "One job: request and result without anybody's words, attempts, timings",
        tags,
        params: jobParams,
        response: { 200: jobDetail },
      },
    },
    async (request) => {
      const { kind, id } = request.params;
      const row = await find(kind, id);
      const detail = { ...jobJson(row), ...jobTimings(row), ...(await findJobDetail(deps.db, kind, id)) };
      if (deps.config.tools.approvers !== "administrators" || (kind !== "chat" && kind !== "playbook")) return detail;
      const asked = await findAsked(deps.db, kind, id);
      return { ...detail, waitsFor: (asked?.steps ?? []).filter(({ asks }) => asks === "approval") };
    },
  );

  app.post(
    "/api/admin/jobs/:kind/:id/stop",
    {
      schema: {
        summary: "Stop it, as its owner may: at once while it waits, through its worker when it runs",
        tags,
        params: jobParams,
        response: { 202: jobAccepted },
      },
    },
    async (request) => {
      const { kind, id } = request.params;
      const job = await find(kind, id);
      return onceOnly(deps, request, { id }, async (sql) => {
        await stopRow(sql, kind, id);
        await audit(sql, request, "job.stopAsked", named(job), { owner: job.owner });
      });
    },
  );

  app.post(
    "/api/admin/jobs/:kind/:id/retry",
    {
      schema: {
        summary: "Try a failed or stopped one again, where its kind allows; `id` is the job that now waits",
        tags,
        params: jobParams,
        response: { 202: jobRetried },
      },
    },
    async (request) => {
      const { kind, id } = request.params;
      const job = await find(kind, id);
      const retry = kindRetry[kind];
      if (retry === "never") throw failure("job.conflict");
      const newId = retry === "again" ? id : deps.random.uuid();
      const known = await dataSourceNames(deps);
      return onceOnly(deps, request, { id: newId, retry }, async (sql) => {
        if (retry === "again") {
          const count = await transcribeAgain(deps, sql, [id], ["failed", "cancelled"]);
          if (count === 0) throw failure("job.conflict#state");
        } else {
          const [latest] = await lockLatestEnded(sql, [id], ["failed", "stopped"]);
          if (!latest) throw failure("job.conflict#later");
          await analyse(deps, sql, { ...latest, id: newId, requestId: request.id }, known);
        }
        const detail = { owner: job.owner, ...(newId === id ? {} : { newJob: newId }) };
        await audit(sql, request, "job.retried", named(job), detail);
      });
    },
  );

  app.post(
    "/api/admin/jobs/retry-failed",
    {
      schema: {
        summary: "Try all failed ones of a filter again, at most 5,000 at once; asking twice retries nothing twice",
        tags,
        body: retryRequest,
        response: { 202: jobsRetried },
      },
    },
    async (request) => {
      const kind = request.body?.kind ?? null;
      const owner = request.body?.owner?.toLowerCase() ?? null;
      const known = await dataSourceNames(deps);
      const isWanted = (one: JobKind): boolean => kind === null || kind === one;
      return deps.db.transaction(async (sql) => {
        let [retried, left] = [0, false];
        if (isWanted("transcription")) {
          const ids = await listFailed(sql, { kind: "transcription", owner, limit: MOST_RETRIED });
          retried += await transcribeAgain(deps, sql, ids, ["failed"]);
          left = ids.length === MOST_RETRIED;
        }
        if (isWanted("schema-analysis")) {
          const ids = await listFailed(sql, { kind: "schema-analysis", owner, limit: MOST_RETRIED });
          for (const one of await lockLatestEnded(sql, ids, ["failed"])) {
            if (!known.includes(one.dataSource)) continue;
            await analyse(deps, sql, { ...one, id: deps.random.uuid(), requestId: request.id }, known);
            retried += 1;
          }
        }
        await audit(sql, request, "jobs.retried", kind ?? "all", { owner, retried, left });
        return { retried, left };
      });
    },
  );
};
