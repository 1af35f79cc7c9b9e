// Everybody's jobs, for administrators: figures, list, one job, stop, try again. Invariants: every act goes the way its
// owner's own route goes (job-requests.ts) and is in the audit trail in the same transaction; nobody's words are told.

import type { FastifyRequest } from "fastify";
import type { JobKind } from "../../../config/config.ts";
import { OwlError } from "../../../config/errors.ts";
import { type JobFilter, kindRetry } from "../../core/job-view.ts";
import { problemsFirst } from "../../core/job-warnings.ts";
import { recordAudit } from "../../db/audit.ts";
import { findJobDetail } from "../../db/job-detail.ts";
import { COUNTED, readJobFigures } from "../../db/job-figures.ts";
import { findJob, type JobRow, listFailed, listJobs } from "../../db/job-list.ts";
import type { Sql } from "../../db/pool.ts";
import { lockLatestEnded } from "../../db/schema-analyses.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { analyse, askToStop, dataSourceNames, tidyAway, transcribeAgain } from "../job-requests.ts";
import { administratorOf } from "../sessions.ts";
import { countsSchema, filterQuery, jobDetailSchema, jobJson, jobParams, jobSchema, jobTimings } from "./job-json.ts";
import { onePage, pageQuery } from "./paging.ts";
import { listOf, problem } from "./schemas.ts";

/** What one "retry all failed" takes on: a transaction of about a second. */
const MOST_RETRIED = 5_000;

interface Filter {
  readonly kind?: JobKind;
  readonly state?: JobFilter;
  readonly owner?: string;
}

type JobParams = { Params: { kind: JobKind; id: string } };

