// Fixed limits of the proxy that no configuration changes.

/** Largest head of an upstream's answer, in bytes. */
export const RESPONSE_HEADER_BYTES = 64 * 1024;
/**
 * How long what a client still sends behind its answer is read and dropped: ending at once would be a reset, which takes
 * the answer from a client that sends all before it reads. At most so long in all, and so long after its last byte.
 */
export const LINGER_MS = 30_000;
export const LINGER_SILENCE_MS = 2_000;
/** Idle upstream connections: closed below the 5 s after which Node's servers close them by default. */
export const UPSTREAM_IDLE_MS = 4_000;
/** Idle connections kept per upstream. */
export const UPSTREAM_MOST_IDLE = 64;

/** Bytes that are kept unparsed (pipelined, or a body before its upstream is connected) until the client is paused. */
export const MOST_HELD = 64 * 1024;
/** Unsent answer bytes above which the next pipelined request waits. */
export const MOST_UNSENT = 64 * 1024;

/** A request's bytes that may wait in the upstream's socket before the client is paused. */
export const UPSTREAM_BACKLOG = 64 * 1024;
/** A client that sends its body without waiting for 100 is held back this long for one. */
export const EXPECT_MS = 1_000;

/** How long an idle connection of a draining process waits for a request that is on its way. */
export const DRAIN_IDLE_MS = 1_000;
