// What the shapes of the web API are made of. One shape a resource lies beside this file: the routes' schemas, what a
// handler may answer and the pages' types all come from it. Names are fixed by interface.md: add, never rename.

import { z } from "zod";

export const id = z.guid();
export const count = z.int().min(0);
export const text = z.string();

/** A handler gives a Date or its text; whoever reads the JSON has the text. */
export const instant = z.string().meta({ format: "date-time" }) as unknown as z.ZodType<string, string | Date>;

export const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();

/** A page of a list; `next` is sent back for the page after it, null on the last one. */
export const pageOf = <Item extends z.ZodType>(item: Item) => z.object({ items: list(item), next: text.nullable() });

export const pageQuery = {
  limit: z
    .string()
    .regex(/^[0-9]{1,3}$/)
    .optional()
    .describe("Rows a page, 1 to 200 (50)."),
  next: z.string().max(300).optional().describe("The `next` of the page before."),
};

export const page = z.object(pageQuery);
export const withId = z.object({ id });

/** Answers without a body, and requests that need none. */
export const nothing = z.null();
export const emptyBody = z.strictObject({}).nullish();

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}
