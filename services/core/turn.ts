// A turn's life: queued -> running -> answered | stopped | failed, or straight from queued to stopped | failed.
// Invariant: exactly one ending (the database's trigger and primary key hold it; this table is how code asks).

import type { AbortCause } from "./abort.ts";

export const TURN_STATES = ["queued", "running", "answered", "stopped", "failed"] as const;
export type TurnState = (typeof TURN_STATES)[number];
export type TurnEndState = "answered" | "stopped" | "failed";

/** Why it ended; the message's text follows from it. */
export const TURN_CAUSES = ["answered", "stopped", "cut", "unclaimed", "limit", "error"] as const;
export type TurnCause = (typeof TURN_CAUSES)[number];

/** claimed: by a worker. aborted: the worker gave it up for a cause. */
export type TurnEvent =
  | "claimed"
  | "handedBack"
  | "answered"
  | "stopped"
  | "failed"
  | "claimLimitPassed"
  | "workerLost";

export const turnMoves = {
  queued: { claimed: "running", stopped: "stopped", claimLimitPassed: "failed" },
  running: { handedBack: "queued", answered: "answered", stopped: "stopped", failed: "failed", workerLost: "failed" },
  answered: {},
  stopped: {},
  failed: {},
} as const satisfies Record<TurnState, Partial<Record<TurnEvent, TurnState>>>;

/** True for a state that never changes again. */
export function hasTurnEnded(state: TurnState): state is TurnEndState {
  return state === "answered" || state === "stopped" || state === "failed";
}

/** The turn's next state, or null where that event may not happen in this state. */
export function nextTurnState(state: TurnState, event: TurnEvent): TurnState | null {
  const moves: Partial<Record<TurnEvent, TurnState>> = turnMoves[state];
  return moves[event] ?? null;
}

/** How an aborted turn ends; null when it is no longer ours to end. */
export function turnEndOfAbort(cause: AbortCause): { state: TurnEndState; cause: TurnCause } | null {
  switch (cause) {
    case "stopped":
      return { state: "stopped", cause: "stopped" };
    case "cut":
      return { state: "failed", cause: "cut" };
    case "limit":
      return { state: "failed", cause: "limit" };
    case "lostClaim":
      return null;
  }
}

/** How a turn of a lost worker ends: as the user wished where a stop had been asked for. */
export function turnEndOfLoss(stopRequested: boolean): { state: TurnEndState; cause: TurnCause } {
  return stopRequested ? { state: "stopped", cause: "stopped" } : { state: "failed", cause: "cut" };
}
