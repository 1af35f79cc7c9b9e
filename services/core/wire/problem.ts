// A failed request's answer: an RFC 9457 problem document, of the control API and the web API alike.

import { z } from "zod";

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string().describe("Stable: programs compare this."),
    detail: z.string(),
    next: z.string().optional(),
    data: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({
    examples: [
      {
        type: "urn:owl:problem:turn.running",
        title: "Conflict",
        status: 409,
        code: "turn.running",
        detail: "A turn of this conversation is still running.",
      },
    ],
  });
