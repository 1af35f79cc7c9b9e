// What people thought of answers.

import { z } from "zod";
import { count, id, instant, pageOf, pageQuery, text } from "./parts.ts";

const note = text.max(2_000);

export const feedback = z.object({ good: z.boolean(), note });
export const newFeedback = z
  .strictObject({ good: z.boolean(), note: note.optional() })
  .meta({ examples: [{ good: false, note: "The sum is without returns." }] });

const givenFeedback = feedback.extend({
  turnId: id,
  conversationId: id,
  own: z.boolean().describe("One's own chat: it can be opened."),
  account: text,
  at: instant,
  question: text.describe("Its first 2,000 characters."),
  answer: text.describe("Its first 8,000 characters."),
  model: text.nullable(),
  assistant: text.nullable().describe("That of the chat now."),
});
export const feedbackQuery = z.object({ ...pageQuery, good: z.enum(["true", "false"]).optional() });
export const feedbackPage = pageOf(givenFeedback).extend({
  counts: z.object({ good: count, bad: count, noted: count }).describe("Of all there is."),
});
export type FeedbackPage = z.infer<typeof feedbackPage>;
export type GivenFeedback = FeedbackPage["items"][number];
