// Read-only links to a conversation.

import { z } from "zod";
import { SHARED_WITH } from "../../../config/config.ts";
import { id, instant, list, text } from "./parts.ts";
import { turn } from "./turn.ts";

const share = z.object({
  id,
  conversationId: id,
  title: text,
  forAnyone: z.boolean().describe("Whoever has the link; else signed-in accounts alone."),
  createdAt: instant,
  expiresAt: instant,
});

export const shares = z.object({
  links: z.enum(SHARED_WITH).describe("Whom a link may show a chat to at most (`chat.links` of owl.yaml)."),
  items: list(share).describe("Those that have not ended, newest first."),
});
export type Shares = z.infer<typeof shares>;

export const sharesQuery = z.object({ conversationId: id.optional() });
export const newShare = z
  .strictObject({ days: z.int().min(1).max(365), forAnyone: z.boolean().optional() })
  .meta({ examples: [{ days: 7, forAnyone: false }] });
export const shareMade = share.extend({
  token: text.describe("Told once: the link is /shared#TOKEN, the header of GET /api/shared is owl-share: TOKEN."),
});
export type ShareMade = z.infer<typeof shareMade>;

export const sharedConversation = z.object({
  title: text,
  by: text.describe("Who shares it."),
  forAnyone: z.boolean(),
  expiresAt: instant,
  turns: list(turn).describe("As far as it went when it was shared."),
  earlier: z.string().nullable().describe("To send as `before`; null: these are the first ones."),
});
export type SharedConversation = z.infer<typeof sharedConversation>;
