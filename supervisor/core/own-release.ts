// Releases of a team's own code: which one a service runs from, which one stood before, which ones stay. Pure.
// Invariant: one that is in force, runs, or is the way back is never among those that go.

import { posix } from "node:path";
import type { Config, ServiceConfig } from "../../config/config.ts";
import type { OwnRelease } from "../../config/deploy-api.ts";

/** Service -> the release in force for it. A service that is not in it runs from its source. */
export type Releases = Readonly<Record<string, string>>;

/** Service -> releases it ran before, the newest first: pages of theirs may still be open somewhere. */
export type EarlierReleases = Readonly<Record<string, readonly string[]>>;

const MOST_EARLIER = 3;

/** Where the code of a release lies. */
export function codeOf(folder: string, release: string): string {
  return `${folder}/${release}/code`;
}

/** The configuration with every service run from its release. */
export function withReleases(config: Config, releases: Releases, folder: string): Config {
  if (Object.keys(releases).length === 0) return config;
  return Object.freeze({ ...config, services: config.services.map((one) => fromRelease(one, releases, folder)) });
}

function fromRelease(service: ServiceConfig, releases: Releases, folder: string): ServiceConfig {
  const release = releases[service.name];
  const { code } = service;
  if (release === undefined || code === undefined) return service;
  const cwd = code.within === null ? service.cwd : posix.join(codeOf(folder, release), code.within);
  const routes = service.routes.map((route) => {
    if (route.files === undefined || route.files.within === null) return route;
    const directory = posix.join(codeOf(folder, release), route.files.within);
    return { ...route, files: { ...route.files, directory } };
  });
  return Object.freeze({ ...service, cwd, routes, code: { ...code, release } });
}

/** As `releases`, with that one for these services; null: they run from their source again. */
export function changedReleases(releases: Releases, services: readonly string[], release: string | null): Releases {
  const others = Object.entries(releases).filter(([name]) => !services.includes(name));
  return Object.fromEntries([...others, ...(release === null ? [] : services.map((name) => [name, release]))]);
}

/** What services ran before, when `next` takes the place of `present`. */
export function earlierReleases(earlier: EarlierReleases, present: Releases, next: Releases): EarlierReleases {
  return Object.fromEntries(
    Object.entries(next).map(([name, release]) => {
      const all = new Set([present[name] ?? release, ...(earlier[name] ?? [])]);
      all.delete(release);
      return [name, [...all].slice(0, MOST_EARLIER)];
    }),
  );
}

/** The number of a release by its id; NaN for what is none. */
export function numberOfRelease(id: string): number {
  return /^[1-9]\d{0,8}$/.test(id) ? Number(id) : Number.NaN;
}

/** The newest one that stood for the service and is older than `present`; null: none did, it ran from its source. */
export function releaseBefore(all: readonly OwnRelease[], service: string, present: string): string | null {
  const older = all.filter(({ id, stood }) => service in stood && numberOfRelease(id) < numberOfRelease(present));
  return older.toSorted((a, b) => numberOfRelease(b.id) - numberOfRelease(a.id))[0]?.id ?? null;
}

/** Ids of those beyond the newest `keep` that nobody needs. `used`: in force, tried out, or run by something living. */
export function outdatedReleases(
  all: readonly OwnRelease[],
  keep: number,
  inForce: Releases,
  used: ReadonlySet<string>,
): readonly string[] {
  const before = Object.entries(inForce).map(([service, present]) => releaseBefore(all, service, present));
  return all
    .toSorted((a, b) => numberOfRelease(b.id) - numberOfRelease(a.id))
    .slice(keep)
    .map(({ id }) => id)
    .filter((id) => !used.has(id) && !before.includes(id) && !Object.values(inForce).includes(id));
}
