// Routes about a team's own code: its releases, and programs run once in a service's environment.

import { json, lines, type Route } from "./route.ts";
import * as shapes from "./schemas.ts";

export const DEPLOY_ROUTES: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/deploys",
    id: "startDeploy",
    summary: "Makes a release of own code, or goes back to one, and replaces what runs; it goes on whoever listens",
    body: shapes.deployRequest,
    answer: { status: 202, name: "Rollout", shape: shapes.rollout },
    run: async ({ control, body }) => json(202, await control.deploy(shapes.deployRequest.parse(body))),
  },
  {
    method: "POST",
    path: "/v1/deploys/plan",
    id: "planDeploy",
    summary: "What that deploy would do; changes nothing",
    body: shapes.deployRequest,
    answer: { status: 200, name: "RolloutPlan", shape: shapes.rolloutPlan },
    run: async ({ control, body, text }) => json(200, await control.planDeploy(shapes.deployRequest.parse(body), text)),
  },
  {
    method: "GET",
    path: "/v1/deploys",
    id: "listOwnReleases",
    summary: "Releases of own code that lie here, newest first",
    answer: { status: 200, name: "ListedReleases", shape: shapes.listedRelease.array() },
    run: async ({ control }) => json(200, await control.ownReleases()),
  },
  {
    method: "POST",
    path: "/v1/run",
    id: "run",
    summary: "Runs a program in a service's environment, once, as long as the answer is read",
    body: shapes.runRequest,
    answer: { status: 200, name: "RunLine", shape: shapes.runLine, lines: true },
    run: async ({ control, body, signal }) => lines(await control.run(shapes.runRequest.parse(body), signal)),
  },
];
