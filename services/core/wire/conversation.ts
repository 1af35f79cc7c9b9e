// A conversation, in lists and with its turns.

import { z } from "zod";
import { instructions } from "./assistant.ts";
import { id, instant, list, pageOf, pageQuery, text } from "./parts.ts";
import { turn, turnState } from "./turn.ts";

const folderName = text.max(60).regex(/^\S(.*\S)?$/su, "begins or ends with a blank, or holds no text");
const modelName = text.min(1).max(200).describe("One of the session's `models`; null: the usual one.");

export const conversation = z.object({
  id,
  title: text,
  model: text.nullable().describe("Which answers its questions; null: its assistant's, or the usual one."),
  assistant: z
    .object({ id, name: text, model: text.nullable() })
    .nullable()
    .describe("Which assistant answers; null: none."),
  folder: text.nullable().describe("The folder it lies in; null: in none."),
  pinned: z.boolean(),
  archived: z.boolean(),
  createdAt: instant,
  updatedAt: instant,
});
export type Conversation = z.infer<typeof conversation>;

const listedConversation = conversation.extend({
  turnState: turnState.nullable().describe("State of the newest turn."),
});

const foundConversation = listedConversation.extend({
  found: z
    .object({ turnId: id, text: text.describe("A passage of it around the words.") })
    .nullable()
    .describe("The newest turn that holds the words of a search; null: there was none, or only the title holds them."),
});
export type FoundConversation = z.infer<typeof foundConversation>;
export const conversationPage = pageOf(foundConversation).extend({
  folders: list(z.object({ name: text, count: z.int().describe("Of conversations, archived ones aside.") })).describe(
    "One's folders by name; at most 200.",
  ),
  complete: z
    .boolean()
    .describe("False: a search looked through the newest conversations only; `next` goes on with older ones."),
});

export type ConversationPage = z.infer<typeof conversationPage>;

export const conversationWithTurns = listedConversation.extend({
  instructions: text.describe("What the model is told in it alone."),
  turns: list(turn),
  earlier: z.string().nullable().describe("To send as `before`; null: these are the first ones."),
});
export type ConversationWithTurns = z.infer<typeof conversationWithTurns>;

export const conversationQuery = z.object({
  ...pageQuery,
  search: text.max(200).optional().describe("Looks into all folders."),
  folder: folderName.optional().describe("Those in it; absent: those in none."),
  archived: z.enum(["true", "false"]).optional(),
});
export const turnsQuery = z.object({ limit: pageQuery.limit, before: pageQuery.next });
export const exportQuery = z.object({
  format: z.enum(["markdown", "json"]),
  language: z.enum(["ko", "en"]).optional().describe("Of the headings in Markdown; absent: the installation's."),
});
export const newConversation = z
  .strictObject({
    title: text.max(200).optional(),
    model: modelName.nullable().optional(),
    assistantId: id.nullable().optional(),
    instructions: instructions.optional(),
    folder: folderName.optional(),
  })
  .nullish();
export const conversationChange = z
  .strictObject({
    title: text.min(1).max(200).optional(),
    pinned: z.boolean().optional(),
    archived: z.boolean().optional(),
    folder: folderName
      .nullable()
      .optional()
      .describe("Moves it there, a new one or one that is there; null: out of it."),
    model: modelName.nullable().optional(),
    assistantId: id.nullable().optional().describe("One's own, or one of the team; null: none."),
    instructions: instructions.optional().describe("What the model is told in this chat; empty: nothing more."),
    shows: id.optional().describe("A turn: its version is shown from now on, with what follows it."),
  })
  .refine((change) => Object.keys(change).length > 0, "names nothing to change");
