// API tokens as their owner sees them. Invariant: the token itself is in the answer that made it, and in no other.

import { z } from "zod";
import { TOKEN_SCOPES } from "../token-scopes.ts";
import { id, instant, list, text } from "./parts.ts";

export const MOST_TOKENS = 20;
const LONGEST_TOKEN_DAYS = 365;

const scopes = list(z.enum(TOKEN_SCOPES));

const token = z.object({
  id,
  name: text,
  prefix: text.describe("What it begins with."),
  scopes,
  createdAt: instant,
  expiresAt: instant,
  usedAt: instant.nullable().describe("To the minute; null: never."),
});
export type Token = z.infer<typeof token>;
export const tokens = z.object({ items: list(token) });
export type Tokens = z.infer<typeof tokens>;

export const newToken = z
  .strictObject({
    name: text.trim().min(1).max(64),
    scopes: z.array(z.enum(TOKEN_SCOPES)).min(1).max(TOKEN_SCOPES.length),
    expiresInDays: z.int().min(1).max(LONGEST_TOKEN_DAYS),
    password: text.min(1).max(1_000).optional().describe("The account's present one; none where it has none."),
  })
  .meta({
    examples: [{ name: "nightly", scopes: ["chat:write"], expiresInDays: 90, password: "correct horse battery" }],
  });
export const tokenMade = z.object({ id, token: text.describe("Shown once."), prefix: text, expiresAt: instant });
export type TokenMade = z.infer<typeof tokenMade>;
