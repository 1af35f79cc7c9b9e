// The administrator's pages: what runs, what may be updated, who did what. Invariant: nothing here holds power; approving
// and restarting write a row that owld, and only owld, executes.

import { OwlError } from "../../../config/errors.ts";
import { listAudit } from "../../db/audit.ts";
import { findSystemStatus, listApprovals, listOffers, listRollbacks } from "../../db/system.ts";
import { queueFigures, turnFigures, turnHistogram } from "../../db/turn-figures.ts";
import { listWorkers } from "../../db/workers.ts";
import { approvalAccepted as accepted, approve } from "../approving.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { administratorOf } from "../sessions.ts";

const DAY_MS = 86_400_000;
const open = { type: "object", additionalProperties: true } as const;

export const adminRoutes: Routes = (app, deps) => {
  app.get(
    "/api/admin/system",
    {
      schema: {
        summary: "What runs: owld's status, workers, queues, turns of the last day",
        tags: ["admin"],
        response: { 200: open, 403: { $ref: "Problem#" } },
      },
    },
    async (request) => {
      administratorOf(request);
      const { finishMs } = deps.config.turn;
      const [found, workers, queues, turns, histogram] = await Promise.all([
        findSystemStatus(deps.db),
        listWorkers(deps.db, deps.config.heartbeat.stalledAfterMs),
        queueFigures(deps.db),
        turnFigures(deps.db, DAY_MS),
        turnHistogram(deps.db, DAY_MS, finishMs),
      ]);
      return {
        release: deps.release,
        instance: deps.instance,
        status: found?.status ?? null,
        statusAgeMs: found?.ageMs ?? null,
        workers,
        queues,
        turns: { finishMs, sinceMs: DAY_MS, outcomes: turns, histogram },
      };
    },
  );

  app.get(
    "/api/admin/update",
    {
      schema: {
        summary: "Releases offered, those to go back to, and how approved updates and restarts go on",
        tags: ["admin"],
        response: { 200: open, 403: { $ref: "Problem#" } },
      },
    },
    async (request) => {
      administratorOf(request);
      const [offers, rollbacks, approvals] = await Promise.all([
        listOffers(deps.db),
        listRollbacks(deps.db),
        listApprovals(deps.db, 20),
      ]);
      return { release: deps.release, offers, rollbacks, approvals };
    },
  );

  app.post<{ Body: { version: string } }>(
    "/api/admin/update/approve",
    {
      schema: {
        summary: "Approve an offered release; owld applies it",
        tags: ["admin"],
        body: {
          type: "object",
          additionalProperties: false,
          required: ["version"],
          properties: { version: { type: "string", minLength: 1, maxLength: 100 } },
          examples: [{ version: "1.1.0" }],
        },
        response: { 202: accepted, 404: { $ref: "Problem#" }, 409: { $ref: "Problem#" } },
      },
    },
    async (request, reply) => {
      administratorOf(request);
      const { version } = request.body;
      const id = deps.random.uuid();
      const answer = await onceOnly(deps, request, { status: 202, body: { approvalId: id } }, async (sql) => {
        const offers = await listOffers(sql);
        if (!offers.some((offer) => offer.version === version)) {
          throw new OwlError("release.notFound", `No release ${version} is offered.`, {
            next: "Stage it: owlctl update --stage ARCHIVE.",
          });
        }
        await approve(sql, request, { id, kind: "update", version, services: null });
      });
      return reply.code(answer.status).send(answer.body);
    },
  );

  app.post<{ Body: { services?: readonly string[] } | undefined }>(
    "/api/admin/restart",
    {
      schema: {
        summary: "Ask for a surge restart; owld does it",
        tags: ["admin"],
        body: {
          anyOf: [
            { type: "null" },
            {
              type: "object",
              additionalProperties: false,
              properties: {
                services: { type: "array", maxItems: 50, items: { type: "string", minLength: 1, maxLength: 64 } },
              },
            },
          ],
        },
        response: { 202: accepted, 409: { $ref: "Problem#" } },
      },
    },
    async (request, reply) => {
      administratorOf(request);
      const id = deps.random.uuid();
      const named = request.body?.services ?? [];
      const answer = await onceOnly(deps, request, { status: 202, body: { approvalId: id } }, async (sql) => {
        const services = named.length > 0 ? named : null;
        await approve(sql, request, { id, kind: "restart", version: null, services });
      });
      return reply.code(answer.status).send(answer.body);
    },
  );

  app.get<{ Querystring: { before?: string } }>(
    "/api/admin/audit",
    {
      schema: {
        summary: "Who did what from where, newest first",
        tags: ["admin"],
        querystring: { type: "object", properties: { before: { type: "string", pattern: "^[0-9]{1,15}$" } } },
        response: { 200: open, 403: { $ref: "Problem#" } },
      },
    },
    async (request) => {
      administratorOf(request);
      const before = request.query.before === undefined ? null : Number(request.query.before);
      return { items: await listAudit(deps.db, before, 100) };
    },
  );
};
