// Markdown that is still being written: what would flicker is closed virtually or held back for a moment.
// Invariants: no frame of a growing answer shows a bare ``` or ** that the finished text does not show; each character
// is looked at a fixed number of times.

const FENCE = /^[ \t]*(`{3,}|~{3,})/;
const LONE_MARK = /^\s*(?:#{1,6}|[-*+=_]+|\d{1,9}[.)]?|>+|`{1,}[^`\n]*|~{1,}[^~\n]*|[-*+] \[[ x]?\]?)\s*$/;

/** The text to show while more is coming. */
export function closeOpenMarkdown(text: string): string {
  const lines = text.split("\n");
  const fence = openFence(lines);
  if (fence !== null) return withoutPartialFence(lines, fence);
  const last = lines.at(-1) ?? "";
  // A lone marker says nothing yet: `#`, `-`, `1.`, `>`, `---`, a fence without its line end.
  if (LONE_MARK.test(last) && !/^\s*`{1,2}[^`\s]/.test(last)) lines.pop();
  holdTableHead(lines);
  return closeLastParagraph(lines, true);
}

/** The text of an answer that ended before its end: nothing is held back, what is open is closed. */
export function closeCutMarkdown(text: string): string {
  const lines = text.split("\n");
  return openFence(lines) === null ? closeLastParagraph(lines, false) : text;
}

/** Whether a fence is open at the end of `text`. */
export const isFenceOpen = (text: string): boolean => openFence(text.split("\n")) !== null;

/** The fence that is open at the end of `lines` (its marker), or null. */
function openFence(lines: readonly string[]): string | null {
  let open: string | null = null;
  for (const [index, line] of lines.entries()) {
    const marker = FENCE.exec(line)?.[1];
    if (marker === undefined) continue;
    if (open === null) {
      // An opening line without its end may still become anything: it is held back above.
      if (index < lines.length - 1 && !(marker[0] === "`" && line.trim().slice(marker.length).includes("`"))) {
        open = marker;
      }
    } else if (marker[0] === open[0] && marker.length >= open.length && line.trim() === marker) {
      open = null;
    }
  }
  return open;
}

/** Inside a fence, a last line that may become its end is held back. The open fence itself ends with the text. */
function withoutPartialFence(lines: readonly string[], fence: string): string {
  const last = (lines.at(-1) ?? "").trim();
  return (last !== "" && fence.startsWith(last) ? lines.slice(0, -1) : lines).join("\n");
}

/** A table's first line is shown only once its second line makes it a table; without one after a blank line it is text. */
function holdTableHead(lines: string[]): void {
  const isLineEnd = lines.at(-1)?.trim() === "";
  const end = isLineEnd ? lines.length - 1 : lines.length;
  let start = end;
  while (start > 0 && (lines[start - 1] ?? "").trimStart().startsWith("|")) start -= 1;
  const rows = lines.slice(start, end);
  if (rows.length === 0 || rows.length > 2) return;
  if (isLineEnd && isRuler(rows[1] ?? "")) return;
  lines.splice(start, lines.length - start);
}

/** `|---|:--:|`: dashes between bars, and nothing else. */
const isRuler = (line: string): boolean => line.includes("-") && /^[\s|:-]+$/.test(line);

function closeLastParagraph(lines: readonly string[], hold: boolean): string {
  let start = lines.length;
  while (start > 0 && (lines[start - 1] ?? "").trim() !== "") start -= 1;
  return [...lines.slice(0, start), closeInline(lines.slice(start).join("\n"), hold)].join("\n");
}

