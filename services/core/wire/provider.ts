// Signing in through an identity provider, and its end.

import { z } from "zod";
import { text } from "./parts.ts";

export const signInQuery = z.object({
  to: text.max(500).optional().describe("The page to come back to."),
});
export const providerEnd = z.object({
  url: text.nullable().describe("Where the browser goes to sign out there as well; null: nowhere."),
});
export type ProviderEnd = z.infer<typeof providerEnd>;
export const logoutNotice = z.object({ logout_token: text.min(1).max(16_000) });
