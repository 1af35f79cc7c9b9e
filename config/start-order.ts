// Which service waits for which (`depends_on`): the order in which they are started, and what is wrong with it. Pure.

import type { ServiceConfig } from "./config.ts";

type Ordered = Pick<ServiceConfig, "name" | "dependsOn">;

/** Whoever is waited for comes first, else as in owl.yaml. Those of a circle stay where they are. */
export function inStartOrder<Service extends Ordered>(services: readonly Service[]): readonly Service[] {
  const byName = new Map(services.map((one) => [one.name, one]));
  const placed = new Set<Service>();
  const visiting = new Set<Service>();
  function place(service: Service): void {
    if (placed.has(service) || visiting.has(service)) return;
    visiting.add(service);
    for (const name of service.dependsOn ?? []) {
      const other = byName.get(name);
      if (other !== undefined) place(other);
    }
    visiting.delete(service);
    placed.add(service);
  }
  for (const service of services) place(service);
  return [...placed];
}

/** The names of one circle, its first one again at the end; null: there is none. */
export function circleOf(services: readonly Ordered[]): readonly string[] | null {
  const byName = new Map(services.map((one) => [one.name, one]));
  const free = new Set<string>();
  function walk(name: string, path: readonly string[]): readonly string[] | null {
    const seen = path.indexOf(name);
    if (seen >= 0) return [...path.slice(seen), name];
    if (free.has(name)) return null;
    for (const next of byName.get(name)?.dependsOn ?? []) {
      const found = walk(next, [...path, name]);
      if (found !== null) return found;
    }
    free.add(name);
    return null;
  }
  for (const { name } of services) {
    const found = walk(name, []);
    if (found !== null) return found;
  }
  return null;
}
