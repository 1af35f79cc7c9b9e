// What the server and the sign-in page tell each other without a call.

/** Told to the sign-in page as `?refused=`: the person comes back by a link, not by a call. */
export const SIGN_IN_REFUSALS = [
  "group",
  "domain",
  "disabled",
  "unknown",
  "declined",
  "expired",
  "away",
  "failed",
  "tooMany",
] as const;
export type SignInRefusal = (typeof SIGN_IN_REFUSALS)[number];

/** What the sign-in page offers, in the page's head; without it a name and a password alone. */
export interface SignInWays {
  readonly local: boolean;
  /** null: the usual words. */
  readonly button: string | null;
}
