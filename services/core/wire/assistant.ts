// Saved assistants, and what the model is told before every question.

import { z } from "zod";
import { CHAT_TOOLS } from "../assistant.ts";
import { id, instant, list, text } from "./parts.ts";

const STARTERS = 6;

const name = text.min(1).max(80).regex(/\S/, "holds no text");
/** Of an assistant, a chat, an account, or everyone. */
export const instructions = text.max(8_000);
const model = text.min(1).max(200).nullable().describe("One of the session's `models`; null: the usual one.");
const temperature = z.number().min(0).max(2).nullable().describe("null: the model's own.");
const tools = list(z.enum(CHAT_TOOLS)).nullable().describe("Those it may use; null: all of them.");
const dataSources = list(text.min(1).max(200)).nullable().describe("Those it may ask; null: all of them.");
const starters = list(text.min(1).max(300)).describe(`Questions to begin with, at most ${STARTERS}.`);
const shared = z.boolean().describe("Everybody with an account may choose it; only its owner changes it.");

export const newAssistant = z
  .strictObject({
    name,
    instructions,
    model: model.optional(),
    temperature: temperature.optional(),
    tools: tools.refine((names) => (names?.length ?? 0) <= CHAT_TOOLS.length, "name one twice").optional(),
    dataSources: dataSources.refine((names) => (names?.length ?? 0) <= 100, "are more than 100").optional(),
    starters: starters.refine((all) => all.length <= STARTERS, `are more than ${STARTERS}`).optional(),
    shared: shared.optional(),
  })
  .meta({ examples: [{ name: "Analyst", instructions: "Answer with a table and one sentence.", shared: true }] });
export type NewAssistant = z.infer<typeof newAssistant>;

const listedAssistant = z.object({
  id,
  name: text,
  model,
  starters,
  shared,
  own: z.boolean().describe("One's own: to be changed."),
  by: text.describe("Who made it."),
});
export const assistants = z.object({
  items: list(listedAssistant).describe("One's own, then those of the team, by name; at most 600."),
});
export type Assistants = z.infer<typeof assistants>;

export const assistant = listedAssistant.extend({
  instructions,
  temperature,
  tools,
  dataSources,
  createdAt: instant,
  updatedAt: instant,
});
export type Assistant = z.infer<typeof assistant>;

export const instructionsChange = z.strictObject({ text: instructions.describe("Empty: none.") });
export const givenInstructions = z.object({
  everyone: text.describe("What the model is told in all chats of the installation; administrators write it."),
  own: text.describe("What it is told in one's own chats."),
});
export type GivenInstructions = z.infer<typeof givenInstructions>;
