// Playbooks: write (checked as a whole, each problem with step, field and reason), list, change, delete, run.

import { OwlError } from "../../../config/errors.ts";
import { checkPlaybook, type PlaybookStep } from "../../core/playbook.ts";
import { insertPlaybookRun } from "../../db/playbook-runs.ts";
import {
  changePlaybook,
  deletePlaybook,
  findPlaybook,
  insertPlaybook,
  listPlaybooks,
  type PlaybookRow,
} from "../../db/playbooks.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { accountOf } from "../sessions.ts";
import { onePage, pageQuery } from "./paging.ts";
import { listOf, loose, problem } from "./schemas.ts";
import { idParams } from "./turn-json.ts";

const notFound = () => new OwlError("playbook.notFound", "There is no such playbook.");

interface PlaybookBody {
  readonly name: string;
  readonly steps: readonly PlaybookStep[];
}

/** The playbook of a body. Throws `playbook.invalid` with every problem. */
function readPlaybook(body: unknown): PlaybookBody {
  const problems = checkPlaybook(body);
  const first = problems[0];
  if (first) {
    const where = [first.step === null ? null : `step ${first.step}`, first.field || null].filter(Boolean).join(", ");
    throw new OwlError("playbook.invalid", `${where === "" ? "" : `${where}: `}${first.reason}.`, {
      next: problems.length > 1 ? `There are ${problems.length} problems; data.problems lists them all.` : undefined,
      data: { problems },
    });
  }
  const { name, steps } = body as PlaybookBody;
  return { name: name.trim(), steps };
}

function playbookJson(row: PlaybookRow): Record<string, unknown> {
  return {
    id: row.id,
    name: row.name,
    steps: row.steps,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    lastRun: row.lastRun,
  };
}

const bodySchema = {
  ...loose,
  examples: [
    {
      name: "Report late orders",
      steps: [
        { id: "late", tool: "sql", input: { dataSource: "demo", sql: "SELECT count(*) AS n FROM orders" } },
        {
          id: "mail",
          tool: "mail",
          input: { to: "team@example.org", subject: "Late orders", text: "There are ${steps.late.output.rows[0].n}." },
        },
      ],
    },
  ],
} as const;

export const playbookRoutes: Routes = (app, deps) => {
  const find = async (id: string, accountId: string): Promise<PlaybookRow> => {
    const row = await findPlaybook(deps.db, id, accountId);
    if (!row) throw notFound();
    return row;
  };

  app.get<{ Querystring: { limit?: string; next?: string } }>(
    "/api/playbooks",
    {
      schema: {
        summary: "One's playbooks, newest first",
        tags: ["playbooks"],
        querystring: { type: "object", properties: pageQuery },
        response: { 200: listOf(loose) },
      },
    },
    async (request) => {
      const accountId = accountOf(request).id;
      return await onePage(request.query, (page) => listPlaybooks(deps.db, { accountId, ...page }), playbookJson);
    },
  );

  app.post<{ Body: unknown }>(
    "/api/playbooks",
    {
      schema: {
        summary: "Write a playbook: an ordered list of tool calls; inputs refer to ${steps.ID.output.path}",
        tags: ["playbooks"],
        body: bodySchema,
        response: { 201: loose, 400: problem },
      },
    },
    async (request, reply) => {
      const playbook = readPlaybook(request.body);
      const id = deps.random.uuid();
      const at = new Date(deps.clock.now());
      const body = playbookJson({ id, ...playbook, createdAt: at, updatedAt: at, lastRun: null, cursor: "" });
      const answer = await onceOnly(deps, request, { status: 201, body }, (sql) =>
        insertPlaybook(sql, { id, accountId: accountOf(request).id, ...playbook }),
      );
      return reply.code(answer.status).send(answer.body);
    },
  );

  const withId = { tags: ["playbooks"], params: idParams } as const;

  app.get<{ Params: { id: string } }>(
    "/api/playbooks/:id",
    { schema: { ...withId, summary: "A playbook", response: { 200: loose, 404: problem } } },
    async (request) => playbookJson(await find(request.params.id, accountOf(request).id)),
  );

  app.put<{ Params: { id: string }; Body: unknown }>(
    "/api/playbooks/:id",
    {
      schema: {
        ...withId,
        summary: "Write it anew; runs that were asked for keep their steps",
        body: bodySchema,
        response: { 200: loose, 400: problem, 404: problem },
      },
    },
    async (request) => {
      const accountId = accountOf(request).id;
      const playbook = readPlaybook(request.body);
      if (!(await changePlaybook(deps.db, request.params.id, accountId, playbook))) throw notFound();
      return playbookJson(await find(request.params.id, accountId));
    },
  );

  app.delete<{ Params: { id: string } }>(
    "/api/playbooks/:id",
    { schema: { ...withId, summary: "Delete it; its runs stay", response: { 204: { type: "null" }, 404: problem } } },
    async (request, reply) => {
      if (!(await deletePlaybook(deps.db, request.params.id, accountOf(request).id))) throw notFound();
      return reply.code(204).send();
    },
  );

  app.post<{ Params: { id: string } }>(
    "/api/playbooks/:id/runs",
    {
      schema: {
        ...withId,
        summary: "Run it: enqueued, 202",
        headers: { type: "object", properties: { "idempotency-key": { type: "string" } } },
        response: {
          202: { type: "object", properties: { runId: { type: "string" }, id: { type: "string" } } },
          404: problem,
        },
      },
    },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const id = deps.random.uuid();
      const queueJob = deps.random.uuid();
      const answer = await onceOnly(deps, request, { status: 202, body: { runId: id, id } }, async (sql) => {
        const playbook = await findPlaybook(sql, request.params.id, accountId);
        if (!playbook) throw notFound();
        const { name, steps } = playbook;
        await insertPlaybookRun(sql, { id, accountId, playbookId: playbook.id, name, steps, queueJob });
        await deps.queue.enqueue(sql, "playbook", { id, queueJob });
      });
      return reply.code(answer.status).send(answer.body);
    },
  );
};
