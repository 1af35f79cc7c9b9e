// Fixed limits of the proxy that no configuration changes.

/** Largest head of an upstream's answer, in bytes. */
export const RESPONSE_HEADER_BYTES = 64 * 1024;
/** What is still read of a refused request before the connection ends, so that the client can read the answer. */
export const LINGER_BYTES = 1024 * 1024;
export const LINGER_MS = 1_000;
/** Idle upstream connections: closed below the 5 s after which Node's servers close them by default. */
export const UPSTREAM_IDLE_MS = 4_000;
/** Idle connections kept per upstream. */
export const UPSTREAM_MOST_IDLE = 64;

/** How long an idle connection of a draining process waits for a request that is on its way. */
export const DRAIN_IDLE_MS = 1_000;
