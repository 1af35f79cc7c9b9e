// Why a running job's signal was aborted. The first cause wins: an AbortController keeps its first reason. Only a hand-over
// may still become something else: it lets a call that may act come to its end.

const ABORT_CAUSES = ["stopped", "cut", "limit", "lostClaim", "handOver"] as const;
/**
 * stopped: by the user. cut: the drain's finish time is over. limit: turn.limit passed. lostClaim: another one ended it.
 * handOver: the drain's finish time is over and another worker can go on with it.
 */
export type AbortCause = (typeof ABORT_CAUSES)[number];

/** The reason of a job's AbortSignal. */
export class JobAborted extends Error {
  override readonly name = "JobAborted";
  readonly abortCause: AbortCause;

  constructor(abortCause: AbortCause) {
    super(`The job was aborted (${abortCause}).`);
    this.abortCause = abortCause;
  }
}

/** The cause carried by an aborted signal, or null while it is not aborted. */
export function abortCauseOf(signal: AbortSignal): AbortCause | null {
  if (!signal.aborted) return null;
  return signal.reason instanceof JobAborted ? signal.reason.abortCause : "cut";
}

/** What a job must do: what ends every call of it comes before what lets one that acts end by itself. */
export function jobCauseOf(job: { readonly signal: AbortSignal; readonly acting: AbortSignal }): AbortCause | null {
  return abortCauseOf(job.acting) ?? abortCauseOf(job.signal);
}
