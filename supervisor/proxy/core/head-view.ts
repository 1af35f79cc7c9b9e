// A message head as text and positions: nothing is cut out of it before somebody needs it.
// Invariant: `spans` holds four numbers a header (name start, name end, value start, value end), ascending in `text`.

export interface HeadView {
  /** The head as latin1, at least up to the last value's end. */
  readonly text: string;
  readonly spans: readonly number[];
}

function headerCount(view: HeadView): number {
  return view.spans.length >> 2;
}

/** Name of the header at `index`, lower case. */
function lowerName(view: HeadView, index: number): string {
  return view.text.substring(view.spans[index * 4] ?? 0, view.spans[index * 4 + 1]).toLowerCase();
}

/** Value of the header at `index`, without white space around it. */
export function valueAt(view: HeadView, index: number): string {
  return view.text.substring(view.spans[index * 4 + 2] ?? 0, view.spans[index * 4 + 3]).trim();
}

/** Do the characters of `text` at `start` spell `lower` (lower case) in any case? Nothing is cut out for it. */
export function spells(text: string, start: number, lower: string): boolean {
  for (let at = 0; at < lower.length; at++) {
    const code = text.charCodeAt(start + at);
    const wanted = lower.charCodeAt(at);
    if (code !== wanted && (code + 32 !== wanted || code < 65 || code > 90)) return false;
  }
  return true;
}

/** First value of `name` (lower case), or null. */
export function findValue(view: HeadView, name: string): string | null {
  const { spans } = view;
  for (let index = 0; index * 4 < spans.length; index++) {
    const length = (spans[index * 4 + 1] ?? 0) - (spans[index * 4] ?? 0);
    if (length === name.length && spells(view.text, spans[index * 4] ?? 0, name)) return valueAt(view, index);
  }
  return null;
}

/** The header lines that are not in `dropped` (indexes, ascending), each with its CRLF, as they were received. */
export function keptLines(view: HeadView, dropped: readonly number[]): string {
  const { text, spans } = view;
  const count = spans.length >> 2;
  if (count === 0) return "";
  const endOfLast = spans[count * 4 - 1] ?? 0;
  let out = "";
  let from = 0;
  for (let at = 0; at <= dropped.length; at++) {
    const to = dropped[at] ?? count;
    if (to > from) {
      const start = spans[from * 4] ?? 0;
      out += to === count ? `${text.substring(start, endOfLast)}\r\n` : text.substring(start, spans[to * 4]);
    }
    from = to + 1;
  }
  return out;
}

/** Lower-case tokens of a comma-separated value. */
export function tokensOf(value: string): string[] {
  return value
    .split(",")
    .map((token) => token.trim().toLowerCase())
    .filter((token) => token !== "");
}

/** `dropped` and the headers named in `tokens` (never those of `keep`), ascending. */
export function alsoDropNamed(
  view: HeadView,
  dropped: readonly number[],
  tokens: readonly string[],
  keep: ReadonlySet<string>,
): number[] {
  const all = new Set(dropped);
  for (let index = 0; index < headerCount(view); index++) {
    const name = lowerName(view, index);
    if (tokens.includes(name) && !keep.has(name)) all.add(index);
  }
  return [...all].sort((a, b) => a - b);
}
