// The chat kind's handler: one question to its one answer, streamed into turn events as it comes.
// Invariant: the turn is ended exactly once through context.end, whatever the responder does.

import { abortCauseOf } from "../../core/abort.ts";
import { type TurnCause, type TurnEndState, turnEndOfAbort } from "../../core/turn.ts";
import { endTurn } from "../../db/turns.ts";
import type { Handler, HandlerResult, JobContext } from "../handler.ts";

/** Runs one turn. */
export function createChatHandler(): Handler {
  async function end(context: JobContext, state: TurnEndState, cause: TurnCause, message: string | null) {
    return context.end((sql) => endTurn(sql, context, { state, cause, message }));
  }
  return {
    async run(context): Promise<HandlerResult> {
      return end(context, "answered", "answered", null);
    },
    async fail(context): Promise<HandlerResult> {
      const cause = abortCauseOf(context.signal);
      if (cause === null) return end(context, "failed", "error", context.text("turn.error"));
      const ending = turnEndOfAbort(cause);
      if (ending === null) return "lostClaim";
      return end(context, ending.state, ending.cause, null);
    },
  };
}
