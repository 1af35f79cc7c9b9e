// Every route of the control API, in one table: server.ts serves it, openapi.ts describes it.
// Invariant: what is not in this table is not served, so nothing is served undescribed.

import { DEPLOY_ROUTES } from "./deploy-routes.ts";
import { json, lines, param, type Route } from "./route.ts";
import * as shapes from "./schemas.ts";

const rolloutAnswer = (status: number) => ({ status, name: "Rollout", shape: shapes.rollout });
const planAnswer = { status: 200, name: "RolloutPlan", shape: shapes.rolloutPlan };
const changedAnswer = { status: 202, name: "Changed", shape: shapes.changed };
const killedAnswer = { status: 202, name: "Killed", shape: shapes.killed };

const start: Route["run"] = async (input) => json(202, await input.control.start(param(input, "name"), input.text));
const stop: Route["run"] = async (input) => json(202, await input.control.stop(param(input, "name"), input.text));
const kill: Route["run"] = async (input) => json(202, await input.control.kill(param(input, "name"), input.text));
const reexec: Route["run"] = async ({ control, text }) => {
  await control.reexec();
  return json(202, { changed: true, notes: [text.done.reexec], rollout: null });
};

export const ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/status",
    id: "getStatus",
    summary: "Services, instances, proxy, connections, workers, rollout",
    answer: { status: 200, name: "Status", shape: shapes.status },
    run: async ({ control, text }) => json(200, await control.status(text)),
  },
  {
    method: "POST",
    path: "/v1/rollouts",
    id: "startRollout",
    summary: "Starts a rollout; it goes on whoever listens",
    body: shapes.rolloutRequest,
    answer: rolloutAnswer(202),
    run: async ({ control, body }) => json(202, await control.restart(shapes.rolloutRequest.parse(body))),
  },
  {
    method: "POST",
    path: "/v1/rollouts/plan",
    id: "planRollout",
    summary: "What that rollout would do; changes nothing",
    body: shapes.rolloutRequest,
    answer: planAnswer,
    run: async ({ control, body, text }) =>
      json(200, await control.planRestart(shapes.rolloutRequest.parse(body), text)),
  },
  {
    method: "GET",
    path: "/v1/rollouts",
    id: "listRollouts",
    summary: "Rollouts, newest first, a page",
    query: shapes.rolloutsQuery,
    answer: { status: 200, name: "Rollouts", shape: shapes.rollout.array() },
    async run({ control, query }) {
      const { limit = 50, before } = shapes.rolloutsQuery.parse(query);
      return json(200, await control.rollouts({ limit, ...(before === undefined ? {} : { before }) }));
    },
  },
  {
    method: "DELETE",
    path: "/v1/rollouts",
    id: "cancelRunningRollout",
    summary: "Ends the running rollout after its current step",
    answer: rolloutAnswer(202),
    run: async ({ control }) => json(202, await control.cancelRollout(null)),
  },
  {
    method: "GET",
    path: "/v1/rollouts/:id",
    id: "getRollout",
    summary: "One rollout with its steps",
    answer: rolloutAnswer(200),
    run: async (input) => json(200, await input.control.rollout(param(input, "id"))),
  },
  {
    method: "DELETE",
    path: "/v1/rollouts/:id",
    id: "cancelRollout",
    summary: "Ends it after its current step",
    answer: rolloutAnswer(202),
    run: async (input) => json(202, await input.control.cancelRollout(param(input, "id"))),
  },
  {
    method: "GET",
    path: "/v1/rollouts/:id/events",
    id: "watchRollout",
    summary: "What has happened in it, then what happens; the last line is the rollout itself",
    answer: { status: 200, name: "RolloutLine", shape: shapes.rolloutLine, lines: true },
    run: async (input) => lines(await input.control.watchRollout(param(input, "id"), input.signal)),
  },
  {
    method: "GET",
    path: "/v1/events",
    id: "getEvents",
    summary: "State changes, oldest first",
    query: shapes.eventsQuery,
    answer: { status: 200, name: "OwlEvent", shape: shapes.owlEvent, lines: true },
    async run({ control, query, signal }) {
      const asked = shapes.eventsQuery.parse(query);
      const wanted = {
        follow: asked.follow ?? false,
        afterId: asked.after ?? null,
        limit: asked.limit ?? null,
        service: asked.service ?? null,
        instance: asked.instance ?? null,
      };
      return lines(await control.events(wanted, signal));
    },
  },
  {
    method: "GET",
    path: "/v1/logs",
    id: "getLogs",
    summary: "Log lines of instances, oldest first, across rotation",
    query: shapes.logsQuery,
    answer: { status: 200, name: "LogLine", shape: shapes.logLine, lines: true },
    async run({ control, query, signal }) {
      const asked = shapes.logsQuery.parse(query);
      const wanted = {
        target: asked.target ?? null,
        lines: asked.lines ?? (asked.sinceMs === undefined ? 100 : null),
        sinceMs: asked.sinceMs ?? null,
        follow: asked.follow ?? false,
        mark: asked.mark ?? false,
      };
      return lines(await control.logs(wanted, signal));
    },
  },
  {
    method: "POST",
    path: "/v1/reload",
    id: "reload",
    summary: "Reads the configuration again; replaces only what changed",
    answer: changedAnswer,
    run: async ({ control, text }) => json(202, await control.reload(text)),
  },
  {
    method: "POST",
    path: "/v1/reload/plan",
    id: "planReload",
    summary: "What a reload would do; changes nothing",
    answer: planAnswer,
    run: async ({ control, text }) => json(200, await control.planReload(text)),
  },
  {
    method: "POST",
    path: "/v1/scale",
    id: "scale",
    summary: "Other numbers of replicas, by service",
    body: shapes.scaleRequest,
    answer: changedAnswer,
    run: async ({ control, body, text }) => json(202, await control.scale(shapes.scaleRequest.parse(body), text)),
  },
  {
    method: "POST",
    path: "/v1/scale/plan",
    id: "planScale",
    summary: "What that would do; changes nothing",
    body: shapes.scaleRequest,
    answer: planAnswer,
    run: async ({ control, body, text }) => json(200, await control.planScale(shapes.scaleRequest.parse(body), text)),
  },
  {
    method: "POST",
    path: "/v1/start/:name",
    id: "start",
    summary: "Starts a stopped service or instance",
    answer: changedAnswer,
    run: start,
  },
  {
    method: "POST",
    path: "/v1/stop/:name",
    id: "stop",
    summary: "Stops a service or an instance, with its whole grace",
    answer: changedAnswer,
    run: stop,
  },
  {
    method: "POST",
    path: "/v1/kill/:name",
    id: "kill",
    summary: "SIGKILL to the group of an instance",
    answer: killedAnswer,
    run: kill,
  },
  {
    method: "POST",
    path: "/v1/services/:name/start",
    id: "startService",
    summary: "Starts a stopped service",
    answer: changedAnswer,
    run: start,
  },
  {
    method: "POST",
    path: "/v1/services/:name/stop",
    id: "stopService",
    summary: "Stops a service, each instance with its whole grace",
    answer: changedAnswer,
    run: stop,
  },
  {
    method: "POST",
    path: "/v1/instances/:name/start",
    id: "startInstance",
    summary: "Starts a stopped instance again, under a new number",
    answer: changedAnswer,
    run: start,
  },
  {
    method: "POST",
    path: "/v1/instances/:name/stop",
    id: "stopInstance",
    summary: "Stops an instance with its whole grace",
    answer: changedAnswer,
    run: stop,
  },
  {
    method: "POST",
    path: "/v1/instances/:name/kill",
    id: "killInstance",
    summary: "SIGKILL to the group of an instance",
    answer: killedAnswer,
    run: kill,
  },
  {
    method: "POST",
    path: "/v1/releases",
    id: "stageRelease",
    summary: "Unpacks and verifies a release beside the running one",
    body: shapes.stageRequest,
    answer: { status: 200, name: "StagedAnswer", shape: shapes.staged },
    run: async ({ control, body }) => json(200, await control.stageRelease(shapes.stageRequest.parse(body))),
  },
  {
    method: "POST",
    path: "/v1/updates",
    id: "startUpdate",
    summary: "Updates to a release; it goes on whoever listens",
    body: shapes.updateRequest,
    answer: rolloutAnswer(202),
    run: async ({ control, body }) => json(202, await control.update(shapes.updateRequest.parse(body))),
  },
  {
    method: "POST",
    path: "/v1/updates/plan",
    id: "planUpdate",
    summary: "What that update would do (it stages the release); touches no process",
    body: shapes.updateRequest,
    answer: planAnswer,
    run: async ({ control, body, text }) => json(200, await control.planUpdate(shapes.updateRequest.parse(body), text)),
  },
  {
    method: "POST",
    path: "/v1/rollbacks",
    id: "startRollback",
    summary: "Goes back to an earlier release",
    body: shapes.rollbackRequest,
    answer: rolloutAnswer(202),
    run: async ({ control, body }) =>
      json(202, await control.rollback(shapes.rollbackRequest.parse(body).version ?? null)),
  },
  {
    method: "POST",
    path: "/v1/rollbacks/plan",
    id: "planRollback",
    summary: "What that rollback would do and lose; changes nothing",
    body: shapes.rollbackRequest,
    answer: planAnswer,
    run: async ({ control, body, text }) =>
      json(200, await control.planRollback(shapes.rollbackRequest.parse(body).version ?? null, text)),
  },
  {
    method: "GET",
    path: "/v1/why/:target",
    id: "why",
    summary: "Why a service or an instance is as it is",
    answer: { status: 200, name: "Why", shape: shapes.why },
    run: async (input) => json(200, await input.control.why(param(input, "target"), input.text)),
  },
  {
    method: "GET",
    path: "/v1/preflight",
    id: "preflight",
    summary: "Read-only checks",
    answer: { status: 200, name: "PreflightLines", shape: shapes.preflightLines },
    run: async ({ control, text }) => json(200, await control.preflight(text)),
  },
  {
    method: "GET",
    path: "/v1/config",
    id: "getConfig",
    summary: "The configuration in force, secrets masked",
    answer: { status: 200, name: "ShownConfig", shape: shapes.shownConfig },
    run: async ({ control }) => json(200, await control.config()),
  },
  {
    method: "POST",
    path: "/v1/backups",
    id: "backUp",
    summary: "Begins a backup now; it shows in the status and as an event",
    answer: changedAnswer,
    async run({ control, text }) {
      await control.backUp();
      return json(202, { changed: true, notes: [text.done.backup], rollout: null });
    },
  },
  {
    method: "POST",
    path: "/v1/notify/test",
    id: "tryNotices",
    summary: "Sends a test notification by every channel, and waits for it to be taken",
    answer: { ...changedAnswer, status: 200 },
    async run({ control, text: { notices } }) {
      const taken = await control.tryNotices();
      return json(200, {
        changed: true,
        notes: taken.map((one) => notices.taken(notices.channels[one])),
        rollout: null,
      });
    },
  },
  {
    method: "POST",
    path: "/v1/reexec",
    id: "reexec",
    summary: "The supervisor starts again on new code; everything else runs on",
    answer: changedAnswer,
    run: reexec,
  },
  {
    method: "POST",
    path: "/v1/daemon/reexec",
    id: "reexecDaemon",
    summary: "The same as /v1/reexec",
    answer: changedAnswer,
    run: reexec,
  },
  ...DEPLOY_ROUTES,
];
