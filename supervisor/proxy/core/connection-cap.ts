// How many client connections one process may hold. Each may need a second descriptor, for its upstream: accepting one
// that could not be served would turn a clear 503 into failures at random.

/** Descriptors for everything that is no client and not its upstream: listeners, feed, idle upstream connections. */
const RESERVED = 256;

/** The smaller of what is configured and what the descriptors allow; at least 1. `descriptors`: null, not known. */
export function connectionCap(configured: number, descriptors: number | null): number {
  if (descriptors === null) return configured;
  return Math.max(1, Math.min(configured, Math.floor((descriptors - RESERVED) / 2)));
}

/** The limit on open files of /proc/self/limits, or null when it says none. */
export function descriptorLimit(limits: string): number | null {
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? null : Number(soft);
}
