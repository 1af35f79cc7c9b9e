// Rollouts on the administration page: past ones, cancelling the one that runs, going back to an earlier release.
// Invariant: nothing here holds power; what is asked for is a row that owld, and only owld, executes.

import { OwlError } from "../../../config/errors.ts";
import { findRollout, insertCancel, listRollbacks, listRollouts, rolloutStanding } from "../../db/system.ts";
import { approvalAccepted, approve, audit } from "../approving.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { administratorOf } from "../sessions.ts";

const open = { type: "object", additionalProperties: true } as const;
const named = {
  type: "object",
  properties: { id: { type: "string", pattern: "^r-[0-9]{1,12}$" } },
} as const;

export const adminRolloutRoutes: Routes = (app, deps) => {
  app.get(
    "/api/admin/rollouts",
    {
      schema: {
        summary: "The newest past rollouts: kind, who asked, end, duration, reason",
        tags: ["admin"],
        response: { 200: open, 403: { $ref: "Problem#" } },
      },
    },
    async (request) => {
      administratorOf(request);
      return { items: await listRollouts(deps.db) };
    },
  );

  app.get<{ Params: { id: string } }>(
    "/api/admin/rollouts/:id",
    {
      schema: {
        summary: "A past rollout with its steps and its ledger",
        tags: ["admin"],
        params: named,
        response: { 200: open, 403: { $ref: "Problem#" }, 404: { $ref: "Problem#" } },
      },
    },
    async (request) => {
      administratorOf(request);
      const found = await findRollout(deps.db, request.params.id);
      if (found !== null) return found;
      throw new OwlError("rollout.notFound", `There is no past rollout ${request.params.id} here.`, {
        next: "On the machine: owlctl rollout list",
      });
    },
  );

  app.post<{ Params: { id: string } }>(
    "/api/admin/rollouts/:id/cancel",
    {
      schema: {
        summary: "Ask for the running rollout to end after its current step; owld does it",
        description: "An update turns back where it still can. Refused when the rollout has ended meanwhile.",
        tags: ["admin"],
        params: named,
        response: {
          202: { type: "object", properties: { cancelId: { type: "string" } } },
          403: { $ref: "Problem#" },
          404: { $ref: "Problem#" },
          409: { $ref: "Problem#" },
        },
      },
    },
    async (request, reply) => {
      const account = administratorOf(request);
      const rollout = request.params.id;
      const id = deps.random.uuid();
      const answer = await onceOnly(deps, request, { status: 202, body: { cancelId: id } }, async (sql) => {
        const standing = await rolloutStanding(sql, rollout);
        if (standing === null) throw new OwlError("rollout.notFound", `No rollout ${rollout} is running.`);
        if (standing === "ended")
          throw new OwlError("rollout.ended", `${rollout} has ended already, so there is nothing to cancel.`, {
            next: "Its end is in the list of past rollouts.",
          });
        if (!(await insertCancel(sql, { id, rollout, account })))
          throw new OwlError("cancel.open", `Somebody has asked already to cancel ${rollout}.`, {
            next: "It ends after its current step.",
          });
        await audit(sql, request, "rollout.cancelAsked", rollout);
      });
      return reply.code(answer.status).send(answer.body);
    },
  );

  app.post<{ Body: { version: string } }>(
    "/api/admin/rollback/approve",
    {
      schema: {
        summary: "Approve going back to a release that ran here; owld does it",
        tags: ["admin"],
        body: {
          type: "object",
          additionalProperties: false,
          required: ["version"],
          properties: { version: { type: "string", minLength: 1, maxLength: 100 } },
          examples: [{ version: "1.0.0" }],
        },
        response: {
          202: approvalAccepted,
          403: { $ref: "Problem#" },
          404: { $ref: "Problem#" },
          409: { $ref: "Problem#" },
        },
      },
    },
    async (request, reply) => {
      administratorOf(request);
      const { version } = request.body;
      const id = deps.random.uuid();
      const answer = await onceOnly(deps, request, { status: 202, body: { approvalId: id } }, async (sql) => {
        const offer = (await listRollbacks(sql)).find((one) => one.version === version);
        if (offer === undefined)
          throw new OwlError("release.notFound", `No release ${version} to go back to is known here.`, {
            next: "See: owlctl rollback --plan",
          });
        if (offer.plan.verdict === "refused")
          throw new OwlError("rollback.conflict", String(offer.plan.reason), { next: String(offer.plan.next) });
        await approve(sql, request, { id, kind: "rollback", version, services: null });
      });
      return reply.code(answer.status).send(answer.body);
    },
  );
};
