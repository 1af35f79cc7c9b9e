// What an office document says: text of the XML inside docx, pptx and xlsx files. Pure. Invariant: one pass over the XML,
// nothing nested is followed.

interface Mark {
  /** Its name without a prefix. */
  readonly name: string;
  readonly kind: "begin" | "end" | "empty";
  readonly attributes: string;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const decoded = (text: string): string =>
  text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,4});/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return ENTITIES[name] ?? whole;
    const code = name[1] === "x" || name[1] === "X" ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "";
  });

/** Marks and the texts between them, in their order. */
function* partsOf(xml: string): Generator<Mark | string> {
  for (let at = 0; at < xml.length; ) {
    const open = xml.indexOf("<", at);
    if (open < 0) return;
    if (open > at) yield xml.slice(at, open);
    const close = xml.indexOf(">", open);
    if (close < 0) return;
    at = close + 1;
    const inside = xml.slice(open + 1, close);
    if (inside[0] === "?" || inside[0] === "!") continue;
    const isEnd = inside[0] === "/";
    const isEmpty = inside.endsWith("/");
    const words = inside.slice(isEnd ? 1 : 0, isEmpty ? -1 : undefined);
    const space = words.search(/\s/);
    const full = space < 0 ? words : words.slice(0, space);
    const name = full.slice(full.indexOf(":") + 1);
    yield {
      name,
      kind: isEnd ? "end" : isEmpty ? "empty" : "begin",
      attributes: space < 0 ? "" : words.slice(space),
    };
  }
}

const attribute = (mark: Mark, name: string): string | null =>
  decoded(new RegExp(`\\s${name}="([^"]*)"`).exec(mark.attributes)?.[1] ?? "") || null;

/** Paragraphs of a document or a slide, a line each; cells of a table's row beside one another. */
export function paragraphsOf(xml: string): string {
  const said: string[] = [];
  // What was said since the last cell or row ended: no more than that is looked at again.
  let [row, cell, isSaid, cells] = ["", "", false, 0];
  for (const part of partsOf(xml)) {
    if (typeof part === "string") {
      if (isSaid) cell += decoded(part);
      continue;
    }
    const { name, kind } = part;
    if (name === "t") isSaid = kind === "begin";
    else if (name === "tc" && kind !== "empty") cells += kind === "begin" ? 1 : -1;
    if (name === "tab" && kind === "empty") cell += "\t";
    else if ((name === "br" || name === "cr") && kind !== "begin") cell += "\n";
    else if (name === "p" && kind === "end") cell += cells > 0 ? " " : "\n";
    else if (name === "tc" && kind === "end") [row, cell] = [`${row}${cell.trimEnd()}\t`, ""];
    else if (name === "tr" && kind === "end") {
      said.push(`${row}${cell}`.trimEnd(), "\n");
      [row, cell] = ["", ""];
    }
  }
  said.push(row, cell);
  return said
    .join("")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** The texts that cells of a workbook refer to by number. */
export function sharedTexts(xml: string): readonly string[] {
  const texts: string[] = [];
  let [text, isSaid, isPhonetic] = ["", false, false];
  for (const part of partsOf(xml)) {
    if (typeof part === "string") text += isSaid && !isPhonetic ? decoded(part) : "";
    else if (part.name === "t") isSaid = part.kind === "begin";
    else if (part.name === "rPh") isPhonetic = part.kind === "begin";
    else if (part.name === "si" && part.kind !== "begin") {
      texts.push(text);
      text = "";
    }
  }
  return texts;
}

const DATE_FORMATS = new Set([14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58]);

/** Does a figure's format name years or days, outside what it quotes? */
function isDayFormat(code: string): boolean {
  for (let at = 0; at < code.length; at++) {
    const mark = code[at] ?? "";
    if (mark === "\\") at += 1;
    else if (mark === '"' || mark === "[") {
      const end = code.indexOf(mark === "[" ? "]" : mark, at + 1);
      if (end < 0) return false;
      at = end;
    } else if ("yYdD".includes(mark)) return true;
  }
  return false;
}

/** Of a workbook's cell styles, by number: whose figures are days. */
export function dayStyles(xml: string): ReadonlySet<number> {
  const days = new Set(DATE_FORMATS);
  const found = new Set<number>();
  let [isCells, n] = [false, 0];
  for (const part of partsOf(xml)) {
    if (typeof part === "string") continue;
    if (part.name === "cellXfs") isCells = part.kind === "begin";
    if (part.name === "numFmt") {
      if (isDayFormat(attribute(part, "formatCode") ?? "")) days.add(Number(attribute(part, "numFmtId")));
    }
    if (!isCells || part.name !== "xf" || part.kind === "end") continue;
    if (days.has(Number(attribute(part, "numFmtId")))) found.add(n);
    n += 1;
  }
  return found;
}

/** Days since the end of 1899 as a date, with the time where there is one. */
function dayText(figure: number): string {
  const at = new Date(Math.round((figure - 25_569) * 86_400) * 1_000);
  if (Number.isNaN(at.getTime())) return String(figure);
  const text = at.toISOString();
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ");
}

const MOST_COLUMNS = 200;

/** The column of a cell named `AB12`, from 0. */
function columnOf(name: string | null): number | null {
  const letters = /^[A-Z]{1,3}/.exec(name ?? "")?.[0];
  if (letters === undefined) return null;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

const csvCell = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

interface Book {
  readonly texts: readonly string[];
  readonly days: ReadonlySet<number>;
}

/** A sheet's rows as lines of CSV; empty rows are left out, so are columns past the 200th. */
export function* sheetLines(xml: string, { texts, days }: Book): Generator<string> {
  let row: string[] = [];
  let cell: Mark | null = null;
  let [value, isSaid] = ["", false];
  for (const part of partsOf(xml)) {
    if (typeof part === "string") {
      if (isSaid) value += decoded(part);
      continue;
    }
    const { name, kind } = part;
    if (name === "row" && kind === "begin") row = [];
    else if (name === "row" && kind === "end" && row.some((one) => one !== "")) {
      yield Array.from(row, (one) => csvCell(one ?? "")).join(",");
    } else if (name === "c" && kind === "begin") {
      cell = part;
      value = "";
    } else if (name === "v" || name === "t") isSaid = kind === "begin";
    else if (name === "c" && kind === "end" && cell !== null) {
      const column = columnOf(attribute(cell, "r")) ?? row.length;
      if (column < MOST_COLUMNS) row[column] = cellText(cell, value, { texts, days });
      cell = null;
    }
  }
}

function cellText(cell: Mark, value: string, { texts, days }: Book): string {
  const type = attribute(cell, "t");
  if (type === "s") return texts[Number(value)] ?? "";
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  const isDay = type === null && value !== "" && days.has(Number(attribute(cell, "s") ?? -1));
  return isDay ? dayText(Number(value)) : value;
}

/** Names of a workbook's sheets, in their order. */
export function sheetNames(xml: string): readonly string[] {
  const names: string[] = [];
  for (const part of partsOf(xml)) {
    if (typeof part !== "string" && part.name === "sheet" && part.kind !== "end") {
      names.push(attribute(part, "name") ?? "");
    }
  }
  return names;
}
