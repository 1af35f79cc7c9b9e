// Pieces of response schemas that several resources share.

/** A list `{items, next}`. */
export const listOf = (items: object) =>
  ({
    type: "object",
    properties: { items: { type: "array", items }, next: { type: ["string", "null"] } },
  }) as const;

/** An object whose fields are told in the description alone. */
export const loose = { type: "object", additionalProperties: true } as const;

export const problem = { $ref: "Problem#" } as const;
