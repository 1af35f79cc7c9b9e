// The connection budget: sums of declared pool maxima against what PostgreSQL grants.
// Pure. Invariant: whoever is admitted here can open all it declared, with owld's own connections still fitting in.

import type { Sentence } from "./text/text.ts";

/** Kept free for owld's own pool, migrations and cancel requests. */
export const OWN_CONNECTIONS = 5;

interface DeclaredService {
  readonly name: string;
  readonly replicas: number;
  /** Declared maximum of PostgreSQL connections per instance. */
  readonly connections: number;
}

export interface ConnectionBudget {
  /** Sum of `replicas x connections`. */
  readonly steady: number;
  /** Steady plus one more instance of the hungriest service: the peak of a rollout one by one. */
  readonly surge: number;
  /** Connections the server grants to ordinary roles; null: not known (no database, or not asked yet). */
  readonly limit: number | null;
  readonly verdict: "ok" | "warn" | "fail";
}

type Admission =
  | { readonly admitted: true; readonly sum: number }
  | { readonly admitted: false; readonly sum: number; readonly limit: number };

/** Declared connections of every replica of every service. */
function steadySum(services: readonly DeclaredService[]): number {
  return services.reduce((sum, service) => sum + service.replicas * service.connections, 0);
}

/** The steady sum with `width` instances more of the service that declares the most. */
function surgeSum(services: readonly DeclaredService[], width = 1): number {
  const running = services.filter((service) => service.replicas > 0);
  return steadySum(services) + width * Math.max(0, ...running.map((service) => service.connections));
}

/** Judges the declared sums: `fail` when the steady one does not fit, `warn` when only the surge does not. */
export function assessBudget(services: readonly DeclaredService[], limit: number | null): ConnectionBudget {
  const steady = steadySum(services);
  const surge = surgeSum(services);
  const fits = (sum: number): boolean => limit === null || sum + OWN_CONNECTIONS <= limit;
  const verdict = steady === 0 || fits(surge) ? "ok" : fits(steady) ? "warn" : "fail";
  return { steady, surge, limit, verdict };
}

/** Instances with more connections open (counted by application name) than their service declares, as sentences. */
export function overDeclared(
  config: { readonly services: readonly { readonly name: string; readonly connections: number }[] },
  instances: readonly { readonly id: string; readonly service: string }[],
  byApplication: Readonly<Record<string, number>>,
): readonly Sentence[] {
  return instances.flatMap(({ id, service }) => {
    const declared = config.services.find(({ name }) => name === service)?.connections ?? 0;
    const open = byApplication[`owl/${id}`] ?? 0;
    if (open <= declared) return [];
    return [({ warnings }) => warnings.overDeclared(id, open, declared, service)];
  });
}

/**
 * May one more instance start now? `living` holds the declared connections of every living instance, draining ones
 * too, whatever release they are of. An instance without connections of its own is always admitted.
 */
export function admitInstance(
  living: readonly number[],
  starting: { readonly name: string; readonly connections: number },
  limit: number | null,
): Admission {
  const sum = living.reduce((total, declared) => total + declared, 0) + starting.connections;
  if (limit === null || starting.connections === 0 || sum + OWN_CONNECTIONS <= limit) return { admitted: true, sum };
  return { admitted: false, sum, limit };
}
