// The one word for how everything is. Pure.

import type { SupervisorState } from "../../config/control-api.ts";

export interface ServiceStanding {
  readonly wanted: number;
  readonly ready: number;
  readonly crashLooping: boolean;
  /** Somewhere in it one came up in vain. */
  readonly failing: boolean;
}

interface StateFacts {
  readonly services: readonly ServiceStanding[];
  readonly rolling: boolean;
  readonly stopping: boolean;
  /** Every service has once had its replicas ready, and the proxy listens. */
  readonly settled: boolean;
  /** No proxy could be started by the configuration of now. */
  readonly proxyTrouble: boolean;
}

/** All that should be ready is. */
export function isComplete(services: readonly ServiceStanding[]): boolean {
  return services.every(({ wanted, ready }) => ready >= wanted);
}

export function supervisorState(facts: StateFacts): SupervisorState {
  if (facts.stopping) return "stopping";
  if (facts.rolling) return "rolling";
  if (facts.proxyTrouble) return "degraded";
  const broken = facts.services.some(
    ({ crashLooping, ready, wanted, failing }) =>
      (ready < wanted && (facts.settled || failing)) || (crashLooping && wanted > 0),
  );
  if (broken) return "degraded";
  return facts.settled ? "steady" : "starting";
}
