// Watches from outside, all the time, that a service never has fewer ready instances than its replicas while nothing is
// done to it but rollouts: every socket in the run directory is asked for /readyz.

import { systemClock } from "../../../config/system-time.ts";
import type { Disturbances } from "../disturbances.ts";
import { readyInstances } from "../faults/targets.ts";
import type { Timeline } from "../timeline.ts";

const EVERY_MS = 400;
/** One look is not one instant: an instance may come while another one goes. So many looks in a row must agree. */
const LOOKS = 4;
const PROBE_MS = 10_000;

export async function watchReplicas(
  deps: {
    readonly home: string;
    readonly timeline: Timeline;
    readonly disturbances: Disturbances;
    readonly replicas: number;
  },
  ending: AbortSignal,
): Promise<number> {
  const { home, timeline, disturbances, replicas } = deps;
  const short = new Map<string, number>();
  let looks = 0;
  while (!ending.aborted) {
    for (const service of ["web", "worker"]) {
      const from = systemClock.now();
      const ready = await readyInstances(home, service, PROBE_MS);
      if (ending.aborted) break;
      looks += 1;
      // An update asks all workers to stop before the new ones start; the web never goes below its number.
      const fleet = service === "worker" ? (["workerFleet"] as const) : [];
      const excused =
        disturbances.touching(["replicas", "worker", "database", ...fleet], from - 1_000, systemClock.now()).length > 0;
      const run = ready.length >= replicas || excused ? 0 : (short.get(service) ?? 0) + 1;
      short.set(service, run);
      if (run === LOOKS)
        timeline.violation("fewer ready instances than replicas, and nothing was done to them", {
          service,
          ready,
          replicas,
        });
    }
    await systemClock.sleep(EVERY_MS);
  }
  return looks;
}
