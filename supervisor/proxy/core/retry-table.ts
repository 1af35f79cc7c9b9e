// THE retry table: what the proxy does when an attempt fails. First row that fits holds; the last fits everything.
// Invariant: once a byte may have reached an upstream, a request is sent again in exactly two cases (rows 2 and 3), and
// only one that may be repeated by what HTTP says of it.

export type ConnectFailure = "refused" | "timedOut";

/** What is known of a failed attempt. */
interface FailedAttempt {
  /** connecting: no byte can have been sent. sent: any byte may have been. answering: the client has part of an answer. */
  readonly stage: "connecting" | "sent" | "answering";
  /** Any byte of an answer arrived from the upstream. */
  readonly responseBytes: boolean;
  readonly reusedConnection: boolean;
  /** GET, HEAD or OPTIONS, without a body. */
  readonly repeatable: boolean;
  /** It was already sent once more. */
  readonly resent: boolean;
  /** The upstream belongs to a change that has not stood, and old ones are there to answer in its stead. */
  readonly onTrial: boolean;
}

type RetryAction =
  /** The next upstream not yet tried; none left: 502, or 504 when every one timed out. */
  | "tryNext"
  /** Once more, from an old one. */
  | "askOld"
  /** Once more on a fresh connection. */
  | "resendFresh"
  /** 502: it may have been executed. */
  | "refuse"
  /** The answer has begun: nothing can be said any more, both sides are closed. */
  | "cut";

export interface RetryRow {
  readonly when: Partial<FailedAttempt>;
  readonly does: RetryAction;
  /** Names the row in counters and the log. */
  readonly reason: string;
}

export const RETRY_TABLE: readonly RetryRow[] = [
  { when: { stage: "connecting" }, does: "tryNext", reason: "connectFailed" },
  { when: { stage: "sent", onTrial: true, repeatable: true, resent: false }, does: "askOld", reason: "changeFailed" },
  {
    when: { stage: "sent", reusedConnection: true, repeatable: true, resent: false, responseBytes: false },
    does: "resendFresh",
    reason: "reusedConnectionClosed",
  },
  { when: { stage: "sent" }, does: "refuse", reason: "failedAfterSend" },
  { when: {}, does: "cut", reason: "failedWhileAnswering" },
];

/** The row that holds for `attempt`. */
export function retryRowFor(attempt: FailedAttempt): RetryRow {
  const row = RETRY_TABLE.find(({ when }) =>
    (Object.keys(when) as (keyof FailedAttempt)[]).every((key) => when[key] === attempt[key]),
  );
  return row ?? { when: {}, does: "cut", reason: "failedWhileAnswering" };
}

/** The answer when every upstream was tried and none could be connected to. */
export function exhausted(failures: readonly ConnectFailure[]): "allRefused" | "allTimedOut" {
  return failures.length > 0 && failures.every((failure) => failure === "timedOut") ? "allTimedOut" : "allRefused";
}

/** May this request go on a connection that carried another one before? */
export function mayReuseConnection(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}
