// Runs of playbooks: look, follow, stop. A step that was begun and has no end is told as `unknown` once its run ended.

import { OwlError } from "../../../config/errors.ts";
import { shownStepState } from "../../core/playbook.ts";
import {
  findPlaybookRun,
  listPlaybookRuns,
  listSteps,
  type PlaybookRunRow,
  type StepRow,
} from "../../db/playbook-runs.ts";
import type { Routes } from "../deps.ts";
import { stopJob } from "../job-requests.ts";
import { accountOf } from "../sessions.ts";
import { cursorOf, pageQuery, readPage } from "./paging.ts";
import { listOf, loose, problem } from "./schemas.ts";
import { idParams } from "./turn-json.ts";

function runJson(row: PlaybookRunRow): Record<string, unknown> {
  return {
    id: row.id,
    playbookId: row.playbookId,
    name: row.name,
    state: row.state,
    message: row.message,
    stoppedAtStep: row.stoppedAtStep,
    stopRequested: row.stopRequested,
    createdAt: row.createdAt.toISOString(),
    claimedAt: row.claimedAt?.toISOString() ?? null,
    endedAt: row.endedAt?.toISOString() ?? null,
  };
}

function withSteps(row: PlaybookRunRow, stored: readonly StepRow[]): Record<string, unknown> {
  const byPosition = new Map(stored.map((step) => [step.position, step]));
  const steps = row.steps.map((step, position) => {
    const begun = byPosition.get(position);
    return {
      id: step.id,
      tool: step.tool,
      state: shownStepState(begun?.state ?? null, row.endedAt !== null),
      input: begun?.input ?? step.input,
      output: begun?.output ?? null,
      message: begun?.message ?? null,
      startedAt: begun?.startedAt.toISOString() ?? null,
      endedAt: begun?.endedAt?.toISOString() ?? null,
    };
  });
  return { ...runJson(row), steps };
}

export const playbookRunRoutes: Routes = (app, deps) => {
  const find = async (id: string, accountId: string): Promise<PlaybookRunRow> => {
    const row = await findPlaybookRun(deps.db, id, accountId);
    if (!row) throw new OwlError("run.notFound", "There is no such run.");
    return row;
  };
  const withId = { tags: ["playbooks"], params: idParams } as const;

  app.get<{ Querystring: { limit?: string; next?: string; playbookId?: string } }>(
    "/api/playbook-runs",
    {
      schema: {
        summary: "One's runs, newest first",
        tags: ["playbooks"],
        querystring: {
          type: "object",
          properties: { ...pageQuery, playbookId: { type: "string", format: "uuid" } },
        },
        response: { 200: listOf(loose) },
      },
    },
    async (request) => {
      const page = readPage(request.query);
      const rows = await listPlaybookRuns(deps.db, {
        accountId: accountOf(request).id,
        playbookId: request.query.playbookId ?? null,
        before: page.after ? { cursor: page.after[0], id: page.after[1] } : null,
        limit: page.limit + 1,
      });
      const items = rows.slice(0, page.limit);
      const last = items.at(-1);
      return {
        items: items.map(runJson),
        next: rows.length > page.limit && last ? cursorOf(last.cursor, last.id) : null,
      };
    },
  );

  app.get<{ Params: { id: string } }>(
    "/api/playbook-runs/:id",
    { schema: { ...withId, summary: "A run and its steps", response: { 200: loose, 404: problem } } },
    async (request) => {
      const row = await find(request.params.id, accountOf(request).id);
      return withSteps(row, await listSteps(deps.db, row.id));
    },
  );

  app.get<{ Params: { id: string } }>(
    "/api/playbook-runs/:id/events",
    { schema: { ...withId, summary: "Event stream: the run whenever it moved, `end` at last; Last-Event-ID resumes" } },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const { id } = await find(request.params.id, accountId);
      await deps.streams.open(request, reply, {
        channel: "owl_observe",
        payload: `playbook:${id}`,
        pollMs: 5_000,
        async read(lastId) {
          const row = await findPlaybookRun(deps.db, id, accountId);
          if (!row) return { events: [], done: true };
          const steps = await listSteps(deps.db, id);
          const mark = [row.state, row.stopRequested, ...steps.map((step) => step.state)].join("-");
          const over = row.endedAt !== null;
          const event = { id: mark, event: over ? "end" : "state", data: withSteps(row, steps) };
          return { events: mark === lastId ? [] : [event], done: over };
        },
      });
    },
  );

  app.post<{ Params: { id: string } }>(
    "/api/playbook-runs/:id/stop",
    {
      schema: {
        ...withId,
        summary: "Ask for the run to be stopped",
        response: { 202: { type: "object", properties: { runId: { type: "string" } } }, 404: problem },
      },
    },
    async (request, reply) => {
      const run = await find(request.params.id, accountOf(request).id);
      await stopJob(deps, "playbook", run.id);
      return reply.code(202).send({ runId: run.id });
    },
  );
};
