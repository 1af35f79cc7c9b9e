// What requests cost a rollout, by the proxies' own figures. Pure.
// Invariant: each process is counted by itself, from where it stood when the rollout began (a later one from nothing),
// so that neither its end nor a new owld in the middle takes back what was seen.

import type { ProxyCounters } from "../../config/proxy-feed.ts";

type Tally = Pick<ProxyCounters, "failures" | "retries" | "streamsMoved">;
/** By process; null: it has not told yet. */
type Tallies = ReadonlyMap<string, Tally | null>;
export type Costs = Readonly<Record<string, { readonly from: Tally; readonly seen: Tally } | null>>;

const NOTHING: Tally = { failures: 0, retries: 0, streamsMoved: 0 };

export function costsFrom(tallies: Tallies): Costs {
  return Object.fromEntries([...tallies].map(([id, now]) => [id, now && { from: pick(now), seen: pick(now) }]));
}

/** The same with what is told now. */
export function costsSeen(costs: Costs, tallies: Tallies): Costs {
  const told = [...tallies].flatMap(([id, now]) => {
    if (now === null) return [];
    const known = costs[id];
    const from = known === undefined ? NOTHING : (known?.from ?? pick(now));
    return [[id, { from, seen: pick(now) }] as const];
  });
  return { ...costs, ...Object.fromEntries(told) };
}

export function sumOf(costs: Costs): Tally {
  const sum = { ...NOTHING };
  for (const one of Object.values(costs)) {
    if (one === null) continue;
    for (const key of ["failures", "retries", "streamsMoved"] as const) sum[key] += one.seen[key] - one.from[key];
  }
  return sum;
}

function pick({ failures, retries, streamsMoved }: Tally): Tally {
  return { failures, retries, streamsMoved };
}
