// A long block that still grows, in two: the part that no further text changes, and the rest. Invariant: both joined are
// what the parser makes of the whole, but for a list's distances between its items, which each part judges by itself.

import { isFenceOpen } from "../core/open-markdown.ts";
import type { Block, parseMarkdown, TopBlock } from "./tree.ts";

export interface Begun {
  readonly block: Block;
  /** Where it begins in the text. */
  readonly at: number;
  readonly headings: readonly number[];
  /** What has to stand before the rest, so that the parser reads it as a part of such a block. */
  readonly prefix: string;
}

/** A block is split from so many characters on; so many at its end may still change, and stay in the rest. */
const LONG = 8_000;
const REST = 4_000;
/** An item of a list on the first level. */
const ITEM = /^(?:[-*+]|\d{1,9}[.)])[ \t]/;

/** The two as one block; null: they are of different kinds. */
export function joinedBlocks(first: Block, rest: Block): Block | null {
  if (first.kind === "code" && rest.kind === "code") return { ...first, text: `${first.text}\n${rest.text}` };
  if (first.kind === "table" && rest.kind === "table") return { ...first, rows: [...first.rows, ...rest.rows] };
  if (first.kind === "list" && rest.kind === "list" && (first.start === null) === (rest.start === null)) {
    return { ...first, items: [...first.items, ...rest.items] };
  }
  return null;
}

interface Growing {
  readonly last: TopBlock | undefined;
  /** From where on it was parsed this time. */
  readonly from: number;
  readonly begun: Begun | null;
}

/** More of the last block that is settled, and to where; null: it is short, or has no place to be split at. */
export function settledPart(
  text: string,
  { last, from, begun }: Growing,
  parse: typeof parseMarkdown,
): { readonly begun: Begun; readonly settledTo: number } | null {
  if (!last) return null;
  const goesOn = begun?.at === last.at;
  const start = goesOn ? from : last.at;
  if (text.length - start < LONG) return null;
  const prefix = goesOn ? begun.prefix : prefixOf(last.block, text.slice(last.at));
  const border = prefix === null ? null : borderIn(last.block, text, start + (goesOn ? 0 : prefix.length));
  if (prefix === null || border === null) return null;
  const piece = (goesOn ? prefix : "") + text.slice(start, border);
  if (last.block.kind === "code" && !isFenceOpen(piece)) return null;
  const [part, ...others] = parse(piece);
  const block = part && goesOn ? joinedBlocks(begun.block, part.block) : part?.block;
  if (!block || block.kind !== last.block.kind || others.length > 0) return null;
  return { begun: { block, at: last.at, headings: last.headings, prefix }, settledTo: border };
}

/** null: such a block is not split. */
function prefixOf(block: Block, text: string): string | null {
  if (block.kind === "list") return "";
  const lines = block.kind === "code" ? 1 : block.kind === "table" ? 2 : 0;
  let end = 0;
  for (let n = 0; n < lines; n++) end = text.indexOf("\n", end) + 1;
  const prefix = text.slice(0, end);
  // Code by its indentation has no line of its own that begins it.
  if (end === 0 || (block.kind === "code" && !isFenceOpen(prefix))) return null;
  return prefix;
}

/** The last beginning of a line, or of a list's item, behind `after` that leaves enough to the rest. */
function borderIn(block: Block, text: string, after: number): number | null {
  const first = Math.max(after, 1);
  for (let end = text.lastIndexOf("\n", text.length - REST); end >= first; end = text.lastIndexOf("\n", end - 1)) {
    if (block.kind !== "list" || ITEM.test(text.slice(end + 1, end + 13))) return end + 1;
  }
  return null;
}
