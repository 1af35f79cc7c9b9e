// What the page's head says of signing in.

import type { SignInWays } from "../../core/sign-in.ts";

/** What the server offers beside a name and a password; null: nothing. */
export function signInWays(): SignInWays | null {
  const told = document.querySelector<HTMLMetaElement>('meta[name="owl-sign-in"]')?.content;
  return told === undefined ? null : (JSON.parse(told) as SignInWays);
}
