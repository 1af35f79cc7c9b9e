// One stream per browser: all of the account's turns as they go on, and marks of long work that moved.

import { z } from "zod";
import { findSession } from "../../db/accounts.ts";
import { createAccountFeeds } from "../account-feeds.ts";
import type { Routes } from "../deps.ts";
import { accountOf, hashSessionId, SESSION_COOKIE } from "../sessions.ts";

export const eventRoutes: Routes = (app, deps) => {
  const feeds = createAccountFeeds(deps);

  app.get(
    "/api/events",
    {
      config: { isLong: true },
      schema: {
        summary: "Event stream of everything of one's own; Last-Event-ID resumes",
        description:
          "`hello` lists the running turns; `delta`, `tool`, `state` and `end` carry turnId, conversationId and seq " +
          "(each turn's events are numbered without gaps); `changed` names long work that moved.",
        tags: ["events"],
        querystring: z.object({ lastEventId: z.string().max(25_000).optional() }),
      },
    },
    async (request, reply) => {
      const idHash = hashSessionId(request.cookies[SESSION_COOKIE] ?? "");
      const source = feeds.open(accountOf(request).id, async () => (await findSession(deps.db, idHash)) !== null);
      try {
        await deps.streams.open(request, reply, source);
      } finally {
        source.close();
      }
    },
  );
};
