// A turn and the files that go with its question.

import { z } from "zod";
import { TEXT_ENCODINGS } from "../text-encodings.ts";
import type { TurnState } from "../turn.ts";
import { feedback } from "./feedback.ts";
import { count, id, instant, list, text } from "./parts.ts";
import { askedStep } from "./step.ts";

const TEXT_LIMIT = 100_000;
const ATTACHMENTS_A_QUESTION = 5;
export const VERSIONS_A_QUESTION = 100;
/** The page refuses the sixth before it is sent; it has the figure by its type, without this file. */
export type AttachmentsAQuestion = typeof ATTACHMENTS_A_QUESTION;

const EXAMPLE_FILE = { id: "6f1c3f0e-8d0e-4f57-9a25-0c5b7a3f1d11", name: "sales.csv", bytes: 1834 };

const attachment = z
  .object({
    id,
    name: text,
    bytes: count.describe("Of the file as it was sent."),
    image: z.object({ width: count, height: count }).optional().describe("Of an image, in pixels; absent: it is text."),
  })
  .meta({ examples: [EXAMPLE_FILE] });
export type Attachment = z.infer<typeof attachment>;
export const attachedFile = attachment.extend({
  encoding: z.enum(TEXT_ENCODINGS).optional().describe("How its bytes were read; absent: it is an image."),
});
export type AttachedFile = z.infer<typeof attachedFile>;

export const turnState = z.enum([
  "queued",
  "running",
  "waiting",
  "answered",
  "stopped",
  "failed",
] satisfies readonly TurnState[]);

export const turn = z.object({
  id,
  conversationId: id,
  state: turnState,
  text,
  answer: text.nullable().describe("The text so far; final once the turn has ended."),
  message: text.nullable().describe("Why it failed."),
  position: count.nullable().describe("Queued turns before this one (at most 1,000 are counted)."),
  createdAt: instant,
  claimedAt: instant.nullable(),
  endedAt: instant.nullable(),
  lastEventId: text.describe("A stream resumed after it repeats nothing of `answer`."),
  stopRequested: z.boolean(),
  tools: list(z.record(z.string(), z.unknown())),
  attachments: list(attachment),
  waitsFor: list(askedStep).describe(
    "While `waiting`: calls to be allowed, or whose outcome is not known; their owner answers.",
  ),
  feedback: feedback.nullable().describe("What its owner thought of the answer."),
  versions: list(id).describe("All versions of it, this one too, oldest first; empty: it is the only one."),
});
export type Turn = z.infer<typeof turn>;

export const question = z
  .strictObject({
    text: text.min(1).max(TEXT_LIMIT).regex(/\S/, "holds no text"),
    attachments: list(id)
      .refine((ids) => ids.length <= ATTACHMENTS_A_QUESTION, `are more than ${ATTACHMENTS_A_QUESTION}`)
      .refine((ids) => new Set(ids).size === ids.length, "name one twice")
      .optional()
      .describe("Ids of POST /api/attachments, or of one's earlier questions (those are copied)."),
    versionOf: id.optional().describe("A turn of the conversation: this is another version of it."),
  })
  .meta({
    examples: [{ text: "SELECT 6 * 7 AS answer" }, { text: "What is in this file?", attachments: [EXAMPLE_FILE.id] }],
  });
export const turnAccepted = z.object({ turnId: id });
export type TurnAccepted = z.infer<typeof turnAccepted>;

export const turnForked = turnAccepted.extend({ conversationId: id.describe("A new one.") });
export type TurnForked = z.infer<typeof turnForked>;

/** `lastEventId` is for a first connection that has a snapshot already. */
export const turnEventsQuery = z.object({
  lastEventId: text.regex(/^[0-9]{1,9}$/).optional(),
});
export const fileNameQuery = z.object({
  name: text
    .max(1_000)
    .optional()
    .meta({ examples: ["sales.csv"] }),
});
export const attachmentQuery = fileNameQuery.extend({
  encoding: z.enum(TEXT_ENCODINGS).optional().describe("Read it so; absent: as it looks."),
});
