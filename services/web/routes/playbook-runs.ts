// Runs of playbooks: look, follow, stop. A step that was begun and has no end is told as `unknown` once its run ended.

import type { z } from "zod";
import { shownStepState } from "../../core/playbook.ts";
import { failure } from "../../core/wire/errors.ts";
import { nothing, withId } from "../../core/wire/parts.ts";
import { type run, runPage, runQuery, runStopped, runWithSteps } from "../../core/wire/playbook.ts";
import { stepAnswer, stepParams } from "../../core/wire/step.ts";
import {
  deletePlaybookRun,
  findPlaybookRun,
  listPlaybookRuns,
  listSteps,
  type PlaybookRunRow,
  type StepRow,
} from "../../db/playbook-runs.ts";
import { stopRow } from "../../db/stops.ts";
import { takeWord } from "../answering-steps.ts";
import type { Routes } from "../deps.ts";
import { accountOf } from "../sessions.ts";
import { onePage } from "./paging.ts";

const tags = ["playbooks"];

function runJson(row: PlaybookRunRow): z.input<typeof run> {
  return {
    id: row.id,
    playbookId: row.playbookId,
    name: row.name,
    state: row.state,
    message: row.message,
    stoppedAtStep: row.stoppedAtStep,
    stopRequested: row.stopRequested,
    createdAt: row.createdAt,
    claimedAt: row.claimedAt,
    endedAt: row.endedAt,
    waitsFor: row.waitsFor,
  };
}

function withSteps(row: PlaybookRunRow, stored: readonly StepRow[]): z.input<typeof runWithSteps> {
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
      startedAt: begun?.startedAt ?? null,
      endedAt: begun?.endedAt ?? null,
    };
  });
  return { ...runJson(row), steps };
}

export const playbookRunRoutes: Routes = (app, deps) => {
  const find = async (id: string, accountId: string): Promise<PlaybookRunRow> => {
    const row = await findPlaybookRun(deps.db, id, accountId);
    if (!row) throw failure("run.notFound");
    return row;
  };

  app.get(
    "/api/playbook-runs",
    { schema: { summary: "One's runs, newest first", tags, querystring: runQuery, response: { 200: runPage } } },
    async (request) => {
      const filter = { accountId: accountOf(request).id, playbookId: request.query.playbookId ?? null };
      return onePage(request.query, (page) => listPlaybookRuns(deps.db, { ...filter, ...page }), runJson);
    },
  );

  app.get(
    "/api/playbook-runs/:id",
    { schema: { summary: "A run and its steps", tags, params: withId, response: { 200: runWithSteps } } },
    async (request) => {
      const row = await find(request.params.id, accountOf(request).id);
      return withSteps(row, await listSteps(deps.db, row.id));
    },
  );

  app.delete(
    "/api/playbook-runs/:id",
    { schema: { summary: "Delete one that has ended", tags, params: withId, response: { 204: nothing } } },
    async (request) => {
      const { id } = await find(request.params.id, accountOf(request).id);
      if (!(await deletePlaybookRun(deps.db, id, accountOf(request).id))) throw failure("run.conflict");
    },
  );

  app.get(
    "/api/playbook-runs/:id/events",
    {
      config: { isLong: true },
      schema: {
        summary: "Event stream: the run whenever it moved, `end` at last; Last-Event-ID resumes",
        tags,
        params: withId,
      },
    },
    async (request, reply) => {
      const accountId = accountOf(request).id;
      const { id } = await find(request.params.id, accountId);
      await deps.streams.open(request, reply, {
        channel: "owl_observe",
        payload: `playbook:${id}`,
        shared: true,
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

  app.post(
    "/api/playbook-runs/:id/stop",
    { schema: { summary: "Ask for the run to be stopped", tags, params: withId, response: { 202: runStopped } } },
    async (request) => {
      const { id } = await find(request.params.id, accountOf(request).id);
      await stopRow(deps.db, "playbook", id);
      return { runId: id };
    },
  );

  app.post(
    "/api/playbook-runs/:id/steps/:n/answer",
    {
      schema: {
        summary:
          "The word on a step that is to be allowed or whose outcome is not known: once; the run then goes on, or stops",
        tags,
        params: stepParams,
        body: stepAnswer,
        response: { 202: runStopped },
      },
    },
    async (request) => {
      const { id, n } = request.params;
      return takeWord(deps, request, { kind: "playbook", id, n: Number(n) }, request.body, { runId: id });
    },
  );
};
