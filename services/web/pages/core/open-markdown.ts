// Markdown that is still being written: what would flicker is closed virtually or held back for a moment.
// Invariant: no frame of a growing answer shows a bare ``` or ** that the finished text does not show.

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** The text to show while more is coming. Of a finished text, show the text itself. */
export function closeOpenMarkdown(text: string): string {
  const lines = text.split("\n");
  const fence = openFence(lines);
  if (fence !== null) return withoutPartialFence(lines, fence);
  return closeParagraph(lines);
}

/** The fence that is open at the end of `lines` (its marker), or null. */
function openFence(lines: readonly string[]): string | null {
  let open: string | null = null;
  for (const [index, line] of lines.entries()) {
    const marker = FENCE.exec(line)?.[1];
    if (marker === undefined) continue;
    if (open === null) {
      // An opening line without its end may still become anything: it is held back below.
      if (index < lines.length - 1 && !(marker[0] === "`" && line.trim().slice(marker.length).includes("`"))) {
        open = marker;
      }
    } else if (marker[0] === open[0] && marker.length >= open.length && line.trim() === marker) {
      open = null;
    }
  }
  return open;
}

/** Inside a fence, a last line that may become its end is held back. */
function withoutPartialFence(lines: readonly string[], fence: string): string {
  const last = lines.at(-1) ?? "";
  const held = last.trim() !== "" && fence.startsWith(last.trim()) ? lines.slice(0, -1) : lines;
  return `${held.join("\n")}\n${fence}`;
}

function closeParagraph(lines: readonly string[]): string {
  const kept = [...lines];
  // A lone marker says nothing yet: `#`, `-`, `1.`, `>`, `---`, a fence without its line end.
  const last = kept.at(-1) ?? "";
  if (/^\s*(?:#{1,6}|[-*+=_]+|\d{1,9}[.)]?|>+|`{1,}[^`\n]*|~{1,}[^~\n]*|[-*+] \[[ x]?\]?)\s*$/.test(last)) {
    if (!/^\s*`{1,2}[^`\s]/.test(last)) kept.pop();
  }
  holdTableHead(kept);
  let start = kept.length;
  while (start > 0 && (kept[start - 1] ?? "").trim() !== "") start -= 1;
  const head = kept.slice(0, start);
  const open = kept.slice(start).join("\n");
  const closed = closeInline(open);
  return [...head, closed].join("\n");
}

/** A table's first line is shown only once its second line makes it a table; without one after a blank line it is text. */
function holdTableHead(lines: string[]): void {
  const isLineEnd = lines.at(-1)?.trim() === "";
  const end = isLineEnd ? lines.length - 1 : lines.length;
  let start = end;
  while (start > 0 && (lines[start - 1] ?? "").trimStart().startsWith("|")) start -= 1;
  const rows = lines.slice(start, end);
  if (rows.length === 0) return;
  const hasRuler = /^\s*\|?(?:\s*:?-+:?\s*\|)+\s*(?::?-*:?\s*)?$/.test(rows[1] ?? "");
  if (hasRuler && (rows.length > 2 || isLineEnd)) return;
  if (rows.length <= 2) lines.splice(start, lines.length - start);
}

/** Closes code, links, strong, emphasis and strike-through that the last paragraph opened. */
function closeInline(text: string): string {
  let out = text.replace(/!?\[(?:[^\]]*)$/, (found) => found.replace(/^!?\[/, ""));
  out = out.replace(/!?\[([^\]]*)\]\([^)\s]*$/, "$1").replace(/!?\[([^\]]*)\]$/, "$1");
  const stack: string[] = [];
  let at = 0;
  let openAt = 0;
  while (at < out.length) {
    const rest = out.slice(at);
    if (rest[0] === "\\") {
      at += 2;
      continue;
    }
    const run = /^(`+|\*+|~~|_+)/.exec(rest)?.[0];
    if (run === undefined) {
      at += 1;
      continue;
    }
    if (run.startsWith("`")) {
      const end = out.indexOf(run, at + run.length);
      if (end < 0) {
        const inner = out.slice(at + run.length);
        return inner.trim() === "" ? closeAll(out.slice(0, at), stack) : `${out}${run}${closers(stack)}`;
      }
      at = end + run.length;
      continue;
    }
    const before = out[at - 1] ?? " ";
    const after = out[at + run.length];
    const isWordJoint = run.startsWith("_") && /\w/.test(before) && after !== undefined && /\w/.test(after);
    if (!isWordJoint) {
      for (const marker of markersOf(run)) {
        if (stack.at(-1) === marker && !/\s/.test(before)) stack.pop();
        else if (after === undefined || !/\s/.test(after)) {
          stack.push(marker);
          openAt = at;
        }
      }
    }
    at += run.length;
  }
  if (stack.length === 0) return out;
  // A marker with nothing behind it yet is held back; `**bold*` lacks half of its end.
  const tail = /(?:\*+|_+|~+)$/.exec(out)?.[0];
  if (tail !== undefined && openAt === out.length - tail.length) return closeAll(out.slice(0, -tail.length), null);
  return closeAll(tail === undefined ? out : out.slice(0, -tail.length), null);
}

function markersOf(run: string): readonly string[] {
  if (run.startsWith("~")) return ["~~"];
  const mark = run[0] ?? "";
  const doubles = Math.floor(run.length / 2);
  return [...Array<string>(doubles).fill(mark + mark), ...(run.length % 2 === 1 ? [mark] : [])];
}

const closers = (stack: readonly string[]): string => [...stack].reverse().join("");

/** Drops white space at the end (a closer must touch its word) and closes what is open; `null`: count anew. */
function closeAll(text: string, stack: readonly string[] | null): string {
  const trimmed = text.trimEnd();
  if (stack !== null) return trimmed + closers(stack);
  const again = openMarkers(trimmed);
  return trimmed + closers(again);
}

function openMarkers(text: string): readonly string[] {
  const stack: string[] = [];
  const plain = text.replace(/\\./g, "  ").replace(/(`+)[^`]*?\1/g, (found) => "x".repeat(found.length));
  for (const match of plain.matchAll(/\*+|~~|_+/g)) {
    const before = plain[match.index - 1] ?? " ";
    const after = plain[match.index + match[0].length] ?? " ";
    if (match[0].startsWith("_") && /\w/.test(before) && /\w/.test(after)) continue;
    for (const marker of markersOf(match[0])) {
      if (stack.at(-1) === marker && !/\s/.test(before)) stack.pop();
      else if (!/\s/.test(after)) stack.push(marker);
    }
  }
  return stack;
}