export const adminJobRoutes: Routes = (app, deps) => {
  const { stalledAfterMs } = deps.config.heartbeat;
  const find = async (kind: JobKind, id: string): Promise<JobRow> => {
    const row = await findJob(deps.db, kind, id, stalledAfterMs);
    if (!row) throw new OwlError("job.notFound", "There is no such job.");
    return row;
  };
  const audit = (sql: Sql, request: FastifyRequest, action: string, target: string, detail: object = {}) => {
    const { id, name } = administratorOf(request);
    return recordAudit(sql, {
      accountId: id,
      accountName: name,
      address: request.ip,
      action,
      target,
      detail: { ...detail },
    });
  };
  const named = (job: JobRow): string => `${job.kind} ${job.id}`;

  app.get<{ Querystring: Filter & { limit?: string; before?: string } }>(
    "/api/admin/jobs",
    {
      schema: {
        summary: "Jobs of every kind and owner: unfinished ones newest first, ended ones latest end first",
        tags: ["admin"],
        querystring: {
          type: "object",
          properties: {
            ...filterQuery,
            limit: pageQuery.limit,
            before: { ...pageQuery.next, description: "The `next` of the page before." },
          },
        },
        response: { 200: listOf(jobSchema), 403: problem },
      },
    },
    async (request) => {
      administratorOf(request);
      const { kind, state, owner, limit, before: next } = request.query;
      const wanted = {
        kind: kind ?? null,
        filter: state ?? "unfinished",
        owner: owner?.toLowerCase() ?? null,
      } as const;
      return await onePage(
        { ...(limit === undefined ? {} : { limit }), ...(next === undefined ? {} : { next }) },
        (page) => listJobs(deps.db, { ...wanted, stalledAfterMs, ...page }),
        jobJson,
      );
    },
  );

  app.get(
    "/api/admin/jobs/counts",
    {
      schema: {
        summary: "Waiting, running and failed jobs by kind with warnings, problems first; all read at one instant",
        tags: ["admin"],
        response: { 200: countsSchema, 403: problem },
      },
    },
    async (request) => {
      administratorOf(request);
      const { asOf, kinds } = await readJobFigures(deps.db, stalledAfterMs);
      const { claimMs, limitMs: turnLimitMs } = deps.config.turn;
      return { asOf: asOf.toISOString(), countedTo: COUNTED, kinds: problemsFirst(kinds, { claimMs, turnLimitMs }) };
    },
  );

  app.get<JobParams>(
    "/api/admin/jobs/:kind/:id",
    {
      schema: {
        summary: "One job: request and result without anybody's words, attempts, timings",
        tags: ["admin"],
        params: jobParams,
        response: { 200: jobDetailSchema, 403: problem, 404: problem },
      },
    },
    async (request) => {
      administratorOf(request);
      const { kind, id } = request.params;
      const row = await find(kind, id);
      return { ...jobJson(row), ...jobTimings(row), ...(await findJobDetail(deps.db, kind, id)) };
    },
  );

  app.post<JobParams>(
    "/api/admin/jobs/:kind/:id/stop",
    {
      schema: {
        summary: "Stop it, as its owner may: at once while it waits, through its worker when it runs",
        tags: ["admin"],
        params: jobParams,
        headers: { type: "object", properties: { "idempotency-key": { type: "string" } } },
        response: {
          202: { type: "object", properties: { id: { type: "string" } }, examples: [{ id: jobSchema.examples[0].id }] },
          403: problem,
          404: problem,
        },
      },
    },
    async (request, reply) => {
      administratorOf(request);
      const { kind, id } = request.params;
      const job = await find(kind, id);
      let stale: string | null = null;
      const answer = await onceOnly(deps, request, { status: 202, body: { id } }, async (sql) => {
        stale = await askToStop(sql, kind, id);
        await audit(sql, request, "job.stopAsked", named(job), { owner: job.owner });
      });
      await tidyAway(deps, kind, stale);
      return reply.code(answer.status).send(answer.body);
    },
  );

  app.post<JobParams>(
    "/api/admin/jobs/:kind/:id/retry",
    {
      schema: {
        summary: "Try a failed or stopped one again, where its kind allows; `id` is the job that now waits",
        tags: ["admin"],
        params: jobParams,
        headers: { type: "object", properties: { "idempotency-key": { type: "string" } } },
        response: {
          202: {
            type: "object",
            properties: {
              id: { type: "string", description: "The same job, or the new one where the kind's end is final." },
              retry: { type: "string", enum: ["again", "anew"] },
            },
            examples: [{ id: jobSchema.examples[0].id, retry: "again" }],
          },
          403: problem,
          404: problem,
          409: problem,
        },
      },
    },
    async (request, reply) => {
      administratorOf(request);
      const { kind, id } = request.params;
      const job = await find(kind, id);
      const retry = kindRetry[kind];
      if (retry === "never") {
        throw new OwlError("job.conflict", "Its tools may have acted: a job of this kind is not run again by others.", {
          next: "Its owner asks, or runs the playbook, again.",
        });
      }
      const newId = retry === "again" ? id : deps.random.uuid();
      const known = await dataSourceNames(deps);
      const answer = await onceOnly(deps, request, { status: 202, body: { id: newId, retry } }, async (sql) => {
        if (retry === "again") {
          const count = await transcribeAgain(deps, sql, [id], ["failed", "cancelled"]);
          if (count === 0) throw new OwlError("job.conflict", "Only a failed or cancelled job can be tried again.");
        } else {
          const [latest] = await lockLatestEnded(sql, [id], ["failed", "stopped"]);
          if (!latest) {
            throw new OwlError("job.conflict", "It has not failed, or a later analysis has taken its place.", {
              next: "Look at the latest analysis of this data source.",
            });
          }
          await analyse(deps, sql, { ...latest, id: newId }, known);
        }
        const detail = { owner: job.owner, ...(newId === id ? {} : { newJob: newId }) };
        await audit(sql, request, "job.retried", named(job), detail);
      });
      return reply.code(answer.status).send(answer.body);
    },
  );

  app.post<{ Body: Pick<Filter, "kind" | "owner"> | undefined }>(
    "/api/admin/jobs/retry-failed",
    {
      schema: {
        summary: "Try all failed ones of a filter again, at most 5,000 at once; asking twice retries nothing twice",
        tags: ["admin"],
        body: {
          anyOf: [
            { type: "null" },
            {
              type: "object",
              additionalProperties: false,
              properties: { kind: filterQuery.kind, owner: filterQuery.owner },
            },
          ],
          examples: [{ kind: "transcription", owner: "mina" }],
        },
        response: {
          202: {
            type: "object",
            properties: {
              retried: { type: "integer", minimum: 0 },
              left: { type: "boolean", description: "More are left: ask again." },
            },
            examples: [{ retried: 12, left: false }],
          },
          403: problem,
        },
      },
    },
    async (request, reply) => {
      administratorOf(request);
      const kind = request.body?.kind ?? null;
      const owner = request.body?.owner?.toLowerCase() ?? null;
      const known = await dataSourceNames(deps);
      const isWanted = (one: JobKind): boolean => kind === null || kind === one;
      const answer = await deps.db.transaction(async (sql) => {
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
            await analyse(deps, sql, { ...one, id: deps.random.uuid() }, known);
            retried += 1;
          }
        }
        await audit(sql, request, "jobs.retried", kind ?? "all", { owner, retried, left });
        return { retried, left };
      });
      return reply.code(202).send(answer);
    },
  );
};
