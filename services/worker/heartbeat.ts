// The worker's heartbeat and the check on the queue library. Invariant: the heartbeat depends on nothing but its own
// connection; should the library stop refreshing the leases of running jobs, that is an ERROR and the beat goes on.

import type { Logger } from "pino";
import { createLoop, type Running } from "../../config/running.ts";
import type { Clock } from "../../config/time.ts";
import type { Claim } from "../db/claims.ts";
import { createPulse, type Pulse } from "../db/pulse.ts";
import type { JobQueue } from "../db/queue.ts";
import { HEARTBEAT, type JobsByKind, type WorkerCounts } from "../db/workers.ts";

interface HeartbeatDeps {
  readonly id: string;
  readonly url: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly intervalMs: number;
  readonly stalledAfterMs: number;
  readonly jobs: () => JobsByKind;
  readonly counts: () => WorkerCounts;
  /** Our row is marked gone: another one deals with our jobs. */
  readonly onGone: () => void;
}

/** The beat that keeps `owl.worker.heartbeat_at` fresh. */
export function createHeartbeat(deps: HeartbeatDeps): Pulse {
  return createPulse({
    url: deps.url,
    clock: deps.clock,
    intervalMs: deps.intervalMs,
    breakAfterMs: deps.stalledAfterMs / 2,
    async beat(client) {
      const values = [deps.id, JSON.stringify(deps.jobs()), JSON.stringify(deps.counts())];
      const { rowCount } = await client.query(HEARTBEAT, values);
      if (rowCount === 0) deps.onGone();
    },
    onError: (error) => deps.log.warn({ err: error }, "heartbeat failed; trying again"),
  });
}

interface LeaseKeeper extends Running {
  /** One round: refresh, then look whether the refresh arrived. */
  runOnce(): Promise<void>;
}

/** Refreshes the queue's own leases each interval and logs ERROR when they are not kept. */
export function createLeaseKeeper(deps: {
  readonly queue: Pick<JobQueue, "touch" | "oldestLeaseMs">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly intervalMs: number;
  readonly claims: () => readonly Claim[];
}): LeaseKeeper {
  async function runOnce(): Promise<void> {
    const claims = deps.claims();
    if (claims.length === 0) return;
    let failure: unknown = null;
    try {
      await deps.queue.touch(claims);
    } catch (error) {
      failure = error;
    }
    try {
      const ageMs = await deps.queue.oldestLeaseMs(deps.claims());
      if (ageMs !== null && ageMs > 3 * deps.intervalMs) {
        const fields = { oldestLeaseMs: ageMs, jobs: claims.length, err: failure ?? undefined };
        deps.log.error(fields, "the queue stopped refreshing the leases of running jobs; our own heartbeat goes on");
      }
    } catch (error) {
      deps.log.warn({ err: failure ?? error }, "leases could not be looked at");
    }
  }

  const failed = (err: Error): void => deps.log.warn({ err }, "leases were not looked after");
  return { ...createLoop({ clock: deps.clock, everyMs: deps.intervalMs, runOnce, failed }), runOnce };
}
