// What a failed statement means: the one classification of the database's errors.
// Invariant: an error is the database's because the pool threw it, never by its looks. `ECONNRESET` of a client that broke
// off its upload, or `ENOENT` of a file, says nothing about the database.

const seen = new WeakSet<object>();

/** Marks what a connection or a statement threw (only the pool and the data sources' own code call this). */
export function markDatabaseError(error: unknown): unknown {
  if (typeof error === "object" && error !== null) seen.add(error);
  return error;
}

// pg's own failures on this side carry no code.
const ENDED = /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/;

/** The five characters of SQLSTATE, a connection's error code, "" for one that ended on this side; null: no database's error. */
function codeOf(error: unknown): string | null {
  if (typeof error !== "object" || error === null || !seen.has(error)) return null;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === "string") return code;
  return ENDED.test(String(message)) ? "" : null;
}

// Connection failures, shutting down or starting up, no connection or memory left, killed while idle in a transaction.
const AWAY = /^(?:08|57P0|53[23]00|25P0[34]|E[A-Z]+$)/;

/** The database is away or restarting; nothing is known of the statement. */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  return code !== null && (code === "" || AWAY.test(code));
}

/** The server gave the statement up: it ran past its time. */
export function isGivenUp(error: unknown): boolean {
  return codeOf(error) === "57014";
}

/** Two transactions were in each other's way and this one was undone: run again, it passes. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error);
  // Two wrote a turn's next event at once: who came second counted before the first one was to be seen.
  const { constraint } = (error ?? {}) as { readonly constraint?: unknown };
  return code === "40P01" || code === "40001" || (code === "23505" && constraint === "turn_event_pkey");
}

// Bad data, a violated constraint, a statement that is wrong, more than the server can hold in one value, an ending of our
// own triggers: the same at every try.
const OURS = /^(?:2[123]|42|54|OW)/;

/**
 * The same statement may pass later: the database is away, read-only, full, out of memory, its table is locked, or it
 * cancelled the statement. Only what is our own fault never passes.
 */
export function mayPassLater(error: unknown): boolean {
  const code = codeOf(error);
  return code !== null && !OURS.test(code);
}
