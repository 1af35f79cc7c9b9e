// An answer's blocks while it grows. Invariants: what stands two blocks before the end is parsed once, and of a long last
// block all but its end, so a delta costs neither the answer nor the block; the finished text is parsed whole, with all
// its references.

import { closeCutMarkdown, closeOpenMarkdown } from "../core/open-markdown.ts";
import { type Begun, joinedBlocks, settledPart } from "./long-block.ts";
import { parseMarkdown, type TopBlock } from "./tree.ts";

/** growing: more is coming. cut: it ended before its end. whole: it is what it was meant to be. */
export type Growth = "growing" | "cut" | "whole";

export interface ParsedMarkdown {
  readonly text: string;
  readonly growth: Growth;
  readonly blocks: readonly TopBlock[];
  /** How many of `blocks` no further text changes, and where the text behind them begins. */
  readonly settled: number;
  readonly settledTo: number;
  /** The part of the first block behind the settled ones that is parsed already; null: nothing of it. */
  readonly begun: Begun | null;
}

type Parse = typeof parseMarkdown;

/** The blocks of `text`; `before`: what was made of an earlier state of it. */
export function growMarkdown(
  before: ParsedMarkdown | null,
  text: string,
  growth: Growth,
  parse: Parse = parseMarkdown,
): ParsedMarkdown {
  if (before && before.text === text && before.growth === growth) return before;
  if (growth !== "growing") {
    const blocks = parse(growth === "cut" ? closeCutMarkdown(text) : text);
    return { text, growth, blocks, settled: 0, settledTo: 0, begun: null };
  }
  const goesOn = before?.growth === "growing" && text.startsWith(before.text);
  const kept = goesOn ? before.blocks.slice(0, before.settled) : [];
  const begun = goesOn ? before.begun : null;
  const from = goesOn ? before.settledTo : 0;
  const prefix = begun?.prefix ?? "";
  const tail = parse(closeOpenMarkdown(prefix + text.slice(from)), kept.at(-1)?.headings).map((one) => ({
    ...one,
    at: from - prefix.length + one.at,
  }));
  const joined = begun === null ? tail : withBegun(begun, tail);
  // It did not go on as it began: its block is parsed again.
  if (joined === null && goesOn && begun) {
    return growMarkdown({ ...before, begun: null, settledTo: begun.at }, text, growth, parse);
  }
  const blocks = [...kept, ...(joined ?? tail)];
  const part = settledPart(text, { last: blocks.at(-1), from, begun }, parse);
  if (part !== null) return { text, growth, blocks, settled: blocks.length - 1, ...part };
  // The last line may yet turn out to be a part of the block before the last.
  const settled = Math.max(kept.length, blocks.length - 2);
  if (settled === kept.length) return { text, growth, blocks, settled, settledTo: from, begun };
  return { text, growth, blocks, settled, settledTo: blocks[settled]?.at ?? from, begun: null };
}

/** What was parsed of a block before, with the rest of it; null: they are not of one block. */
function withBegun(begun: Begun, tail: readonly TopBlock[]): readonly TopBlock[] | null {
  const [first, ...rest] = tail;
  const block = first ? joinedBlocks(begun.block, first.block) : begun.block;
  if (block === null) return null;
  return [{ at: begun.at, block, headings: first?.headings ?? begun.headings }, ...rest];
}
