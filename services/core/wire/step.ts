// A step that is to be allowed, or whose outcome is not known, and its owner's word on it.

import { z } from "zod";
import { STEP_ANSWERS } from "../journal.ts";
import { count, id, instant, list, text } from "./parts.ts";

const argumentHash = text.nullable().describe("Of the input: an answer names it, so that it is about this very call.");

/** What a turn or a run that is `waiting` waits for. */
export const askedStep = z
  .object({
    n: count.describe("Its place in the journal, from 0."),
    id: text,
    name: text.describe("The tool's."),
    input: z.unknown(),
    argumentHash,
    asks: z.enum(["approval", "outcome"]).describe("Whether it may be called, or whether it took effect."),
    startedAt: instant,
  })
  .meta({
    examples: [
      {
        n: 2,
        id: "mail",
        name: "mail",
        input: { to: "team@example.org", subject: "Late orders", text: "There are 12." },
        argumentHash: "m0t2cBGT8ZvS3Wl4H7cZ2o9k9mSlwQy3kqS1b2pVx1E",
        asks: "outcome",
        startedAt: "2026-03-02T09:00:07.000Z",
      },
    ],
  });
export type AskedStep = z.infer<typeof askedStep>;

/** How a turn was answered: its steps as they are on record. */
export const receipt = z.object({
  attempts: count.describe("More than one: it was interrupted, handed over or waited, and went on."),
  losses: count.describe("Workers lost under it."),
  used: z
    .object({ inputTokens: z.number(), outputTokens: z.number(), cost: z.number() })
    .nullable()
    .describe("Of models with a price."),
  steps: list(
    z.object({
      n: count,
      kind: z.enum(["model", "tool"]),
      name: text,
      state: z.enum(["asked", "started", "finished", "failed", "unknown"]),
      attempt: count.describe("The one that took it last; 0: taken over from the answer it was asked again from."),
      release: text.nullable().describe("Which took it last."),
      input: z.unknown().describe("A tool's arguments; a model's name."),
      rows: count.nullable(),
      message: text.nullable(),
      startedAt: instant,
      endedAt: instant.nullable(),
    }),
  ),
});
export type Receipt = z.infer<typeof receipt>;

export const stepParams = z.object({ id, n: z.coerce.number().int().min(0).max(1_000_000) });

export const stepAnswer = z
  .strictObject({
    answer: z
      .enum(STEP_ANSWERS)
      .describe(
        "Of a call to be allowed `allow` or `refuse`; of one whose outcome is not known `happened`: it took effect, `again`: call it once more, `stop`: end the whole here.",
      ),
    name: text.max(200).describe("As the step is told."),
    argumentHash: text.max(100).nullable(),
  })
  .meta({
    examples: [{ answer: "happened", name: "mail", argumentHash: "m0t2cBGT8ZvS3Wl4H7cZ2o9k9mSlwQy3kqS1b2pVx1E" }],
  });
