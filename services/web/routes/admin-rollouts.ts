// Rollouts on the administration page: past ones, cancelling the one that runs, going back to an earlier release.
// Invariant: nothing here holds power; what is asked for is a row that owld, and only owld, executes.

import { failure } from "../../core/wire/errors.ts";
import {
  approvalAccepted,
  cancelAccepted,
  pastRollouts,
  rollout,
  rolloutParams,
  updateApproval,
} from "../../core/wire/system.ts";
import { findRollout, insertCancel, listRollbacks, listRollouts, rolloutStanding } from "../../db/system.ts";
import { approve, audit } from "../approving.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { accountOf } from "../sessions.ts";

const tags = ["admin"];

export const adminRolloutRoutes: Routes = (app, deps) => {
  app.get(
    "/api/admin/rollouts",
    {
      schema: {
        summary: "The newest past rollouts: kind, who asked, end, duration, reason",
        tags,
        response: { 200: pastRollouts },
      },
    },
    async () => ({ items: await listRollouts(deps.db) }),
  );

  app.get(
    "/api/admin/rollouts/:id",
    {
      schema: {
        summary: "A past rollout with its steps and its ledger",
        tags,
        params: rolloutParams,
        response: { 200: rollout },
      },
    },
    async (request) => {
      const found = await findRollout(deps.db, request.params.id);
      if (found === null) throw failure("rollout.notFound", request.params);
      return found;
    },
  );

  app.post(
    "/api/admin/rollouts/:id/cancel",
    {
      schema: {
        summary: "Ask for the running rollout to end after its current step; owld does it",
        description: "An update turns back where it still can. Refused when the rollout has ended meanwhile.",
        tags,
        params: rolloutParams,
        response: { 202: cancelAccepted },
      },
    },
    async (request) => {
      const { id } = request.params;
      const cancelId = deps.random.uuid();
      return onceOnly(deps, request, { cancelId }, async (sql) => {
        const standing = await rolloutStanding(sql, id);
        if (standing === null) throw failure("rollout.notFound#running", { id });
        if (standing === "ended") throw failure("rollout.ended", { id });
        const isFirst = await insertCancel(sql, { id: cancelId, rollout: id, account: accountOf(request) });
        if (!isFirst) throw failure("cancel.open", { id });
        await audit(sql, request, "rollout.cancelAsked", id);
      });
    },
  );

  app.post(
    "/api/admin/rollback/approve",
    {
      schema: {
        summary: "Approve going back to a release that ran here; owld does it",
        tags,
        body: updateApproval,
        response: { 202: approvalAccepted },
      },
    },
    async (request) => {
      const { version } = request.body;
      const id = deps.random.uuid();
      return onceOnly(deps, request, { approvalId: id }, async (sql) => {
        const offer = (await listRollbacks(sql)).find((one) => one.version === version);
        if (offer === undefined) throw failure("release.notFound#earlier", { version });
        const { verdict, reason, next } = offer.plan;
        if (verdict === "refused") throw failure("rollback.conflict", { why: String(reason) }, { next: String(next) });
        await approve(sql, request, { id, kind: "rollback", version, services: null });
      });
    },
  );
};
