// What somebody has here: how much of what is bounded, and all of it to take along.

import { isoTime } from "../../../config/time.ts";
import { failure } from "../../core/wire/errors.ts";
import { ownUsage } from "../../core/wire/session.ts";
import { recordAudit } from "../../db/audit.ts";
import { readSpending } from "../../db/spending.ts";
import { readUsage } from "../../db/usage.ts";
import { exportAccount } from "../account-export.ts";
import type { Routes } from "../deps.ts";
import { accountOf } from "../sessions.ts";

const tags = ["session"];

export const accountRoutes: Routes = (app, deps) => {
  /** Accounts that are taking their data along, in this process: one at a time each. */
  const exporting = new Set<string>();

  app.get(
    "/api/account/usage",
    { schema: { summary: "What one holds of one's limits", tags, response: { 200: ownUsage } } },
    async (request) => ({
      limits: deps.config.limits,
      usage: await readUsage(deps.aside, accountOf(request).id),
      month: { ...(await readSpending(deps.aside, accountOf(request).id)), budget: deps.config.budget.monthly },
    }),
  );

  app.get(
    "/api/account/export",
    {
      config: { isLong: true },
      schema: { summary: "All one has here, as a tar file: JSON lines, attached files, recordings", tags },
    },
    async (request, reply) => {
      const account = accountOf(request);
      if (exporting.has(account.id)) throw failure("export.running");
      const entry = { accountId: account.id, accountName: account.name, address: request.ip };
      await recordAudit(deps.db, { ...entry, action: "account.exported" });
      exporting.add(account.id);
      const body = exportAccount(deps, account);
      body.once("close", () => exporting.delete(account.id));
      const day = isoTime(deps.clock.now()).slice(0, 10);
      return reply
        .header("content-disposition", `attachment; filename="owl-${account.name}-${day}.tar"`)
        .type("application/x-tar")
        .send(body);
    },
  );
};
