// What becomes of a job whose worker is gone, by the kind table. Pure: facts in, verdict out.

import type { JobKindRow } from "./job-kinds.ts";

interface LostJob {
  /** How often a worker was lost under this job before. */
  readonly losses: number;
  readonly stopRequested: boolean;
  /** Its owner chose that it fails rather than goes on (a playbook's `lost: fail`). */
  readonly failsWhenLost?: boolean;
  /** Nobody is there to go on with it, and somebody waits for its end (a turn). */
  readonly isAlone?: boolean;
  /** A step of it is finished, or may have acted: whoever comes has something to go on from. */
  readonly hasProgress?: boolean;
  /** What its journal says may be older than what was done: a copy of the database was put back. */
  readonly isRestored?: boolean;
}

type LostVerdict =
  | { readonly verdict: "requeue"; readonly reason: string }
  | { readonly verdict: "fail"; readonly reason: string }
  | { readonly verdict: "stop"; readonly reason: string };

/** The kind's rule for a lost job. A stop the user asked for is honoured before anything is run again. */
export function lostJobVerdict(row: JobKindRow, job: LostJob): LostVerdict {
  if (job.stopRequested) return { verdict: "stop", reason: "a stop had been asked for" };
  if (job.failsWhenLost) return { verdict: "fail", reason: "its owner chose that it fails" };
  if (job.isRestored && row.lost === "resume")
    return { verdict: "fail", reason: "a copy of the database was put back" };
  if (job.isAlone && !job.hasProgress && row.onStop === "budget")
    return { verdict: "fail", reason: "no worker is there to go on with it" };
  if (job.losses >= row.lossLimit) return { verdict: "fail", reason: `its worker was lost ${job.losses + 1} times` };
  return { verdict: "requeue", reason: row.why };
}
