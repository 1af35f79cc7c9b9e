// A turn's states: queued -> running -> answered | stopped | failed, or straight from queued to stopped | failed. It goes
// from running back to queued when its worker is lost or hands it over, and by way of waiting when its owner decides first.
// Invariant: exactly one ending; the database's trigger and primary key hold it.

import type { AbortCause } from "./abort.ts";

export type TurnState = "queued" | "running" | "waiting" | TurnEndState;
export type TurnEndState = "answered" | "stopped" | "failed";

/** Why it ended; the message's text follows from it. */
export type TurnCause = "answered" | "stopped" | "cut" | "unclaimed" | "limit" | "error";

/** True for a state that never changes again. */
export function hasTurnEnded(state: TurnState): state is TurnEndState {
  return state === "answered" || state === "stopped" || state === "failed";
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
    case "handOver":
      return null;
  }
}

/** How a turn of a lost worker ends: as the user wished where a stop had been asked for. */
export function turnEndOfLoss(stopRequested: boolean): { state: TurnEndState; cause: TurnCause } {
  return stopRequested ? { state: "stopped", cause: "stopped" } : { state: "failed", cause: "cut" };
}
