// Refusals of unknown names, always with the nearest name that exists. Pure.

import { Refusal } from "../core/text/refusal.ts";

/** The known name closest to `name` (edits, at most a third of its length, two at least), or null. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const limit = Math.max(2, Math.floor(name.length / 3));
  let best: { name: string; edits: number } | null = null;
  for (const candidate of known) {
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (edits <= limit && (best === null || edits < best.edits)) best = { name: candidate, edits };
  }
  return best?.name ?? null;
}

/** The error for a service nobody configured. `known`: names of all services. */
export function unknownService(name: string, known: readonly string[]): Refusal {
  return unknown("service", name, known);
}

/** The error for an instance (or `owlctl why|start|stop|logs` target) that does not exist. */
export function unknownInstance(name: string, known: readonly string[]): Refusal {
  return unknown("instance", name, known);
}

/** The error for a rollout id that was never given. `known`: ids, newest first. */
export function unknownRollout(id: string, known: readonly string[]): Refusal {
  return unknown("rollout", id, known);
}

function unknown(kind: "service" | "instance" | "rollout", name: string, known: readonly string[]): Refusal {
  const nearest = nearestName(name, known);
  const listed = `${known.slice(0, 10).join(", ")}${known.length > 10 ? ", …" : ""}`;
  return new Refusal(
    `${kind}.unknown`,
    ({ refused }) => ({
      sentence: refused.unknown(kind, name),
      next: nearest !== null ? refused.didYouMean(nearest) : known.length > 0 ? refused.known(listed) : refused.noneYet,
    }),
    { data: { name, nearest } },
  );
}

/** Levenshtein distance, one row at a time. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
