// Time and chance as ports. Only the adapters in `config/system-time.ts` touch the real ones.

/** Milliseconds of the wall clock since 1970 (for showing and for records, never for deadlines). */
export type WallMs = number;
/** Milliseconds of the boot's monotonic clock (CLOCK_MONOTONIC): the same in every process of one boot. */
export type MonotonicMs = number;

export interface Clock {
  /** Wall time, for records. */
  now(): WallMs;
  /** Monotonic time of this boot, for durations and deadlines; comparable across processes and restarts of owld. */
  monotonicMs(): MonotonicMs;
  /** Resolves after `ms`; rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` once after `ms`; the returned function cancels it. Never keeps the process alive when `unref`. */
  after(ms: number, run: () => void, options?: { readonly unref?: boolean }): () => void;
  /** Yields every `ms` (first after `ms`) until the signal aborts, then ends without throwing. */
  every(ms: number, signal: AbortSignal): AsyncIterable<void>;
}

export interface Random {
  /** A float in [0, 1). */
  float(): number;
  /** A random UUID. */
  uuid(): string;
  /** `bytes` random bytes as base64url. */
  token(bytes: number): string;
}

/** ISO 8601 with milliseconds, UTC. */
export function isoTime(at: WallMs): string {
  return new Date(at).toISOString();
}
