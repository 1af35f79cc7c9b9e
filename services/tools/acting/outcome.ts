// What came of a call that acts outside. Invariant: `failed` only where it is known that nothing was done (or that the
// other side refused); whatever broke off after the call was on its way is `unknown`.

export type Outcome =
  | { readonly kind: "finished"; readonly output: unknown }
  | { readonly kind: "failed"; readonly reason: string; readonly output?: unknown }
  | { readonly kind: "unknown"; readonly reason: string };

export interface ActingCall {
  readonly signal: AbortSignal;
  /** Names this very call for the other side, so that it can tell a repeat: run and step. */
  readonly key: string;
}
