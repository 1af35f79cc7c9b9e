// owlctl's schedules, by owld through this instance's own socket; the proxy never serves these paths. An operator sees
// every account's.

import { failure } from "../../core/wire/errors.ts";
import { withId } from "../../core/wire/parts.ts";
import { operatorSchedule, operatorSchedules, scheduleRun } from "../../core/wire/schedule.ts";
import { findSchedule, listSchedules, type ScheduleRow } from "../../db/schedules.ts";
import type { Routes } from "../deps.ts";
import { actOnSchedule, runJson, runNow, SCHEDULE_ACTS } from "../schedule-acts.ts";
import { scheduleJson } from "./schedules.ts";

const LISTED = 1_000;
const hide = true;
const operatorJson = (row: ScheduleRow) => ({ ...scheduleJson(row), user: row.accountName });

export const internalScheduleRoutes: Routes = (app, deps) => {
  app.get("/internal/schedules", { schema: { hide, response: { 200: operatorSchedules } } }, async () => ({
    items: (await listSchedules(deps.db, { accountId: null, before: null, limit: LISTED })).map(operatorJson),
  }));

  app.post(
    "/internal/schedules/:id/run",
    { schema: { hide, params: withId, response: { 202: scheduleRun } } },
    async (request) => {
      const { id } = request.params;
      const end = await deps.db.transaction((sql) => runNow(deps, sql, id, null));
      await deps.db.flush();
      return runJson(id, end);
    },
  );

  for (const act of SCHEDULE_ACTS) {
    app.post(
      `/internal/schedules/:id/${act}`,
      { schema: { hide, params: withId, response: { 200: operatorSchedule } } },
      async (request) => {
        await actOnSchedule(deps, act, request.params.id, null);
        const row = await findSchedule(deps.db, request.params.id, null);
        if (!row) throw failure("schedule.notFound");
        return operatorJson(row);
      },
    );
  }
};
