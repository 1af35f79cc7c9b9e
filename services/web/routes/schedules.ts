// Schedules: write, list, change, delete, run now, pause and resume; what became of their ticks.

import type { z } from "zod";
import type { CronLine } from "../../../config/cron-line.ts";
import { failure } from "../../core/wire/errors.ts";
import { nothing, page, withId } from "../../core/wire/parts.ts";
import {
  type NewSchedule,
  newSchedule,
  schedule,
  schedulePage,
  schedulePlan,
  schedulePlanQuery,
  scheduleRun,
  tickPage,
} from "../../core/wire/schedule.ts";
import { findConversation } from "../../db/conversations.ts";
import { findPlaybook } from "../../db/playbooks.ts";
import type { Sql } from "../../db/pool.ts";
import {
  changeSchedule,
  countSchedules,
  deleteSchedule,
  findSchedule,
  insertSchedule,
  listSchedules,
  listTicks,
  type ScheduleRow,
  type ScheduleText,
  type TickRow,
} from "../../db/schedules.ts";
import { lockUsage } from "../../db/usage.ts";
import { readCronLine } from "../../schedules/cron-line.ts";
import { failuresInRow } from "../../schedules/failures.ts";
import { nextTick } from "../../schedules/scheduler.ts";
import { limitReached } from "../account-limits.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { actOnSchedule, runJson, runNow, SCHEDULE_ACTS } from "../schedule-acts.ts";
import { accountOf } from "../sessions.ts";
import { onePage } from "./paging.ts";

const tags = ["schedules"];
const SHOWN = 5;

export const scheduleJson = (row: ScheduleRow): z.input<typeof schedule> => ({
  id: row.id,
  name: row.name,
  cron: row.cron,
  zone: row.zone,
  text: row.text,
  conversationId: row.conversationId,
  playbookId: row.playbookId,
  missed: row.missed,
  overlap: row.overlap,
  jitterS: row.jitterMs / 1_000,
  paused: row.pausedAt !== null,
  nextAt: row.pausedAt === null ? row.nextAt : null,
  createdAt: row.createdAt,
  isRunning: row.isOpen,
  lastTick: row.lastTick,
  failuresInRow: failuresInRow(row.outcomes),
});

const tickJson = ({ id: _id, cursor: _cursor, ...row }: TickRow) => row;

/** The next ticks; throws where there are none. */
function nextTicks(line: CronLine, nowMs: number): readonly number[] {
  const ticks: number[] = [];
  for (let at = line.next(nowMs); at !== null && ticks.length < SHOWN; at = line.next(at)) ticks.push(at);
  if (ticks.length === 0) throw failure("schedule.invalid#never");
  return ticks;
}

function textOf(body: NewSchedule, nowMs: number): { text: ScheduleText; line: CronLine } {
  const { missed = "skip", overlap = "skip", jitterS = 0 } = body;
  const line = readCronLine(body.cron, body.zone);
  const ticks = nextTicks(line, nowMs);
  const gapS = Math.min(...ticks.slice(1).map((at, index) => (at - (ticks[index] ?? 0)) / 1_000));
  if (jitterS >= gapS) throw failure("schedule.invalid#jitter", { seconds: gapS });
  const text = {
    name: body.name.trim(),
    cron: body.cron.trim(),
    zone: body.zone,
    text: body.text ?? null,
    conversationId: body.conversationId ?? null,
    playbookId: body.playbookId ?? null,
    missed,
    overlap,
    jitterMs: jitterS * 1_000,
  };
  return { text, line };
}

/** What it names must be its owner's. */
async function mustOwn(sql: Sql, accountId: string, text: ScheduleText): Promise<void> {
  const { conversationId, playbookId } = text;
  if (conversationId !== null && !(await findConversation(sql, conversationId, accountId)))
    throw failure("conversation.notFound");
  if (playbookId !== null && !(await findPlaybook(sql, playbookId, accountId))) throw failure("playbook.notFound");
}

