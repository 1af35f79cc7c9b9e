// The one error type of Owl: a stable code, one sentence, the next thing to do, and data.
// Invariant: an OwlError's message never holds a secret, so it may be printed as it is.

export interface OwlErrorOptions {
  /** What the reader can do now, a sentence of its own. */
  readonly next?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** An operating failure: `code` is stable (`rollout.busy`), `message` one sentence, `next` the way on. */
export class OwlError extends Error {
  override readonly name = "OwlError";
  readonly code: string;
  readonly next: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, options: OwlErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.next = options.next;
    this.data = options.data ?? {};
  }
}

/** Throws when `condition` does not hold: a broken invariant is a bug, never an answer to a user. */
export function invariant(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${sentence}`);
}

/** Any caught value as an Error (a thrown string or object keeps its text). */
export function asError(caught: unknown): Error {
  return caught instanceof Error ? caught : new Error(String(caught));
}
