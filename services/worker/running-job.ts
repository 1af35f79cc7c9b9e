// One job in this worker: its signal, its context, its way to an end. Invariants: whatever the handler does and whatever
// the database says, the row gets exactly one ending by us, or another one has ended it: while it is ours we go on trying;
// `over` resolves, it never rejects.

import type { Logger } from "pino";
import type { AppConfig } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import type { Clock, Random } from "../../config/time.ts";
import type { Tracing } from "../../config/traces.ts";
import { type AbortCause, JobAborted, jobCauseOf } from "../core/abort.ts";
import { type Claim, isClaimed } from "../db/claims.ts";
import { mayPassLater } from "../db/database-errors.ts";
import { lostEndings } from "../db/lost-endings.ts";
import type { Database, Sql } from "../db/pool.ts";
import type { JobQueue } from "../db/queue.ts";
import { requeueRow } from "../db/requeue.ts";
import { throughOutage } from "../db/through-outage.ts";
import type { Handler, HandlerResult, JobContext } from "../jobs/handler.ts";
import type { Text } from "../text/text.ts";
import { traceJob } from "./job-trace.ts";

export interface JobDeps {
  readonly db: Database;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly config: AppConfig;
  readonly text: Text;
  /** Absent, null: nothing is traced. */
  readonly tracing?: Tracing | null;
}

export interface RunningJob {
  readonly claim: Claim;
  readonly startedAtMs: number;
  /** Names the job and the request that asked for it in every line. */
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** The first cause wins. */
  abort(cause: AbortCause): boolean;
  /**
   * Another worker goes on with it: at once where a step is finished (a read under way is repeated, the model is asked
   * again), else at the next border: cut off in its first step it would begin from nothing.
   */
  handOver(): void;
  readonly hasFinishedStep: boolean;
  /** Ends the row without the handler, which is deaf; resolves `over`. */
  force(): Promise<void>;
  /** Resolves with how it went, when the row is ended, handed back or no longer ours. */
  readonly over: Promise<HandlerResult>;
}

/** A row is ended whatever was aborted. */
const NEVER = new AbortController().signal;
const LONGEST_PAUSE_MS = 2_000;

/** Starts the handler on a claimed row. */
export function runJob(deps: JobDeps, handler: Handler, claim: Claim, draining: AbortSignal): RunningJob {
  const { db, queue, clock } = deps;
  const controller = new AbortController();
  // A call that may act is not cut off for a hand-over: its end is waited for, so that it is known.
  const acting = new AbortController();
  let hasFinished = false;
  /** To be handed over at its next border. */
  let isAsked = false;
  const { kind, id: job, attempt, requestId } = claim;
  const log = deps.log.child({ kind, job, attempt, ...(requestId !== null && { requestId }) });

  const traced = traceJob(deps.tracing, claim);

  type Write = (sql: Sql) => Promise<boolean>;

  /** `write` and the queue's settling in one transaction. */
  const together = (write: Write) =>
    db.attempt(async (sql) => {
      if (!(await write(sql))) return undefined;
      await queue.complete(sql, claim);
      return true;
    });

  /** Tried again for as long as it takes: only a write that is wrong in itself (`isHopeless`) is given up. */
  async function save(
    write: Write,
    done: HandlerResult,
    how: (write: Write) => Promise<boolean | undefined> = together,
    isHopeless = (error: unknown) => !mayPassLater(error),
  ): Promise<HandlerResult> {
    for (let tries = 1; ; tries++) {
      try {
        return (await how(write)) ? done : "lostClaim";
      } catch (error) {
        if (isHopeless(error)) throw error;
        log.warn({ err: error, tries }, "outcome could not be saved; trying again");
        await clock.sleep(Math.min(LONGEST_PAUSE_MS, 100 * 2 ** tries));
      }
    }
  }

  const context: JobContext = {
    kind: claim.kind,
    id: claim.id,
    attempt: claim.attempt,
    worker: claim.worker,
    signal: controller.signal,
    acting: acting.signal,
    atBorder() {
      if (isAsked) controller.abort(new JobAborted("handOver"));
      controller.signal.throwIfAborted();
    },
    stepFinished() {
      hasFinished = true;
    },
    draining,
    db,
    clock,
    random: deps.random,
    log,
    config: deps.config,
    text: deps.text,
    traceStep: traced.step,
    traceparent: traced.traceparent,
    stillClaimed: () => isClaimed(db, claim),
    end: (write) => save(write, "ended") as Promise<"ended" | "lostClaim">,
    endAtOnce: (write) => save(write, "ended", (alone) => alone(db)) as Promise<"ended" | "lostClaim">,
  };

  function handBack(): Promise<HandlerResult> {
    const again = { queue, random: deps.random, claimMs: deps.config.turn.claimMs };
    const row = { ...claim, queueJob: null, claimedBy: claim.worker };
    return save((sql) => requeueRow(again, sql, row, { lost: 0, begun: true }), "handBack");
  }

  /**
   * The row as a lost job's, by its kind's rule: for a handler that is deaf or whose `fail` is broken. Our worker lives,
   * so no reclaimer looks at this row: nothing the database says makes us give it up.
   */
  function endByRule(): Promise<HandlerResult> {
    const cause = jobCauseOf(context);
    // What it may have been doing is on its journal.
    if (cause === "handOver") return handBack();
    const row = { ...claim, stopRequested: cause === "stopped" };
    return save(
      (sql) => lostEndings[claim.kind](sql, row, deps.text),
      "ended",
      together,
      () => false,
    );
  }

  async function toItsEnd(): Promise<HandlerResult> {
    try {
      const result = await handler.run(context);
      return result === "handBack" ? await handBack() : result;
    } catch (error) {
      if (!controller.signal.aborted) log.error({ err: asError(error) }, "handler failed");
      try {
        return await throughOutage({ clock, signal: NEVER }, () => handler.fail(context, error));
      } catch (failure) {
        log.error({ err: asError(failure) }, "ending could not be recorded; the row ends by its kind's rule");
        return await endByRule();
      }
    }
  }

  const forced = Promise.withResolvers<HandlerResult>();
  const startedAtMs = clock.monotonicMs();
  log.info("job began");
  const over = Promise.race([toItsEnd(), forced.promise]).catch((error: unknown): HandlerResult => {
    log.error({ err: asError(error) }, "job left to the sweep of this worker's rows");
    return "lostClaim";
  });
  void over.then((result) => {
    log.info({ result, ranMs: Math.round(clock.monotonicMs() - startedAtMs) }, "job is over");
    traced.end(result);
  });

  return {
    claim,
    startedAtMs,
    log,
    signal: controller.signal,
    abort(cause) {
      if (acting.signal.aborted) return false;
      const reason = new JobAborted(cause);
      acting.abort(reason);
      controller.abort(reason);
      return true;
    },
    get hasFinishedStep() {
      return hasFinished;
    },
    handOver() {
      isAsked = true;
      if (hasFinished) controller.abort(new JobAborted("handOver"));
    },
    async force() {
      log.error("handler is deaf to its signal; its row is ended without it");
      forced.resolve(await endByRule());
    },
    over,
  };
}
