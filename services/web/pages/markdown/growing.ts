// An answer's blocks while it grows. Invariants: what stands two blocks before the end is parsed once, so a delta costs
// the last two blocks and not the answer; the finished text is parsed whole, with all its references.

import { closeCutMarkdown, closeOpenMarkdown } from "../core/open-markdown.ts";
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
    return { text, growth, blocks, settled: 0, settledTo: 0 };
  }
  const goesOn = before?.growth === "growing" && text.startsWith(before.text);
  const kept = goesOn ? before.blocks.slice(0, before.settled) : [];
  const from = goesOn ? before.settledTo : 0;
  const tail = parse(closeOpenMarkdown(text.slice(from)), kept.at(-1)?.headings);
  const blocks = [...kept, ...tail.map((one) => ({ ...one, at: from + one.at }))];
  // The last line may yet turn out to be a part of the block before the last.
  const settled = Math.max(kept.length, blocks.length - 2);
  const settledTo = settled > kept.length ? (blocks[settled]?.at ?? from) : from;
  return { text, growth, blocks, settled, settledTo };
}
