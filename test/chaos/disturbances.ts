// Which failures a fault excuses, and from when until when. A request or a turn that failed outside of these windows is
// a broken promise; so the windows are as narrow as the fault's nature allows.

import { systemClock } from "../../config/system-time.ts";

/**
 * `worker`: running jobs may be lost. `database`: jobs and API requests may fail. `supervisor`: crashes stay unseen.
 * `workerFleet`: an update has asked all workers to stop; nothing is lost by that. `turnedBack`: so did the way back of
 * an update that did not succeed, so that nobody may have claimed for longer than the claim limit.
 */
export type Disturbed =
  | "requests"
  | "inFlight"
  | "worker"
  | "database"
  | "supervisor"
  | "replicas"
  | "workerFleet"
  | "turnedBack";

export interface Disturbance {
  readonly what: Disturbed;
  readonly why: string;
  readonly from: number;
  until: number | null;
}

export interface Disturbances {
  /** Opens a window; the returned function closes it, `slackMs` later than now. */
  open(what: readonly Disturbed[], why: string): (slackMs?: number) => void;
  /** Windows of `what` that touch [from, until]. */
  touching(what: readonly Disturbed[], from: number, until: number): readonly Disturbance[];
  /** May a request of this time have failed? */
  excusesRequest(sentAt: number, endedAt: number): boolean;
  readonly all: readonly Disturbance[];
}

/** Signals and our own clock do not meet: what was sent this long after a kill may have been on its way before it. */
const AROUND_MS = 1_000;

export function createDisturbances(): Disturbances {
  const all: Disturbance[] = [];
  const touching: Disturbances["touching"] = (what, from, until) =>
    all.filter(
      (one) => what.includes(one.what) && one.from <= until && (one.until ?? Number.POSITIVE_INFINITY) >= from,
    );
  return {
    all,
    open(what, why) {
      const from = systemClock.now();
      const mine = what.map((one): Disturbance => ({ what: one, why, from, until: null }));
      all.push(...mine);
      return (slackMs = 0) => {
        for (const one of mine) one.until ??= systemClock.now() + slackMs;
      };
    },
    touching,
    excusesRequest(sentAt, endedAt) {
      if (touching(["requests", "database"], sentAt, endedAt).length > 0) return true;
      return touching(["inFlight"], sentAt - AROUND_MS, endedAt).some((one) => sentAt <= one.from + AROUND_MS);
    },
  };
}
