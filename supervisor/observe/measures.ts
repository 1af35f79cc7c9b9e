// What starts, drains and memory of each service were so far: the figures that estimates and admissions go by.

import { keepFact, readFact, type ServiceMeasures } from "../state/facts.ts";
import type { Store } from "../state/store.ts";

export interface Measures {
  noteStart(service: string, ms: number): void;
  noteDrain(service: string, ms: number): void;
  noteMemory(service: string, rssBytes: number): void;
  /** The largest instance among these services so far; null when none was measured. */
  largestRssBytes(services: readonly string[]): number | null;
  /** Medians; null when none was measured yet. */
  of(service: string): {
    readonly startMs: number | null;
    readonly drainMs: number | null;
    readonly peakRssBytes: number | null;
  };
}

const KEPT = 20;
const NONE: ServiceMeasures = { startMs: [], drainMs: [], peakRssBytes: 0 };

export function createMeasures(store: Store): Measures {
  const get = (service: string): ServiceMeasures => readFact(store, `measures ${service}`) ?? NONE;
  const put = (service: string, changes: Partial<ServiceMeasures>): void =>
    keepFact(store, `measures ${service}`, { ...get(service), ...changes });
  return {
    noteStart: (service, ms) => put(service, { startMs: [...get(service).startMs, Math.round(ms)].slice(-KEPT) }),
    noteDrain: (service, ms) => put(service, { drainMs: [...get(service).drainMs, Math.round(ms)].slice(-KEPT) }),
    noteMemory(service, rssBytes) {
      // By steps of 5 %, so that a slow growth does not write at every sample.
      if (rssBytes > get(service).peakRssBytes * 1.05) put(service, { peakRssBytes: rssBytes });
    },
    largestRssBytes(services) {
      const largest = Math.max(0, ...services.map((service) => get(service).peakRssBytes));
      return largest === 0 ? null : largest;
    },
    of(service) {
      const { startMs, drainMs, peakRssBytes } = get(service);
      return {
        startMs: median(startMs),
        drainMs: median(drainMs),
        peakRssBytes: peakRssBytes === 0 ? null : peakRssBytes,
      };
    },
  };
}

function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
}
