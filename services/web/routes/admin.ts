// The administrator's pages: what runs, what may be updated, who did what. Invariant: nothing here holds power; approving
// and restarting write a row that owld, and only owld, executes.

import { failure } from "../../core/wire/errors.ts";
import {
  approvalAccepted,
  auditQuery,
  auditTrail,
  restartRequest,
  system,
  updateApproval,
  updates,
} from "../../core/wire/system.ts";
import { listAudit } from "../../db/audit.ts";
import { findSystemStatus, listApprovals, listOffers, listRollbacks } from "../../db/system.ts";
import { queueFigures, turnFigures, turnHistogram } from "../../db/turn-figures.ts";
import { listWorkers } from "../../db/workers.ts";
import { approve } from "../approving.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";

const DAY_MS = 86_400_000;
const tags = ["admin"];

export const adminRoutes: Routes = (app, deps) => {
  app.get(
    "/api/admin/system",
    {
      schema: {
        summary: "What runs: owld's status, workers, queues, turns of the last day",
        tags,
        response: { 200: system },
      },
    },
    async () => {
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
        tags,
        response: { 200: updates },
      },
    },
    async () => {
      const [offers, rollbacks, approvals] = await Promise.all([
        listOffers(deps.db),
        listRollbacks(deps.db),
        listApprovals(deps.db, 20),
      ]);
      return { release: deps.release, offers, rollbacks, approvals };
    },
  );

  app.post(
    "/api/admin/update/approve",
    {
      schema: {
        summary: "Approve an offered release; owld applies it",
        tags,
        body: updateApproval,
        response: { 202: approvalAccepted },
      },
    },
    async (request) => {
      const { version } = request.body;
      const id = deps.random.uuid();
      return onceOnly(deps, request, { approvalId: id }, async (sql) => {
        const offers = await listOffers(sql);
        if (!offers.some((offer) => offer.version === version)) throw failure("release.notFound", { version });
        await approve(sql, request, { id, kind: "update", version, services: null });
      });
    },
  );

  app.post(
    "/api/admin/restart",
    {
      schema: {
        summary: "Ask for a surge restart; owld does it",
        tags,
        body: restartRequest,
        response: { 202: approvalAccepted },
      },
    },
    async (request) => {
      const id = deps.random.uuid();
      const named = request.body?.services ?? [];
      const services = named.length > 0 ? named : null;
      return onceOnly(deps, request, { approvalId: id }, (sql) =>
        approve(sql, request, { id, kind: "restart", version: null, services }),
      );
    },
  );

  app.get(
    "/api/admin/audit",
    {
      schema: {
        summary: "Who did what from where, newest first",
        tags,
        querystring: auditQuery,
        response: { 200: auditTrail },
      },
    },
    async (request) => {
      const { before } = request.query;
      return { items: await listAudit(deps.db, before === undefined ? null : Number(before), 100) };
    },
  );
};
