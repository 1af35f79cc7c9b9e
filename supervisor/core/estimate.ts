// How long a rollout takes: expected from measured times, and the worst that the limits allow. Pure.

export interface ServiceTimes {
  readonly name: string;
  /** Instances to be replaced. */
  readonly count: number;
  /** Measured medians, or null when none was measured yet. */
  readonly startMs: number | null;
  readonly drainMs: number | null;
  readonly healthTimeoutMs: number;
  readonly graceMs: number;
  /** Longest wait between leaving the table and SIGTERM. */
  readonly idleTimeoutMs: number;
  /** Places whose old instances may drain at once. */
  readonly width: number;
}

export interface Estimate {
  readonly expectedMs: number;
  readonly worstMs: number;
}

const UNMEASURED_START_MS = 1_000;
const UNMEASURED_DRAIN_MS = 500;

/** Starts come one after another; drains overlap as far as `width` allows, those of one service with the next's. */
export function estimateRollout(services: readonly ServiceTimes[]): Estimate {
  return { expectedMs: total(services, expected), worstMs: total(services, worst) };
}

/** A service whose number of instances changes from `from` to `to`. */
type CountTimes = ServiceTimes & { readonly from: number; readonly to: number };

/** What is added starts at once, what is too much drains at once: as long as the slowest service takes. */
export function estimateCounts(services: readonly CountTimes[]): Estimate {
  const longest = (timesOf: (one: ServiceTimes) => Times): number => {
    const each = services.map((one) => {
      const { startMs, drainMs } = timesOf(one);
      return one.to > one.from ? startMs : one.to < one.from ? drainMs : 0;
    });
    return Math.round(Math.max(0, ...each));
  };
  return { expectedMs: longest(expected), worstMs: longest(worst) };
}

interface Times {
  readonly startMs: number;
  readonly drainMs: number;
}

const expected = (one: ServiceTimes): Times => ({
  startMs: one.startMs ?? UNMEASURED_START_MS,
  drainMs: one.drainMs ?? UNMEASURED_DRAIN_MS,
});

const worst = (one: ServiceTimes): Times => ({
  startMs: one.healthTimeoutMs,
  drainMs: one.idleTimeoutMs + one.graceMs,
});

function total(services: readonly ServiceTimes[], timesOf: (one: ServiceTimes) => Times): number {
  let clockMs = 0;
  const ends: number[] = [];
  for (const service of services) {
    const { startMs, drainMs } = timesOf(service);
    const own: number[] = [];
    for (let index = 0; index < service.count; index++) {
      const before = own[index - Math.max(1, service.width)];
      clockMs = Math.max(clockMs, before ?? 0) + startMs;
      own.push(clockMs + drainMs);
    }
    ends.push(...own);
  }
  return Math.round(Math.max(0, clockMs, ...ends));
}
