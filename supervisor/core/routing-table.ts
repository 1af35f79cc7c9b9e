// The routing table out of services and instances. Pure.
// Invariant: an instance is in it exactly while it is ready and not on its way out.

import { posix } from "node:path";
import type { ServiceConfig } from "../../config/config.ts";
import type { ProxyRoute, ProxyUpstream, RoutingTable } from "../../config/proxy-feed.ts";
import { type Instance, isServing } from "./instance.ts";

export interface RoutedService {
  readonly name: string;
  readonly routes: readonly Pick<ProxyRoute, "host" | "path" | "bodyBytes" | "files">[];
  readonly closed: { readonly retryAfterS: number; readonly reason: string } | null;
  /** The new ones of that rollout get a part of its clients. */
  readonly share?: { readonly rollout: string; readonly part: number };
}

/** Ids of the instances that belong into the table now. */
export function routableIds(services: readonly RoutedService[], instances: readonly Instance[]): readonly string[] {
  const behind = new Set(services.filter(({ routes }) => routes.length > 0).map(({ name }) => name));
  return instances
    .filter((instance) => behind.has(instance.service) && isServing(instance) && instance.target !== null)
    .map(({ id }) => id);
}

/** Ids of those set aside that would answer if nobody else did. */
export function fallbackIds(services: readonly RoutedService[], instances: readonly Instance[]): readonly string[] {
  return routableIds(
    services,
    instances.flatMap((one) => (one.aside ? [{ ...one, aside: false }] : [])),
  );
}

/** The whole table, one entry a route, in the order of the services. */
export function buildTable(
  services: readonly RoutedService[],
  instances: readonly Instance[],
  version: number,
): RoutingTable {
  const ids = new Set(routableIds(services, instances));
  const spare = new Set(fallbackIds(services, instances));
  const routes = services.flatMap((service): ProxyRoute[] => {
    const among = (wanted: ReadonlySet<string>): ProxyUpstream[] =>
      instances.flatMap(({ id, service: of, target }) =>
        of === service.name && wanted.has(id) && target !== null ? [{ id, target }] : [],
      );
    const upstreams = among(ids);
    const set = among(spare);
    const fallback = set.length === 0 ? {} : { fallback: set };
    const { name, closed } = service;
    const share = shareOf(service, instances, ids);
    return service.routes.map((route) => {
      const answerers =
        route.files === undefined ? { upstreams, ...fallback, closed, ...share } : { upstreams: [], closed };
      return { service: name, ...route, ...answerers };
    });
  });
  return { version, routes };
}

/** Only while both sides have somebody: else whoever is there serves all. */
function shareOf(
  { name, share }: RoutedService,
  instances: readonly Instance[],
  ids: ReadonlySet<string>,
): Pick<ProxyRoute, "share"> {
  if (share === undefined) return {};
  const own = instances.filter(({ id, service }) => service === name && ids.has(id));
  const fresh = own.filter(({ rollout }) => rollout === share.rollout).map(({ id }) => id);
  if (fresh.length === 0 || fresh.length === own.length) return {};
  return { share: { name: share.rollout, part: share.part, upstreams: fresh } };
}

/**
 * As the table has them. A file that only what is tried out has is found too: its pages name it already; and of what ran
 * before (`codeBefore`: where it lies) those that are kept by name for long: pages that are still open name them.
 */
export function routesOf(
  service: ServiceConfig,
  tried: ServiceConfig | undefined,
  codeBefore: readonly string[],
): RoutedService["routes"] {
  return service.routes.map(({ files, ...route }, index) => {
    if (files === undefined) return route;
    const more = tried?.routes[index]?.files?.directory ?? files.directory;
    const directories = [...new Set([files.directory, more])];
    const { within, cacheS } = files;
    const kept = within === null || !cacheS ? [] : codeBefore.map((code) => posix.join(code, within));
    return { ...route, files: { directories, cacheS, ...(kept.length === 0 ? {} : { kept }) } };
  });
}
