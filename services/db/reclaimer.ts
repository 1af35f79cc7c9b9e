// The reclaimer: ends or requeues the jobs of lost workers, and puts back in line what lost its place, in web and worker
// processes alike.
// Invariants: every step is a transaction of its own, guarded by attempt and state, so that it may be killed at any line
// and repeated by anyone; a worker's silence is believed only while our own heartbeat has long been unbroken.

import type { Clock } from "../../config/time.ts";
import type { Listener } from "./listen.ts";
import type { Database } from "./pool.ts";
import { findLostRows, type SettleDeps, settleRow } from "./running-rows.ts";
import { createStrays } from "./strays.ts";
import { findSilentWorkers, hasHeir, markSilentWorkers } from "./workers.ts";

interface ReclaimerDeps extends SettleDeps {
  readonly db: Database;
  readonly listener: Pick<Listener, "on">;
  readonly clock: Clock;
  readonly stalledAfterMs: number;
  /** How long our own heartbeat has succeeded without a break. */
  readonly healthyForMs: () => number;
}

export interface Reclaimer {
  start(): void;
  stop(): Promise<void>;
  /** One pass: marks silent workers gone, then deals with every lost job. Answers how many it dealt with. */
  runOnce(): Promise<number>;
}

const EVERY_MS = 5_000;
const TOGETHER_MS = 300;

export function createReclaimer(deps: ReclaimerDeps): Reclaimer {
  const { db, clock, log } = deps;
  const strays = createStrays(deps);
  const stopping = new AbortController();
  let woken = new AbortController();
  let loop: Promise<void> | null = null;
  let forget: (() => void) | null = null;

  /**
   * Looks, asks again whether our own heartbeat was unbroken while we looked, and only then marks: a statement that
   * waited in a frozen database would find everybody silent in the moment of its thaw.
   */
  async function declareSilentWorkers(): Promise<void> {
    const mayDeclare = () => deps.healthyForMs() > deps.stalledAfterMs;
    if (!mayDeclare()) return;
    const silent = await findSilentWorkers(db, deps.stalledAfterMs);
    if (!silent || !mayDeclare()) return;
    for (const worker of await markSilentWorkers(db, silent, deps.stalledAfterMs)) {
      log.warn({ worker, stalledAfterMs: deps.stalledAfterMs }, "worker is silent: taken for gone");
    }
  }

  async function runOnce(): Promise<number> {
    await declareSilentWorkers();
    let count = 0;
    for (const row of await findLostRows(db)) {
      const isAlone = !(await hasHeir(db, row.claimedBy, row.kind));
      if (await settleRow(deps, row, isAlone)) count += 1;
    }
    await strays.runOnce();
    return count;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(EVERY_MS, AbortSignal.any([stopping.signal, woken.signal])).catch(() => undefined);
      if (stopping.signal.aborted) return;
      const isMarked = woken.signal.aborted;
      woken = new AbortController();
      // Workers that go together are seen together: none of them is taken for the other's heir.
      if (isMarked) await new Promise<void>((resolve) => clock.after(TOGETHER_MS, resolve));
      try {
        await runOnce();
      } catch (error) {
        log.warn({ err: error }, "reclaim pass failed; it is repeated");
      }
    }
  }

  return {
    runOnce,
    start() {
      if (loop) return;
      forget = deps.listener.on("owl_worker_gone", () => woken.abort());
      loop = run();
    },
    async stop() {
      stopping.abort();
      forget?.();
      await loop;
    },
  };
}
