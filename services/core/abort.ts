// Why a running job's signal was aborted. The first cause wins: an AbortController keeps its first reason.

const ABORT_CAUSES = ["stopped", "cut", "limit", "lostClaim"] as const;
/** stopped: by the user. cut: the drain's finish time is over. limit: turn.limit passed. lostClaim: another one ended it. */
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
