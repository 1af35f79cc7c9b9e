// Footnotes for the Markdown parser: `[^a]` in a text, `[^a]: …` on lines of its own. A note is known by its own label,
// so that no number changes while an answer grows.

import type { MarkdownIt, StateBlock, StateInline } from "markdown-it";

const LABEL_LIMIT = 60;

export function useNotes(parser: MarkdownIt): void {
  parser.block.ruler.before("reference", "note", noteBlock, { alt: ["paragraph", "reference"] });
  parser.inline.ruler.before("link", "note_mark", noteMark);
}

/** The label of `[^label]` at `at`, or null. */
function labelAt(text: string, at: number): string | null {
  if (text[at] !== "[" || text[at + 1] !== "^") return null;
  const piece = text.slice(at + 2, at + 3 + LABEL_LIMIT);
  const end = piece.indexOf("]");
  if (end <= 0) return null;
  const label = piece.slice(0, end);
  return /[\s[^]/.test(label) ? null : label;
}

/** From `[^label]:` to the next blank line or note; lines that stand in by four belong to it too. */
function noteBlock(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  // No note within a note: depth would have no bound.
  if (state.env.isNote || state.level > 0 || (state.sCount[startLine] ?? 0) >= 4) return false;
  const label = labelAt(state.src, textStart(state, startLine));
  if (label === null || state.src[textStart(state, startLine) + label.length + 3] !== ":") return false;
  if (silent) return true;
  const lines = [state.src.slice(textStart(state, startLine) + label.length + 4, state.eMarks[startLine]).trim()];
  let line = startLine + 1;
  for (; line < endLine; line++) {
    const isIndented = (state.sCount[line] ?? 0) >= 4;
    if (state.isEmpty(line)) {
      if (line + 1 >= endLine || (state.sCount[line + 1] ?? 0) < 4) break;
      lines.push("");
    } else if (!isIndented && (lines.at(-1) === "" || definesAt(state, line))) break;
    else lines.push(state.getLines(line, line + 1, isIndented ? 4 : 0, false));
  }
  const token = state.push("note", "", 0);
  token.meta = { label, text: lines.join("\n").trim() };
  token.map = [startLine, line];
  state.line = line;
  return true;
}

/** Another note, or the address of a link. */
function definesAt(state: StateBlock, line: number): boolean {
  const start = textStart(state, line);
  return state.src[start] === "[" && state.src.slice(start, state.eMarks[line]).includes("]:");
}

const textStart = (state: StateBlock, line: number): number => (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);

function noteMark(state: StateInline, silent: boolean): boolean {
  const label = labelAt(state.src, state.pos);
  if (label === null) return false;
  if (!silent) state.push("note_mark", "", 0).content = label;
  state.pos += label.length + 3;
  return true;
}