export const scheduleRoutes: Routes = (app, deps) => {
  const { limits } = deps.config;
  const find = async (id: string, accountId: string): Promise<ScheduleRow> => {
    const row = await findSchedule(deps.db, id, accountId);
    if (!row) throw failure("schedule.notFound");
    return row;
  };

  app.get(
    "/api/schedules",
    { schema: { summary: "One's schedules, newest first", tags, querystring: page, response: { 200: schedulePage } } },
    async (request) => {
      const accountId = accountOf(request).id;
      return onePage(request.query, (asked) => listSchedules(deps.db, { accountId, ...asked }), scheduleJson);
    },
  );

  app.post(
    "/api/schedules",
    {
      schema: {
        summary: "Ask a question or run a playbook by the clock",
        tags,
        body: newSchedule,
        response: { 201: schedule },
      },
    },
    async (request) => {
      const account = accountOf(request);
      const nowMs = deps.clock.now();
      const { text, line } = textOf(request.body, nowMs);
      const next = nextTick(line.next(nowMs), deps, text);
      const id = deps.random.uuid();
      const made: ScheduleRow = {
        ...text,
        id,
        accountId: account.id,
        accountName: account.name,
        pausedAt: null,
        nextAt: next.nextAt,
        createdAt: next.plannedAt,
        waitingAt: null,
        isOpen: false,
        lastTick: null,
        outcomes: [],
        cursor: "",
      };
      return onceOnly(deps, request, scheduleJson(made), async (sql) => {
        await mustOwn(sql, account.id, text);
        await insertSchedule(sql, { id, accountId: account.id }, text, next);
        await lockUsage(sql, account.id);
        if ((await countSchedules(sql, account.id)) > limits.schedules)
          throw limitReached("schedules", limits.schedules);
      });
    },
  );

  app.post(
    "/api/schedules/plan",
    {
      schema: {
        summary: "When a cron line comes next; nothing is written",
        tags,
        body: schedulePlanQuery,
        response: { 200: schedulePlan },
      },
    },
    async (request) => {
      const line = readCronLine(request.body.cron, request.body.zone);
      return { next: nextTicks(line, deps.clock.now()).map((at) => new Date(at)) };
    },
  );

  app.get(
    "/api/schedules/:id",
    { schema: { summary: "A schedule", tags, params: withId, response: { 200: schedule } } },
    async (request) => scheduleJson(await find(request.params.id, accountOf(request).id)),
  );

  app.get(
    "/api/schedules/:id/ticks",
    {
      schema: {
        summary: "What became of its ticks, newest first (they are kept for 30 days)",
        tags,
        params: withId,
        querystring: page,
        response: { 200: tickPage },
      },
    },
    async (request) => {
      const { id } = await find(request.params.id, accountOf(request).id);
      return onePage(request.query, (asked) => listTicks(deps.db, { scheduleId: id, ...asked }), tickJson);
    },
  );

  app.put(
    "/api/schedules/:id",
    {
      schema: { summary: "Write it anew", tags, params: withId, body: newSchedule, response: { 200: schedule } },
    },
    async (request) => {
      const accountId = accountOf(request).id;
      const { id } = request.params;
      const nowMs = deps.clock.now();
      const { text, line } = textOf(request.body, nowMs);
      await mustOwn(deps.db, accountId, text);
      const next = nextTick(line.next(nowMs), deps, text);
      if (!(await changeSchedule(deps.db, { id, accountId }, text, next))) throw failure("schedule.notFound");
      return scheduleJson(await find(id, accountId));
    },
  );

  app.delete(
    "/api/schedules/:id",
    { schema: { summary: "Delete it; what it ran stays", tags, params: withId, response: { 204: nothing } } },
    async (request) => {
      if (!(await deleteSchedule(deps.db, request.params.id, accountOf(request).id)))
        throw failure("schedule.notFound");
    },
  );

  app.post(
    "/api/schedules/:id/run",
    { schema: { summary: "Run it now, beside its ticks", tags, params: withId, response: { 202: scheduleRun } } },
    async (request) => {
      const { id } = request.params;
      const end = await deps.db.transaction((sql) => runNow(deps, sql, id, accountOf(request).id));
      await deps.db.flush();
      return runJson(id, end);
    },
  );

  for (const act of SCHEDULE_ACTS) {
    const summary = act === "pause" ? "Stop its clock" : "Let it go on with its next tick";
    app.post(
      `/api/schedules/:id/${act}`,
      { schema: { summary, tags, params: withId, response: { 200: schedule } } },
      async (request) => {
        const accountId = accountOf(request).id;
        await actOnSchedule(deps, act, request.params.id, accountId);
        return scheduleJson(await find(request.params.id, accountId));
      },
    );
  }
};
