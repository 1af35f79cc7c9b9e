// Lists are `{items, next}`: `next` is an opaque mark to send back as `?next=`, null on the last page.

import { OwlError } from "../../../config/errors.ts";

export const pageQuery = {
  limit: { type: "string", pattern: "^[0-9]{1,3}$", description: "Rows a page, 1 to 200 (50)." },
  next: { type: "string", maxLength: 300 },
} as const;

interface Page {
  readonly limit: number;
  /** Sort key and id of the last row of the page before; null on the first page. */
  readonly after: readonly [string, string] | null;
}

/** The mark of the page after the row with this sort key and id. */
export function cursorOf(key: string | number, id: string): string {
  return Buffer.from(JSON.stringify([String(key), id])).toString("base64url");
}

/** Reads `limit` and `next`; throws `page.invalid` for a mark that is none of ours. */
export function readPage(query: { readonly limit?: string; readonly next?: string }): Page {
  const limit = Math.min(200, Math.max(1, Number(query.limit ?? 50)));
  if (query.next === undefined) return { limit, after: null };
  try {
    const mark: unknown = JSON.parse(Buffer.from(query.next, "base64url").toString());
    if (Array.isArray(mark) && /^-?\d{1,19}$/.test(mark[0]) && /^[0-9a-f-]{36}$/.test(mark[1])) {
      return { limit, after: [mark[0], mark[1]] };
    }
  } catch {
    // Falls through to the one refusal below.
  }
  throw new OwlError("page.invalid", "The page mark `next` is not one of ours.");
}

/** One page of a list by cursor, newest first: one row more than asked for tells whether there is a next one. */
export async function onePage<Row extends { readonly cursor: string; readonly id: string }, Json>(
  query: { readonly limit?: string; readonly next?: string },
  list: (page: {
    readonly before: { readonly cursor: string; readonly id: string } | null;
    readonly limit: number;
  }) => Promise<readonly Row[]>,
  show: (row: Row) => Json,
): Promise<{ items: Json[]; next: string | null }> {
  const page = readPage(query);
  const before = page.after ? { cursor: page.after[0], id: page.after[1] } : null;
  const rows = await list({ before, limit: page.limit + 1 });
  const items = rows.slice(0, page.limit);
  const last = items.at(-1);
  return { items: items.map(show), next: rows.length > page.limit && last ? cursorOf(last.cursor, last.id) : null };
}
