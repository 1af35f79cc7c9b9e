// Prompts: questions kept under a short name.

import { z } from "zod";
import { id, list, text } from "./parts.ts";

const name = text
  .max(40)
  .regex(/^[\p{L}\p{N}][\p{L}\p{N}_-]*$/u, "is not of letters, digits, - and _")
  .describe("What is typed after / in the composer.");

export const newPrompt = z
  .strictObject({
    name,
    text: text.min(1).max(8_000).regex(/\S/, "holds no text").describe("{{name}} is filled in where it is used."),
    shared: z.boolean().optional().describe("Everybody with an account may use it; only its owner changes it."),
  })
  .meta({ examples: [{ name: "month", text: "Sales of {{month}} by region, as a table.", shared: true }] });
export type NewPrompt = z.infer<typeof newPrompt>;

const listedPrompt = z.object({
  id,
  name: text,
  beginning: text.describe("Of its text."),
  shared: z.boolean(),
  own: z.boolean(),
  by: text.describe("Who wrote it."),
});
export const prompts = z.object({
  items: list(listedPrompt).describe("One's own, then those of the team, by name; at most 600."),
});
export type Prompts = z.infer<typeof prompts>;

export const prompt = listedPrompt.extend({ text });
export type Prompt = z.infer<typeof prompt>;
