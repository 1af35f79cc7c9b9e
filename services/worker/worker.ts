// The worker: claims jobs, runs them, drains. THE loop to find is `claimMore`, the order to keep is `drain`.
// Invariants: no claim after the drain began (one on the wire is rolled back, or handed back untouched); the heartbeat
// goes on until the last job has ended and the worker has deregistered; a second signal changes nothing.

import type { Logger } from "pino";
import { type AppConfig, JOB_KINDS, type JobKind } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import type { AbortCause } from "../core/abort.ts";
import { drainDeadlines, stopRule } from "../core/worker-drain.ts";
import { type Claim, claimJobs } from "../db/claims.ts";
import type { Listener } from "../db/listen.ts";
import { deregisterWorker, hasHeir, type JobsByKind, markDraining, type WorkerCounts } from "../db/workers.ts";
import type { Handler, HandlerResult } from "../jobs/handler.ts";
import { createOwnRows } from "./own-rows.ts";
import { type JobDeps, type RunningJob, runJob } from "./running-job.ts";

interface WorkerDeps extends JobDeps {
  readonly id: string;
  readonly config: AppConfig;
  readonly listener: Listener;
  readonly handlers: Readonly<Record<JobKind, Handler>>;
  readonly log: Logger;
  /** Called when the jobs in hand changed (the heartbeat tells them). */
  readonly onJobs: () => void;
}

interface Claimed {
  readonly claims: readonly Claim[];
  /** Something was taken, if only to be cleared away. */
  readonly took: boolean;
  readonly left: "none" | "contended" | "capped";
}

export interface Worker {
  start(): void;
  /** SIGTERM: resolves when every job has ended and the worker has deregistered (or the bound has passed). */
  drain(): Promise<"drained" | "gaveUp">;
  /** Our row was marked gone: every claim is lost. Resolves when the handlers have let go (bounded). */
  abandon(): Promise<void>;
  readonly isDraining: boolean;
  jobs(): JobsByKind;
  claims(): readonly Claim[];
  counts(): WorkerCounts;
}

