// A turn as the API tells it, and its schema.

import type { TurnRow } from "../../db/turns.ts";

export const TEXT_LIMIT = 100_000;

export const idParams = {
  type: "object",
  required: ["id"],
  properties: { id: { type: "string", format: "uuid" } },
} as const;

export const attachmentSchema = {
  type: "object",
  required: ["id", "name", "bytes"],
  properties: {
    id: { type: "string", format: "uuid" },
    name: { type: "string" },
    bytes: { type: "integer", description: "Of the file as it was sent." },
  },
  examples: [{ id: "6f1c3f0e-8d0e-4f57-9a25-0c5b7a3f1d11", name: "sales.csv", bytes: 1834 }],
} as const;

export const turnSchema = {
  type: "object",
  additionalProperties: true,
  properties: {
    id: { type: "string" },
    conversationId: { type: "string" },
    state: { type: "string", enum: ["queued", "running", "answered", "stopped", "failed"] },
    text: { type: "string" },
    answer: { type: ["string", "null"], description: "The text so far; final once the turn has ended." },
    message: { type: ["string", "null"], description: "Why it failed." },
    position: { type: ["integer", "null"], description: "Queued turns before this one (at most 1,000 are counted)." },
    createdAt: { type: "string", format: "date-time" },
    endedAt: { type: ["string", "null"], format: "date-time" },
    lastEventId: { type: "string", description: "A stream resumed after it repeats nothing of `answer`." },
    stopRequested: { type: "boolean" },
    tools: { type: "array", items: { type: "object", additionalProperties: true } },
    attachments: { type: "array", items: attachmentSchema },
  },
} as const;

/** The wire form of a turn. */
export function turnJson(turn: TurnRow, position: number | null): Record<string, unknown> {
  return {
    id: turn.id,
    conversationId: turn.conversationId,
    state: turn.state,
    text: turn.text,
    answer: turn.answer,
    message: turn.message,
    position,
    createdAt: turn.createdAt.toISOString(),
    claimedAt: turn.claimedAt?.toISOString() ?? null,
    endedAt: turn.endedAt?.toISOString() ?? null,
    lastEventId: String(turn.seq),
    stopRequested: turn.stopRequested,
    tools: turn.tools,
    attachments: turn.attachments,
  };
}
