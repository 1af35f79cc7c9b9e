// One job in this worker: its signal, its context, its way to an end. Invariant: whatever the handler does, the row gets
// exactly one ending by us, or another one has ended it; `run` resolves, it never rejects.

import type { Logger } from "pino";
import type { AppConfig } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import type { Clock, Random } from "../../config/time.ts";
import { type AbortCause, JobAborted } from "../core/abort.ts";
import { type Claim, checkClaims, handBackRow } from "../db/claims.ts";
import { lostEndings } from "../db/lost-endings.ts";
import { type Database, isOutage, type Sql } from "../db/pool.ts";
import type { JobQueue } from "../db/queue.ts";
import type { Handler, HandlerResult, JobContext } from "../jobs/handler.ts";
import type { Text } from "../text/text.ts";

export interface JobDeps {
  readonly db: Database;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly config: AppConfig;
  readonly text: Text;
}

export interface RunningJob {
  readonly claim: Claim;
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
  /** The first cause wins. */
  abort(cause: AbortCause): boolean;
  /** Ends the row without the handler, which is deaf; resolves `over`. */
  force(): Promise<void>;
  /** Resolves with how it went, when the row is ended, handed back or no longer ours. */
  readonly over: Promise<HandlerResult>;
}

const SAVE_FOR_MS = 25_000;

/** Starts the handler on a claimed row. */
export function runJob(deps: JobDeps, handler: Handler, claim: Claim, draining: AbortSignal): RunningJob {
  const { db, queue, clock } = deps;
  const controller = new AbortController();
  const log = deps.log.child({ kind: claim.kind, job: claim.id, attempt: claim.attempt });

  type Write = (sql: Sql) => Promise<boolean>;

  /** `write` and the queue's settling in one transaction. */
  const together = (write: Write) =>
    db.attempt(async (sql) => {
      if (!(await write(sql))) return undefined;
      await queue.complete(sql, claim);
      return true;
    });

  /** Tried again while the database is away. */
  async function save(
    write: Write,
    done: HandlerResult,
    how: (write: Write) => Promise<boolean | undefined> = together,
  ): Promise<HandlerResult> {
    const untilMs = clock.monotonicMs() + SAVE_FOR_MS;
    for (let tries = 1; ; tries++) {
      try {
        return (await how(write)) ? done : "lostClaim";
      } catch (error) {
        if (!isOutage(error) || clock.monotonicMs() >= untilMs) throw error;
        log.warn({ err: error, tries }, "outcome could not be saved; trying again");
        await clock.sleep(Math.min(2_000, 100 * 2 ** tries));
      }
    }
  }

  const context: JobContext = {
    kind: claim.kind,
    id: claim.id,
    attempt: claim.attempt,
    worker: claim.worker,
    signal: controller.signal,
    draining,
    db,
    clock,
    random: deps.random,
    log,
    config: deps.config,
    text: deps.text,
    async stillClaimed() {
      const { lost } = await checkClaims(db, [claim]);
      return lost.length === 0;
    },
    end: (write) => save(write, "ended") as Promise<"ended" | "lostClaim">,
    endAtOnce: (write) => save(write, "ended", (alone) => alone(db)) as Promise<"ended" | "lostClaim">,
  };

  async function handBack(): Promise<HandlerResult> {
    const queueJob = deps.random.uuid();
    return save(async (sql) => {
      if (!(await handBackRow(sql, claim, queueJob))) return false;
      await queue.enqueue(sql, claim.kind, { id: claim.id, queueJob, format: claim.format, priority: 1 });
      return true;
    }, "handBack");
  }

  /** The row as a lost job's, by its kind's rule: for a handler that is deaf or whose `fail` is broken. */
  function endByRule(): Promise<HandlerResult> {
    const row = {
      ...claim,
      losses: 0,
      claimedBy: claim.worker,
      stopRequested: (controller.signal.reason as JobAborted | undefined)?.abortCause === "stopped",
    };
    return save((sql) => lostEndings[claim.kind](sql, row, deps.text), "ended");
  }

  /** Our worker lives, so no reclaimer will look at this row: we try until the database is back. */
  async function endByRuleAtLast(): Promise<HandlerResult> {
    for (;;) {
      try {
        return await endByRule();
      } catch (failure) {
        if (!isOutage(failure)) throw failure;
        await clock.sleep(1_000);
      }
    }
  }

  async function toItsEnd(): Promise<HandlerResult> {
    try {
      const result = await handler.run(context);
      return result === "handBack" ? await handBack() : result;
    } catch (error) {
      if (!controller.signal.aborted) log.error({ err: asError(error) }, "handler failed");
      // The database may be away for longer than one saving lasts: the row is ours until it is ended.
      for (;;) {
        try {
          return await handler.fail(context, error);
        } catch (failure) {
          log.error({ err: asError(failure) }, "ending could not be recorded");
          if (!isOutage(failure)) return await endByRuleAtLast();
          await clock.sleep(1_000);
        }
      }
    }
  }

  const forced = Promise.withResolvers<HandlerResult>();
  const over = Promise.race([toItsEnd(), forced.promise]).catch((error: unknown): HandlerResult => {
    log.error({ err: asError(error) }, "job left to the reclaimer");
    return "lostClaim";
  });

  return {
    claim,
    startedAtMs: clock.monotonicMs(),
    signal: controller.signal,
    abort(cause) {
      if (controller.signal.aborted) return false;
      controller.abort(new JobAborted(cause));
      return true;
    },
    async force() {
      log.error("handler is deaf to its signal; its row is ended without it");
      try {
        forced.resolve(await endByRule());
      } catch (error) {
        log.error({ err: asError(error) }, "row could not be ended by force");
      }
    },
    over,
  };
}