const POLL_MS = 2_000;
const CHECK_MS = 1_000;
/** Other workers take the same jobs at this moment: looked at again so soon, and so often before the next poll. */
const CONTENDED_MS = 10;
const CONTENDED_TRIES = 20;
/** How long a stopped or over-long job may take to let go before its row is ended without it. */
const LET_GO_MS = 5_000;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the claims, the running jobs and the drain share one map.
export function createWorker(deps: WorkerDeps): Worker {
  const { db, queue, clock, log, config, listener } = deps;
  const running = new Map<string, RunningJob>();
  const drainStarted = new AbortController();
  const over = new AbortController();
  const claiming = new Map<JobKind, Promise<void>>();
  const again = new Set<JobKind>();
  /** Kinds of which more may wait than had a place; of the others a notification (or the poll) tells. */
  const mayWait = new Set<JobKind>(JOB_KINDS);
  const cancels: (() => void)[] = [];
  const counts = { finished: 0, handedBack: 0, cut: 0 };
  const loops: Promise<void>[] = [];
  let drained: Promise<"drained" | "gaveUp"> | null = null;

  const ownRows = createOwnRows({
    ...deps,
    claimMs: config.turn.claimMs,
    running,
    isClaiming: (kind) => claiming.has(kind),
    abort(id, cause) {
      const job = running.get(id);
      if (job) abort(job, cause);
    },
    onReturned: () => {
      counts.handedBack += 1;
    },
  });
  const rule = (kind: JobKind) => stopRule(kind, config.transcription.onStop);
  const ofKind = (kind: JobKind) => [...running.values()].filter((job) => job.claim.kind === kind);
  const free = (kind: JobKind) => config.worker.concurrency[kind] - ofKind(kind).length;

  function jobs(): JobsByKind {
    const byKind: JobsByKind = {};
    for (const { claim } of running.values()) byKind[claim.kind] = (byKind[claim.kind] ?? 0) + 1;
    return byKind;
  }

  /**
   * Some jobs of `kind`, claimed in one transaction. Half of what is free at a time, so that workers woken together
   * share what came together.
   */
  async function claimSome(kind: JobKind): Promise<Claimed> {
    const places = config.worker.concurrency[kind];
    const limit = Math.ceil(free(kind) / 2);
    const accountLimit = Math.max(1, Math.floor(places * config.worker.accountShare));
    let left: Claimed["left"] = "none";
    const claims = await db.attempt<readonly Claim[]>(async (sql) => {
      const claimed = await claimJobs(sql, { kind, limit, worker: deps.id, accountLimit });
      left = claimed.left;
      if (claimed.claims.length + claimed.stale.length === 0) return undefined;
      if (claimed.stale.length > 0) await queue.complete(sql, ...claimed.stale);
      // The last look before COMMIT: a claim that would come too late is rolled back, untouched.
      return drainStarted.signal.aborted ? undefined : claimed.claims;
    });
    return { claims: claims ?? [], took: claims !== undefined, left };
  }

  async function claimMore(kind: JobKind): Promise<void> {
    do {
      again.delete(kind);
      mayWait.add(kind);
      let contended = 0;
      while (free(kind) > 0 && !drainStarted.signal.aborted) {
        const { claims, took, left } = await claimSome(kind);
        for (const claim of claims) {
          // The COMMIT was on the wire when the drain began: the drain puts the row back in line, untouched.
          if (!drainStarted.signal.aborted) begin(claim);
        }
        if (took) continue;
        if (left === "contended" && contended < CONTENDED_TRIES) {
          contended += 1;
          await clock.sleep(CONTENDED_MS * (1 + deps.random.float()));
          continue;
        }
        if (left === "none") mayWait.delete(kind);
        break;
      }
    } while (again.has(kind) && !drainStarted.signal.aborted);
  }

  function wake(kind: JobKind): void {
    again.add(kind);
    if (claiming.has(kind) || drainStarted.signal.aborted) return;
    const task = claimMore(kind)
      .catch((error: unknown) => log.warn({ err: asError(error), kind }, "claiming failed; the next poll tries again"))
      .finally(() => claiming.delete(kind));
    claiming.set(kind, task);
  }

  function begin(claim: Claim): void {
    const job = runJob(deps, deps.handlers[claim.kind], claim, drainStarted.signal);
    running.set(claim.id, job);
    if (claim.kind === "chat") db.notify("owl_turn", claim.id);
    else db.notify("owl_observe", `${claim.kind}:${claim.id}`);
    deps.onJobs();
    const cancelLimit =
      rule(claim.kind) === "budget"
        ? clock.after(config.turn.limitMs, () => abort(job, "limit"), { unref: true })
        : () => undefined;
    void job.over.then((result) => {
      cancelLimit();
      finished(job, result);
    });
  }

  function finished(job: RunningJob, result: HandlerResult): void {
    // A row that waited for a word may be ours again already.
    if (running.get(job.claim.id) === job) running.delete(job.claim.id);
    if (result === "ended") counts.finished += 1;
    if (result === "handBack") counts.handedBack += 1;
    if (result === "lostClaim") {
      ownRows.leave(job.claim);
      job.log.warn("claim was lost");
    }
    deps.onJobs();
    if (mayWait.has(job.claim.kind)) wake(job.claim.kind);
  }

  function abort(job: RunningJob, cause: AbortCause): void {
    if (!job.abort(cause)) return;
    job.log.info({ why: cause }, "job aborted");
    if (cause === "cut" || cause === "lostClaim") return;
    clock.after(LET_GO_MS, () => running.has(job.claim.id) && void job.force(), { unref: true });
  }

  /** For a rollout's ledger: what came to its end since the drain began. */
  const told = (): WorkerCounts => ({ ...counts, finished: drainStarted.signal.aborted ? counts.finished : 0 });

  async function every(ms: number, run: () => Promise<void> | void): Promise<void> {
    for await (const _ of clock.every(ms, over.signal)) {
      try {
        await run();
      } catch (error) {
        log.warn({ err: asError(error) }, "check failed; it is repeated");
      }
    }
  }

  /** The finish time is over: another worker goes on with it; where none can, a turn is cut and other work runs on. */
  async function endOrHandOver(job: RunningJob, elapsedMs: () => number): Promise<void> {
    const { kind, id } = job.claim;
    // Told by an owld of before, it has no such word.
    const mayHandOver = config.turn.onStop !== "cut" && kind !== "transcription";
    const heir =
      mayHandOver &&
      (await hasHeir(db, deps.id, kind).catch((error: unknown) => {
        log.warn({ err: error }, "it is not known whether another worker could go on");
        return false;
      }));
    if (!running.has(id)) return;
    // A turn in its first step has nothing to go on from: elsewhere it would begin from nothing, and not fit again.
    if (heir && (job.hasFinishedStep || rule(kind) !== "budget")) {
      job.log.info({ elapsedMs: elapsedMs() }, "handed over");
      job.handOver();
    } else if (rule(kind) === "budget" && job.abort("cut")) {
      counts.cut += 1;
      job.log.warn({ elapsedMs: elapsedMs() }, "turn aborted");
    }
  }

  async function runDrain(): Promise<"drained" | "gaveUp"> {
    const startedAt = clock.monotonicMs();
    const elapsedMs = () => Math.round(clock.monotonicMs() - startedAt);
    const deadlines = drainDeadlines(config.turn, config.graceMs);
    drainStarted.abort();
    counts.finished = 0;
    log.info({ jobs: jobs(), elapsedMs: elapsedMs() }, "drain started");
    void markDraining(db, deps.id).catch((error) => log.warn({ err: error }, "drain could not be marked"));
    const budget = () => [...running.values()].filter((job) => rule(job.claim.kind) === "budget");
    cancels.push(
      clock.after(deadlines.abortAtMs, () => {
        for (const job of running.values()) void endOrHandOver(job, elapsedMs);
      }),
      clock.after(deadlines.forceAtMs, () => {
        for (const job of budget()) void job.force();
      }),
    );
    const gaveUp = new Promise<"gaveUp">((resolve) => {
      const look = () => {
        if ([...running.values()].some((job) => rule(job.claim.kind) === "runOn")) {
          cancels.push(clock.after(1_000, look));
        } else resolve("gaveUp");
      };
      cancels.push(clock.after(deadlines.exitAtMs, look));
    });
    const orderly = async (): Promise<"drained"> => {
      await Promise.all(claiming.values());
      while (running.size > 0) await Promise.race([...running.values()].map((job) => job.over));
      for (let tries = 0; ; tries++) {
        try {
          await ownRows.runOnce();
          await deregisterWorker(db, deps.id, told());
          return "drained";
        } catch (error) {
          log.warn({ err: asError(error), tries }, "deregistering failed; trying again");
          await clock.sleep(Math.min(2_000, 200 * 2 ** tries));
        }
      }
    };
    const result = await Promise.race([orderly(), gaveUp]);
    for (const cancel of cancels.splice(0)) cancel();
    over.abort();
    log.info({ elapsedMs: elapsedMs(), counts, left: jobs() }, result === "drained" ? "drained" : "drain gave up");
    return result;
  }

  return {
    start() {
      const wakeAll = () => {
        for (const kind of JOB_KINDS) wake(kind);
      };
      listener.on("owl_jobs", (kind) => {
        if ((JOB_KINDS as readonly string[]).includes(kind)) wake(kind as JobKind);
      });
      listener.on("owl_stop", (payload) => {
        const job = running.get(payload.slice(payload.indexOf(":") + 1));
        if (job) abort(job, "stopped");
      });
      listener.onReconnect(() => {
        wakeAll();
        void ownRows.runOnce().catch((error) => log.warn({ err: error }, "check failed; it is repeated"));
      });
      loops.push(every(POLL_MS, wakeAll), every(CHECK_MS, ownRows.runOnce));
      wakeAll();
    },
    drain() {
      drained ??= runDrain();
      return drained;
    },
    async abandon() {
      drainStarted.abort();
      for (const job of running.values()) job.abort("lostClaim");
      await Promise.race([Promise.all([...running.values()].map((job) => job.over)), clock.sleep(2_000)]);
      over.abort();
    },
    get isDraining() {
      return drainStarted.signal.aborted;
    },
    jobs,
    claims: () => [...running.values()].map((job) => job.claim),
    counts: told,
  };
}
