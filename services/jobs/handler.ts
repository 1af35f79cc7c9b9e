// What a job kind's handler gets and owes. Invariant: a handler ends its row exactly once, through `context.end`,
// in one transaction with the queue's settling, fenced by the attempt; or it hands the row back.

import type { Logger } from "pino";
import type { AppConfig, JobKind } from "../../config/config.ts";
import type { Clock, Random } from "../../config/time.ts";
import type { Span } from "../../config/traces.ts";
import type { Database, Sql } from "../db/pool.ts";
import type { Text } from "../text/text.ts";

export interface JobContext {
  readonly kind: JobKind;
  /** The row's id in the kind's table. */
  readonly id: string;
  /** The fence: every write of this run names it. */
  readonly attempt: number;
  /** Our worker's id, as in claimed_by. */
  readonly worker: string;
  /** Ends the work. Its reason is a JobAborted (core/abort.ts): stopped, cut, limit, lostClaim, handOver. */
  readonly signal: AbortSignal;
  /** As `signal`, but for a hand-over: what calls that may act obey. */
  readonly acting: AbortSignal;
  /** Before each new step: a job that is to be handed over ends there. Throws the signal's reason when it is aborted. */
  atBorder(): void;
  /** A step of it is finished: who goes on has something to go on from. */
  stepFinished(): void;
  /** Aborted when the worker drains: a `handBack` kind returns "handBack" at its next boundary. Others go on. */
  readonly draining: AbortSignal;
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly config: AppConfig;
  readonly text: Text;
  /** Begins a span of this job's; null: its trace is not told. `step`: its id, a UUID. */
  traceStep?(name: string, step: string): Span | null;
  /** W3C `traceparent` for whoever is called in that step; null: its trace is not told. */
  traceparent?(step: string): string | null;
  /** Reads the claim again: ask before every call that acts outside (mail, ticket, model). */
  stillClaimed(): Promise<boolean>;
  /**
   * Runs `write` (which ends the row, fenced, and answers whether it did) and settles the queue job in one transaction.
   * Tries again until it is done, whatever the database says; only a `write` that is wrong in itself throws. After
   * "lostClaim" nothing may be written any more.
   */
  end(write: (sql: Sql) => Promise<boolean>): Promise<"ended" | "lostClaim">;
  /** As `end`, for a `write` of one statement that takes the queue job out too (`takeOutText`): it runs by itself. */
  endAtOnce(write: (sql: Sql) => Promise<boolean>): Promise<"ended" | "lostClaim">;
}

/**
 * ended and lostClaim as `context.end` answered; handBack: the worker puts the row back in line; waiting: the row waits for
 * its owner, and is nobody's.
 */
export type HandlerResult = "ended" | "lostClaim" | "handBack" | "waiting";

export interface Handler {
  run(context: JobContext): Promise<HandlerResult>;
  /** Ends the row after `run` threw (a bug, or a write that is wrong in itself); must not throw for what it can foresee. */
  fail(context: JobContext, error: unknown): Promise<HandlerResult>;
}
