// Reads the beginning of a CSV or TSV text. Pure: text in, columns, first rows and the number of rows out.

interface Delimited {
  readonly columns: readonly string[];
  /** The first rows after the columns' names. */
  readonly rows: readonly (readonly string[])[];
  /** All rows after the columns' names. */
  readonly count: number;
}

const DELIMITERS = [",", "\t", ";"] as const;

/** The table in a file of that name; null when it is none: another ending, or a first line of one column only. */
export function readDelimited(name: string, text: string, shownRows: number): Delimited | null {
  if (!/\.(csv|tsv|tab)$/i.test(name)) return null;
  const head = text.slice(0, 10_000);
  const widths = DELIMITERS.map((delimiter) => recordsOf(head, delimiter).next().value?.length ?? 0);
  const delimiter = DELIMITERS[widths.indexOf(Math.max(...widths))] ?? ",";
  let columns: readonly string[] | null = null;
  const rows: (readonly string[])[] = [];
  let count = 0;
  for (const record of recordsOf(text, delimiter)) {
    // An empty line is no row.
    if (record.length === 1 && record[0] === "") continue;
    if (columns === null) {
      columns = record;
      continue;
    }
    count += 1;
    if (rows.length < shownRows) rows.push(record);
  }
  return columns === null ? null : { columns, rows, count };
}

/** Records of the text; a quoted cell may hold delimiters, line ends and doubled quotes. */
function* recordsOf(text: string, delimiter: string): Generator<readonly string[], undefined> {
  let record: string[] = [];
  let at = 0;
  while (at <= text.length) {
    const { cell, end } = text[at] === '"' ? quotedCell(text, at, delimiter) : plainCell(text, at, delimiter);
    record.push(cell);
    at = end + 1;
    if (text[end] === delimiter) continue;
    if (text[end] === "\r" && text[end + 1] === "\n") at += 1;
    yield record;
    record = [];
    if (at >= text.length) return;
  }
}

interface Cell {
  readonly cell: string;
  /** Where the delimiter or line end after it stands. */
  readonly end: number;
}

function plainCell(text: string, from: number, delimiter: string): Cell {
  let end = from;
  while (end < text.length && text[end] !== delimiter && text[end] !== "\n" && text[end] !== "\r") end += 1;
  return { cell: text.slice(from, end), end };
}

function quotedCell(text: string, from: number, delimiter: string): Cell {
  let at = from + 1;
  let cell = "";
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return { cell: cell + text.slice(at), end: text.length };
    cell += text.slice(at, quote);
    at = quote + 1;
    if (text[at] !== '"') break;
    cell += '"';
    at += 1;
  }
  // What stands between the closing quote and the delimiter belongs to the cell, as spreadsheets read it.
  const rest = plainCell(text, at, delimiter);
  return { cell: cell + rest.cell, end: rest.end };
}
