// Tells that an instance's oldest log lines were let go. Invariant: one that writes without end is told of once a minute.

import type { Clock } from "../../config/time.ts";
import { formatSize } from "../../config/units.ts";
import type { Text } from "../core/text/text.ts";
import type { Journal } from "../rollouts/journal.ts";

const PAUSE_MS = 60_000;

interface LogDropParts {
  readonly clock: Clock;
  readonly journal: Pick<Journal, "write">;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
}

/** Answers the sentence for the log itself. */
export function createLogDrops({ clock, journal, record }: LogDropParts): (instance: string, bytes: number) => string {
  const told = new Map<string, { readonly atMs: number; readonly untold: number }>();
  return (instance, bytes) => {
    const say = (count: number): string => record.recorded.instance.logDropped(instance, formatSize(count));
    const now = clock.monotonicMs();
    for (const [id, { atMs }] of told) if (id !== instance && now - atMs > 2 * PAUSE_MS) told.delete(id);
    const before = told.get(instance);
    const untold = (before?.untold ?? 0) + bytes;
    const isSoon = before !== undefined && now - before.atMs < PAUSE_MS;
    told.set(instance, { atMs: isSoon ? before.atMs : now, untold: isSoon ? untold : 0 });
    if (!isSoon) {
      const service = instance.replace(/-\d+$/, "");
      journal.write({ type: "log.dropped", service, instance, message: say(untold) });
    }
    return say(bytes);
  };
}