/** Closes code, links, strong, emphasis and strike-through that `text` opened; a formula without its end is held back. */
function closeInline(text: string, hold: boolean): string {
  const codeEnds = endsOfCode(text);
  const marks: string[] = [];
  const brackets: number[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text[at] ?? "";
    const formula = char === "\\" || char === "$" ? formulaEnd(text, at) : null;
    if (formula !== null) {
      if (formula < 0 && hold) return closed(text.slice(0, at), marks);
      at = formula < 0 ? at + 2 : formula;
    } else if (char === "\\") at += 2;
    else if (char === "`") {
      const { end, length } = codeEnds.get(at) ?? { end: -1, length: 1 };
      if (end < 0) return closedCode(text, at, length, marks);
      at = end;
    } else if (char === "*" || char === "_" || (char === "~" && text[at + 1] === "~")) {
      const end = runEnd(text, at);
      // At the very end: the beginning of something, or half of an end that is closed below.
      if (end === text.length) return closed(dropOpenBracket(text.slice(0, at), brackets, hold), marks);
      noteMarks(marks, text, at, end);
      at = end;
    } else if (char === "[") {
      brackets.push(at);
      at += 1;
    } else if (char === "]") {
      const open = brackets.pop();
      const end = open === undefined || text[open + 1] === "^" ? at + 1 : linkEnd(text, at);
      if (end < 0 && open !== undefined) {
        const before = open > 0 && text[open - 1] === "!" ? open - 1 : open;
        return closed(text.slice(0, before) + text.slice(open + 1, at), marks);
      }
      at = end;
    } else at += 1;
  }
  return closed(dropOpenBracket(text, brackets, hold), marks);
}

/** Behind the formula that begins at `at`; -1: it has no end yet; null: none begins there. */
function formulaEnd(text: string, at: number): number | null {
  const opener = text.slice(at, at + 2);
  const closer = opener === "\\(" ? "\\)" : opener === "\\[" ? "\\]" : opener === "$$" ? "$$" : null;
  if (closer === null) return null;
  const end = text.indexOf(closer, at + 2);
  return end < 0 ? -1 : end + 2;
}

/** For each run of backticks: its length, and where the code it opens ends (-1: nowhere). One look from the end. */
function endsOfCode(text: string): ReadonlyMap<number, { readonly end: number; readonly length: number }> {
  const ends = new Map<number, { end: number; length: number }>();
  const nextOf = new Map<number, number>();
  let at = text.length - 1;
  while (at >= 0) {
    if (text[at] !== "`") {
      at -= 1;
      continue;
    }
    let start = at;
    while (start > 0 && text[start - 1] === "`") start -= 1;
    const length = at - start + 1;
    const next = nextOf.get(length);
    ends.set(start, { end: next === undefined ? -1 : next + length, length });
    nextOf.set(length, start);
    at = start - 1;
  }
  return ends;
}

/** `text`, whose code at `at` has no end, with one; code that holds nothing yet is left away. */
function closedCode(text: string, at: number, length: number, marks: readonly string[]): string {
  let end = text.length;
  while (end > at + length && text[end - 1] === "`") end -= 1;
  if (text.slice(at + length, end).trim() === "") return closed(text.slice(0, at), marks);
  return text.slice(0, end) + "`".repeat(length) + closers(marks);
}

/** Behind the link's address, when a link follows the `]` at `at`; -1: it has not come to its end. */
function linkEnd(text: string, at: number): number {
  if (at + 1 === text.length) return -1;
  if (text[at + 1] !== "(") return at + 1;
  for (let end = at + 2; end < text.length; end++) {
    if (text[end] === ")") return end + 1;
    if (text[end] === "\n") return end;
  }
  return -1;
}

function dropOpenBracket(text: string, brackets: readonly number[], hold: boolean): string {
  const open = brackets.at(-1);
  if (open === undefined || !hold) return text;
  const before = open > 0 && text[open - 1] === "!" ? open - 1 : open;
  return text.slice(0, before) + text.slice(open + 1);
}

function runEnd(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length && text[end] === text[at]) end += 1;
  return end;
}

/** Opens or closes what the run of marks at `at` does. */
function noteMarks(marks: string[], text: string, at: number, end: number): void {
  const [before, after] = [text[at - 1] ?? " ", text[end] ?? " "];
  const mark = text[at] ?? "";
  if (mark === "_" && /\w/.test(before) && /\w/.test(after)) return;
  for (const one of markersOf(mark, end - at)) {
    if (marks.at(-1) === one && !/\s/.test(before)) marks.pop();
    else if (!/\s/.test(after)) marks.push(one);
  }
}

function markersOf(mark: string, length: number): readonly string[] {
  if (mark === "~") return ["~~"];
  return [...Array<string>(Math.floor(length / 2)).fill(mark + mark), ...(length % 2 === 1 ? [mark] : [])];
}

const closers = (marks: readonly string[]): string => [...marks].reverse().join("");

/** Closes what is open; a closer must touch its word. */
const closed = (text: string, marks: readonly string[]): string =>
  marks.length === 0 ? text : text.trimEnd() + closers(marks);
