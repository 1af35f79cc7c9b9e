// What a change would do, told from the facts of this moment: for `--plan`, and for the steps and times of a rollout
// before its first one. Nothing is changed by asking.

import type { Config, ServiceConfig } from "../../config/config.ts";
import { counterOf, type Instance, PROXY } from "../core/instance.ts";
import { type Forecast, forecast, type PlannedService } from "../core/rollout-plan.ts";
import type { Share, World } from "../core/world.ts";
import type { Measures } from "../observe/measures.ts";
import type { Store } from "../state/store.ts";

const UNMEASURED_START_MS = 1_000;
const UNMEASURED_DRAIN_MS = 500;
/** Handing turns over, once their finish time is over. */
const HAND_OVER_MS = 2_000;

interface Change {
  /** Absent: the configuration stays. */
  readonly config?: Config;
  /** Instances to be replaced, in their order. */
  readonly targets?: readonly Instance[];
  /** How long their successors must stand. */
  readonly confirmMs?: number;
  /** A part of the clients is with the first of them for a time. */
  readonly share?: Share | undefined;
  /** Other numbers of instances than asked for now. */
  readonly wanted?: ReadonlyMap<string, number>;
}

export type Planner = (change: Change) => Forecast;

interface PlannerParts {
  /** What the loop would decide from, with that configuration. */
  readonly world: (config: Config) => World;
  readonly config: () => Config;
  readonly measures: Pick<Measures, "of">;
  readonly store: Pick<Store, "given">;
}

export function createPlanner({ world, config: present, measures, store }: PlannerParts): Planner {
  function planned(service: ServiceConfig, config: Config): PlannedService {
    const { startMs, drainMs, peakRssBytes } = measures.of(service.name);
    const routed = service.routes.length > 0;
    const idleMs = routed && service.stop.after === "idle" ? config.proxy.drainTimeoutMs : 0;
    return {
      routed,
      connections: service.connections,
      memoryBytes: peakRssBytes,
      expected: {
        startMs: startMs ?? UNMEASURED_START_MS,
        drainMs: Math.min(drainMs ?? UNMEASURED_DRAIN_MS, longestTurnMs(service, config)),
      },
      worst: {
        startMs: service.startTimeoutMs ?? config.rollout.healthTimeoutMs,
        drainMs: idleMs + service.stop.graceMs,
      },
    };
  }

  return ({ config = present(), targets = [], confirmMs = 0, share, wanted = new Map() }) => {
    // Those of services that go with the change run until then.
    const services = new Map(
      [present(), config].flatMap((of) => of.services.map((one) => [one.name, planned(one, of)] as const)),
    );
    const { startMs, drainMs } = measures.of(PROXY);
    services.set(PROXY, {
      ...{ routed: false, connections: 0, memoryBytes: 0 },
      expected: { startMs: startMs ?? UNMEASURED_START_MS, drainMs: drainMs ?? UNMEASURED_DRAIN_MS },
      worst: { startMs: config.rollout.healthTimeoutMs, drainMs: config.proxy.drainTimeoutMs },
    });
    const of = (name: string): PlannedService => services.get(name) ?? UNKNOWN;
    const now = world(config);
    const changed: World = {
      ...now,
      services: now.services.map((one) => ({ ...one, wanted: wanted.get(one.name) ?? one.wanted })),
      rollout:
        targets.length === 0
          ? null
          : {
              ...{ id: "plan", targets: targets.map(({ id }) => id), failure: null, cancelled: false, open: false },
              ...{ confirmMs, doubtful: [], worse: null },
              ...(share === undefined ? {} : { share }),
            },
    };
    return forecast(changed, of, (name) => store.given(counterOf(name)));
  };
}

/** How long turns may keep a bundled worker, whatever was measured under another `turn.finish`. */
function longestTurnMs({ name, bundled }: ServiceConfig, { turn }: Config): number {
  if (!bundled || name !== "worker") return Number.POSITIVE_INFINITY;
  return turn.finishMs + (turn.onStop === "handOver" ? HAND_OVER_MS : turn.wrapUpMs);
}

/** Of a service that no configuration knows any more. */
const UNKNOWN: PlannedService = {
  routed: false,
  connections: 0,
  memoryBytes: null,
  expected: { startMs: UNMEASURED_START_MS, drainMs: UNMEASURED_DRAIN_MS },
  worst: { startMs: UNMEASURED_START_MS, drainMs: UNMEASURED_DRAIN_MS },
};
