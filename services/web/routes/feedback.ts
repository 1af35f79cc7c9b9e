// Feedback on answers: given and taken back by who asked, read by administrators.

import { failure } from "../../core/wire/errors.ts";
import { feedbackPage, feedbackQuery, newFeedback } from "../../core/wire/feedback.ts";
import { nothing, withId } from "../../core/wire/parts.ts";
import { countFeedback, giveFeedback, listFeedback, takeBackFeedback } from "../../db/feedback.ts";
import type { Routes } from "../deps.ts";
import { accountOf } from "../sessions.ts";
import { onePage } from "./paging.ts";

export const feedbackRoutes: Routes = (app, deps) => {
  app.put(
    "/api/turns/:id/feedback",
    {
      schema: {
        summary: "Say what one thinks of an answer; administrators may then read this question and its answer",
        tags: ["turns"],
        params: withId,
        body: newFeedback,
        response: { 204: nothing },
      },
    },
    async (request) => {
      const { good, note = "" } = request.body;
      const turn = { id: request.params.id, accountId: accountOf(request).id };
      if ((await giveFeedback(deps.db, turn, { good, note })) === null) throw failure("turn.notFound");
    },
  );

  app.delete(
    "/api/turns/:id/feedback",
    { schema: { summary: "Take it back", tags: ["turns"], params: withId, response: { 204: nothing } } },
    async (request) => {
      const isGone = await takeBackFeedback(deps.db, request.params.id, accountOf(request).id);
      if (!isGone) throw failure("turn.notFound");
    },
  );

  app.get(
    "/api/admin/feedback",
    {
      schema: {
        summary: "Answers that feedback was given on, newest first",
        tags: ["admin"],
        querystring: feedbackQuery,
        response: { 200: feedbackPage },
      },
    },
    async (request) => {
      const { query } = request;
      const asked = { reader: accountOf(request).id, good: query.good === undefined ? null : query.good === "true" };
      const page = await onePage(
        query,
        (one) => listFeedback(deps.aside, { ...asked, ...one }),
        ({ id, cursor: _, ...row }) => ({ ...row, turnId: id }),
      );
      return { ...page, counts: await countFeedback(deps.aside) };
    },
  );
};
