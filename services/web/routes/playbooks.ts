// Playbooks: write (checked as a whole, each problem with step, field and reason), list, change, delete, run.

import type { z } from "zod";
import { checkPlaybook, type LostRule, type PlaybookStep } from "../../core/playbook.ts";
import { failure } from "../../core/wire/errors.ts";
import { nothing, page, withId } from "../../core/wire/parts.ts";
import { newPlaybook, playbook, playbookPage, runAccepted } from "../../core/wire/playbook.ts";
import { insertPlaybookRun } from "../../db/playbook-runs.ts";
import {
  changePlaybook,
  deletePlaybook,
  findPlaybook,
  insertPlaybook,
  listPlaybooks,
  type PlaybookRow,
} from "../../db/playbooks.ts";
import { holdToLimits } from "../account-limits.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { accountOf } from "../sessions.ts";
import { onePage } from "./paging.ts";

const tags = ["playbooks"];
const notFound = () => failure("playbook.notFound");

/** The playbook of a body. Throws `playbook.invalid` with every problem. */
function readPlaybook(body: unknown): {
  readonly name: string;
  readonly steps: readonly PlaybookStep[];
  readonly lost: LostRule;
} {
  const problems = checkPlaybook(body);
  const first = problems[0];
  if (first) {
    const where = [first.step === null ? null : `step ${first.step}`, first.field || null].filter(Boolean).join(", ");
    const next =
      problems.length > 1 ? `There are ${problems.length} problems; data.problems lists them all.` : undefined;
    const why = where === "" ? first.reason : `${where}: ${first.reason}`;
    throw failure("playbook.invalid", { why }, { next, data: { problems } });
  }
  const {
    name,
    steps,
    lost = "resume",
  } = body as {
    readonly name: string;
    readonly steps: readonly PlaybookStep[];
    readonly lost?: LostRule;
  };
  return { name: name.trim(), steps, lost };
}

const playbookJson = (row: PlaybookRow): z.input<typeof playbook> => ({
  id: row.id,
  name: row.name,
  steps: row.steps,
  lost: row.lost,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  lastRun: row.lastRun,
});

export const playbookRoutes: Routes = (app, deps) => {
  const find = async (id: string, accountId: string): Promise<PlaybookRow> => {
    const row = await findPlaybook(deps.db, id, accountId);
    if (!row) throw notFound();
    return row;
  };

  app.get(
    "/api/playbooks",
    { schema: { summary: "One's playbooks, newest first", tags, querystring: page, response: { 200: playbookPage } } },
    async (request) => {
      const accountId = accountOf(request).id;
      return onePage(request.query, (asked) => listPlaybooks(deps.db, { accountId, ...asked }), playbookJson);
    },
  );

  app.post(
    "/api/playbooks",
    {
      schema: {
        summary: "Write a playbook: an ordered list of tool calls; inputs refer to ${steps.ID.output.path}",
        tags,
        body: newPlaybook,
        response: { 201: playbook },
      },
    },
    async (request) => {
      const written = readPlaybook(request.body);
      const id = deps.random.uuid();
      const at = new Date(deps.clock.now());
      const made = playbookJson({ id, ...written, createdAt: at, updatedAt: at, lastRun: null, cursor: "" });
      const accountId = accountOf(request).id;
      return onceOnly(deps, request, made, async (sql) => {
        await insertPlaybook(sql, { id, accountId, ...written });
        await holdToLimits(sql, accountId, deps.config.limits, ["playbooks"]);
      });
    },
  );

  app.get(
    "/api/playbooks/:id",
    { schema: { summary: "A playbook", tags, params: withId, response: { 200: playbook } } },
    async (request) => playbookJson(await find(request.params.id, accountOf(request).id)),
  );

  app.put(
    "/api/playbooks/:id",
    {
      schema: {
        summary: "Write it anew; runs that were asked for keep their steps",
        tags,
        params: withId,
        body: newPlaybook,
        response: { 200: playbook },
      },
    },
    async (request) => {
      const accountId = accountOf(request).id;
      const written = readPlaybook(request.body);
      if (!(await changePlaybook(deps.db, request.params.id, accountId, written))) throw notFound();
      return playbookJson(await find(request.params.id, accountId));
    },
  );

  app.delete(
    "/api/playbooks/:id",
    { schema: { summary: "Delete it; its runs stay", tags, params: withId, response: { 204: nothing } } },
    async (request) => {
      if (!(await deletePlaybook(deps.db, request.params.id, accountOf(request).id))) throw notFound();
    },
  );

  app.post(
    "/api/playbooks/:id/runs",
    { schema: { summary: "Run it: enqueued, 202", tags, params: withId, response: { 202: runAccepted } } },
    async (request) => {
      const accountId = accountOf(request).id;
      const id = deps.random.uuid();
      const queueJob = deps.random.uuid();
      return onceOnly(deps, request, { runId: id, id }, async (sql) => {
        const found = await findPlaybook(sql, request.params.id, accountId);
        if (!found) throw notFound();
        const { name, steps, lost } = found;
        const format = await insertPlaybookRun(sql, {
          id,
          accountId,
          playbookId: found.id,
          name,
          steps,
          lost,
          queueJob,
          requestId: request.id,
        });
        await holdToLimits(sql, accountId, deps.config.limits, ["runs"]);
        await deps.queue.enqueue(sql, "playbook", { id, queueJob, format });
      });
    },
  );
};
