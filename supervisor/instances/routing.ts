// Keeps the proxies' table equal to the instances that may get requests, and knows which table was acknowledged.
// Invariant: `isOut` is true only when every proxy has acknowledged a table without that instance, set aside or not.

import { asError } from "../../config/errors.ts";
import type { Clock } from "../../config/time.ts";
import type { Instance } from "../core/instance.ts";
import { buildTable, fallbackIds, type RoutedService, routableIds } from "../core/routing-table.ts";
import type { ProxySet } from "../ports.ts";

export interface Routing {
  /** Publishes when what should be routed differs from what was last sent. */
  sync(services: readonly RoutedService[], instances: readonly Instance[]): void;
  isRouted(id: string): boolean;
  isOut(id: string): boolean;
  stop(): void;
}

interface RoutingParts {
  readonly proxies: Pick<ProxySet, "publish">;
  readonly clock: Clock;
  /** A table was acknowledged. */
  readonly acknowledged: () => void;
  readonly failed: (error: Error) => void;
}

/** Nothing is sent before `sync` is first called. */
export function createRouting(parts: RoutingParts): Routing {
  let sent: string | null = null;
  let version = 0;
  let stopped = false;
  // Until then the proxies may still use the table of an earlier owld.
  let answered = false;
  /** Ids of the table acknowledged last, and of every table sent since. */
  let acknowledged: ReadonlySet<string> = new Set();
  /** Of those acknowledged last, the ones that get requests. */
  let serving: ReadonlySet<string> = new Set();
  const open = new Map<number, ReadonlySet<string>>();

  async function publish(
    table: ReturnType<typeof buildTable>,
    routable: ReadonlySet<string>,
    ids: ReadonlySet<string>,
  ): Promise<void> {
    open.set(table.version, ids);
    try {
      await parts.proxies.publish(table);
    } catch (error) {
      open.delete(table.version);
      if (stopped) return;
      sent = null;
      parts.failed(asError(error));
      return;
    }
    // An acknowledgement of this version covers all before it.
    for (const one of [...open.keys()]) if (one <= table.version) open.delete(one);
    acknowledged = ids;
    serving = routable;
    answered = true;
    parts.acknowledged();
  }

  return {
    sync(services, instances) {
      if (stopped) return;
      const table = buildTable(services, instances, 0);
      const key = JSON.stringify(table.routes);
      if (key === sent) return;
      sent = key;
      // Above anything an earlier owld of this boot has sent.
      version = Math.max(version + 1, Math.floor(parts.clock.monotonicMs()));
      const routable = new Set(routableIds(services, instances));
      void publish({ ...table, version }, routable, routable.union(new Set(fallbackIds(services, instances))));
    },
    isRouted: (id) => serving.has(id),
    isOut: (id) => answered && !acknowledged.has(id) && [...open.values()].every((ids) => !ids.has(id)),
    stop() {
      stopped = true;
    },
  };
}
