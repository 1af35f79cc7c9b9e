// Rollouts that ended, counted once each, at their end. Invariant: what /metrics tells of them costs the same however
// many there were, and stays when their records are forgotten.

import type { Rollout } from "../../config/control-api.ts";

/** Upper bounds of step durations, in seconds: a start takes parts of one, a drain up to the grace. */
export const STEP_BOUNDS_S = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] as const;

export interface StepTotals {
  /** How many took at most the bound of that place; those above the last one are in `count` alone. */
  readonly below: readonly number[];
  readonly seconds: number;
  readonly count: number;
}

export interface RolloutTotals {
  readonly rollouts: readonly { readonly kind: string; readonly state: string; readonly count: number }[];
  readonly steps: Readonly<Record<string, StepTotals>>;
}

export const NO_ROLLOUTS: RolloutTotals = { rollouts: [], steps: {} };

/** The totals with one rollout more. */
export function withRollout(totals: RolloutTotals, rollout: Pick<Rollout, "kind" | "state" | "steps">): RolloutTotals {
  const { kind, state } = rollout;
  const known = totals.rollouts.find((one) => one.kind === kind && one.state === state);
  const others = totals.rollouts.filter((one) => one !== known);
  const steps = { ...totals.steps };
  for (const step of rollout.steps) {
    if (step.state === "done") steps[step.action] = withStep(steps[step.action], step.elapsedMs / 1_000);
  }
  return { rollouts: [...others, { kind, state, count: (known?.count ?? 0) + 1 }], steps };
}

function withStep(before: StepTotals | undefined, seconds: number): StepTotals {
  return {
    below: STEP_BOUNDS_S.map((bound, index) => (before?.below[index] ?? 0) + (seconds <= bound ? 1 : 0)),
    seconds: (before?.seconds ?? 0) + seconds,
    count: (before?.count ?? 0) + 1,
  };
}
