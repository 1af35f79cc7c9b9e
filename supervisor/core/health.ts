// What a health check's result means for an instance. Pure.
// Invariant: one failed check never takes an instance out; one passed check always brings it back.

import type { InstanceState } from "../../config/control-api.ts";

/** Checks in a row that must fail before a ready instance leaves the table. */
export const FAILURES_TO_LEAVE = 3;
/** Of one that must first stand: the old ones are there and can go back. */
export const FAILURES_ON_TRIAL = 2;
export const TRIAL_INTERVAL_MS = 500;
/** Between checks until the first success. */
export const STARTING_INTERVAL_MS = 100;
/** An unhealthy instance is replaced when it stays so for this long. */
export const UNHEALTHY_LIMIT_MS = 30_000;

interface HealthVerdict {
  readonly failures: number;
  readonly event: "passed" | "failing" | null;
}

/** `failures`: failed checks in a row before this one. */
export function afterCheck(
  state: InstanceState,
  failures: number,
  ok: boolean,
  mostFailures: number = FAILURES_TO_LEAVE,
): HealthVerdict {
  if (ok) return { failures: 0, event: state === "starting" || state === "unhealthy" ? "passed" : null };
  const count = failures + 1;
  return { failures: count, event: state === "ready" && count >= mostFailures ? "failing" : null };
}
