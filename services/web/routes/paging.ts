// Lists are `{items, next}`: `next` is an opaque mark to send back as `?next=`, null on the last page.

import { z } from "zod";
import { failure } from "../../core/wire/errors.ts";

/** Sort key and id: bounds of PostgreSQL's bigint and uuid, so that a forged mark is refused here and not there. */
const mark = z.tuple([z.string().regex(/^\d{1,18}$/), z.guid()]);

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
    return { limit, after: mark.parse(JSON.parse(Buffer.from(query.next, "base64url").toString())) };
  } catch {
    throw failure("page.invalid");
  }
}

export const beforeOf = (after: Page["after"]) => (after === null ? null : { cursor: after[0], id: after[1] });

interface PageRow {
  readonly cursor: string;
  readonly id: string;
  /** The rows before it fill a page already: it is on the next one. */
  readonly isOver?: boolean;
}

/** One page of a list by cursor, newest first: one row more than asked for tells whether there is a next one. */
export async function onePage<Row extends PageRow, Json>(
  query: { readonly limit?: string; readonly next?: string },
  list: (page: {
    readonly before: { readonly cursor: string; readonly id: string } | null;
    readonly limit: number;
  }) => Promise<readonly Row[]>,
  show: (row: Row) => Json,
): Promise<{ items: Json[]; next: string | null }> {
  const page = readPage(query);
  const before = beforeOf(page.after);
  const rows = await list({ before, limit: page.limit + 1 });
  const over = rows.findIndex(({ isOver }) => isOver);
  const items = rows.slice(0, over === -1 ? page.limit : Math.min(over, page.limit));
  const last = items.at(-1);
  return { items: items.map(show), next: rows.length > items.length && last ? cursorOf(last.cursor, last.id) : null };
}
