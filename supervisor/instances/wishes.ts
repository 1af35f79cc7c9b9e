// What operators asked of a service beyond owl.yaml: another number, stopped, single instances stopped.
// Invariant: kept in the state file until owl.yaml's own number changes at a reload.

import type { ServiceConfig } from "../../config/config.ts";
import type { Store } from "../state/store.ts";

interface Wish {
  /** owl.yaml's number when it was asked. */
  readonly configured: number;
  readonly replicas: number | null;
  readonly stopped: boolean;
  readonly stoppedInstances: readonly string[];
}

export interface ServiceWishes {
  /** Replicas as scaled, or as configured. */
  replicas(service: ServiceConfig): number;
  isStopped(service: ServiceConfig): boolean;
  stoppedInstances(service: ServiceConfig): readonly string[];
  /** How many should run now. */
  wanted(service: ServiceConfig): number;
  scale(service: ServiceConfig, replicas: number): void;
  setStopped(service: ServiceConfig, stopped: boolean): void;
  stopInstance(service: ServiceConfig, id: string): void;
  /** True when it had been stopped. */
  startInstance(service: ServiceConfig, id: string): boolean;
}

export function createServiceWishes(store: Store, changed: () => void): ServiceWishes {
  const of = (service: ServiceConfig): Wish => {
    const found = store.all<Wish>("service").get(service.name);
    if (found !== undefined && found.configured === service.replicas) return found;
    return { configured: service.replicas, replicas: null, stopped: false, stoppedInstances: [] };
  };
  const put = (service: ServiceConfig, changes: Partial<Wish>): void => {
    store.put("service", service.name, { ...of(service), ...changes });
    changed();
  };
  const replicas = (service: ServiceConfig): number => of(service).replicas ?? service.replicas;
  return {
    replicas,
    isStopped: (service) => of(service).stopped,
    stoppedInstances: (service) => of(service).stoppedInstances,
    wanted(service) {
      const { stopped, stoppedInstances } = of(service);
      return stopped ? 0 : Math.max(0, replicas(service) - stoppedInstances.length);
    },
    scale: (service, number) => put(service, { replicas: number, stoppedInstances: [] }),
    setStopped: (service, stopped) => put(service, { stopped, ...(stopped ? {} : { stoppedInstances: [] }) }),
    stopInstance: (service, id) =>
      put(service, { stoppedInstances: [...new Set([...of(service).stoppedInstances, id])] }),
    startInstance(service, id) {
      const { stoppedInstances } = of(service);
      if (!stoppedInstances.includes(id)) return false;
      put(service, { stoppedInstances: stoppedInstances.filter((one) => one !== id) });
      return true;
    },
  };
}
