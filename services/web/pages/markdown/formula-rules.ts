// Formulas for the Markdown parser: $$…$$, \[…\], \(…\) and $…$ reach the reader as they were written, whatever Markdown
// would make of their marks. Invariant: a search that found no end is not made again from a later place.

import type { MarkdownIt, StateBlock, StateInline } from "markdown-it";

const DOLLAR = 0x24;
const BACKSLASH = 0x5c;

export function useFormulas(parser: MarkdownIt): void {
  parser.block.ruler.before("fence", "formula", formulaBlock, {
    alt: ["paragraph", "reference", "blockquote", "list"],
  });
  parser.inline.ruler.before("escape", "formula", formulaInline);
}

/** A formula on lines of its own, from `$$` or `\[` to the line that ends with its like; no blank line within. */
function formulaBlock(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if (state.sCount[startLine] === undefined || state.sCount[startLine] - state.blkIndent >= 4) return false;
  const first = lineOf(state, startLine);
  const closer = first.startsWith("$$") ? "$$" : first.startsWith("\\[") ? "\\]" : null;
  if (closer === null) return false;
  const key = `formula${closer}`;
  const searched = Number(state.env[key] ?? -1);
  if (startLine < searched) return false;
  for (let line = startLine; line < endLine; line++) {
    const text = (line === startLine ? first.slice(2) : lineOf(state, line)).trimEnd();
    if ((text === "" && line > startLine) || (state.sCount[line] ?? 0) < state.blkIndent) {
      state.env[key] = line;
      return false;
    }
    const end = text.indexOf(closer);
    if (end < 0) continue;
    // Words behind its end: then it is a formula within a sentence.
    if (end !== text.length - 2) return false;
    if (silent) return true;
    const lines = [first.slice(2)];
    for (let between = startLine + 1; between <= line; between++) lines.push(lineOf(state, between));
    const source = lines.join("\n").trimEnd();
    const token = state.push("formula_block", "", 0);
    token.content = source.slice(0, -2).trim();
    token.map = [startLine, line + 1];
    state.line = line + 1;
    return true;
  }
  state.env[key] = endLine;
  return false;
}

const lineOf = (state: StateBlock, line: number): string =>
  state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]);

function formulaInline(state: StateInline, silent: boolean): boolean {
  const { src, pos } = state;
  const code = src.charCodeAt(pos);
  if (code !== DOLLAR && code !== BACKSLASH) return false;
  const opener = src.slice(pos, pos + 2);
  const closer = opener === "\\(" ? "\\)" : opener === "\\[" ? "\\]" : opener === "$$" ? "$$" : null;
  if (closer === null) return code === DOLLAR && dollar(state, silent);
  const none = state.cache as Record<string, number>;
  if (none[closer] !== undefined) return false;
  const end = src.indexOf(closer, pos + 2);
  if (end < 0) {
    none[closer] = pos;
    return false;
  }
  return take(state, silent, src.slice(pos + 2, end), end + 2, closer !== "\\)");
}

/** `$x$` within a line: no space inside its marks, no digit behind them, so that prices stay prices. */
function dollar(state: StateInline, silent: boolean): boolean {
  const { src, pos, posMax } = state;
  let end = pos + 1;
  while (end < posMax && src.charCodeAt(end) !== DOLLAR) {
    if (src[end] === "\n") return false;
    end += src.charCodeAt(end) === BACKSLASH ? 2 : 1;
  }
  if (end >= posMax || end === pos + 1) return false;
  const [first, last, after] = [src[pos + 1] ?? " ", src[end - 1] ?? " ", src[end + 1] ?? " "];
  if (first === " " || last === " " || (after >= "0" && after <= "9")) return false;
  return take(state, silent, src.slice(pos + 1, end), end + 1, false);
}

function take(state: StateInline, silent: boolean, source: string, end: number, isDisplay: boolean): boolean {
  if (source.trim() === "") return false;
  if (!silent) {
    const token = state.push("formula", "", 0);
    token.content = source.trim();
    token.meta = { isDisplay };
  }
  state.pos = end;
  return true;
}
