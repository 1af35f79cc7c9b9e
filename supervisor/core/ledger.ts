// What a rollout cost: figures that begin at nothing, and what the workers that left tell at its end.

import type { RolloutLedger } from "../../config/control-api.ts";

interface JobsDone {
  readonly finished: number;
  readonly handedBack: number;
  readonly cut: number;
  readonly reclaimed: number;
}

/** Its ledger with what the workers that left in it brought to an end while they drained; as it is when nobody knows. */
export function withJobs(ledger: RolloutLedger, jobs: JobsDone | null): RolloutLedger {
  if (jobs === null) return ledger;
  const { finished, handedBack, cut, reclaimed } = jobs;
  return {
    ...ledger,
    jobsFinished: finished,
    jobsHandedBack: handedBack,
    jobsCut: cut,
    jobsReclaimed: reclaimed,
  };
}

export const NO_COST: RolloutLedger = {
  requestsFailed: 0,
  retriedAtConnect: 0,
  drainedInFlight: 0,
  longestDrainMs: 0,
  streamsMoved: 0,
  jobsFinished: 0,
  jobsHandedBack: 0,
  jobsCut: 0,
  jobsReclaimed: 0,
  instancesKilled: 0,
};
