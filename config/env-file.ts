// Environment files (`envFile`). The dialect, whole:
// - one KEY=VALUE a line, an optional `export ` before it; blank lines; lines whose first character is # are comments,
//   and nothing in a comment ever counts;
// - an unquoted value is every byte after the = up to the line's end, blanks at both ends removed: %, $, \ and # are kept;
// - 'single quotes' keep every byte; "double quotes" know \" \\ \$ \` as sh does and keep any other backslash;
//   both may span lines; after the closing quote only blanks or a # comment may follow;
// - there is no expansion of any kind; a key given twice has its last value (said in a warning).

interface EnvFile {
  readonly values: Readonly<Record<string, string>>;
  readonly warnings: readonly EnvFileRemark[];
  readonly problems: readonly EnvFileRemark[];
}

interface EnvFileRemark {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

const KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Reads the text of an environment file. Never throws: what is wrong is in `problems`, with line and column from 1. */
export function parseEnvFile(source: string): EnvFile {
  const values: Record<string, string> = {};
  const firstLine = new Map<string, number>();
  const warnings: EnvFileRemark[] = [];
  const problems: EnvFileRemark[] = [];
  const text = source.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  let line = 1;
  for (let start = 0; start < text.length; ) {
    const end = endOfLine(text, start);
    const raw = text.slice(start, end);
    const entry = /^\s*(?:export\s+)?([^=\s#]+)[ \t]*=[ \t]*/.exec(raw);
    if (/^\s*(#|$)/.test(raw)) {
      start = end + 1;
      line += 1;
      continue;
    }
    if (entry === null || !KEY.test(entry[1] ?? "")) {
      problems.push({ line, column: raw.search(/\S/) + 1, message: "expected KEY=VALUE, a comment or a blank line" });
      start = end + 1;
      line += 1;
      continue;
    }
    const key = entry[1] ?? "";
    const column = entry[0].length + 1;
    const value = readValue(text, start + entry[0].length);
    if (typeof value === "string") {
      problems.push({ line, column, message: value });
      start = end + 1;
      line += 1;
      continue;
    }
    if (firstLine.has(key)) {
      warnings.push({
        line,
        column: 1,
        message: `${key} is given twice (first in line ${firstLine.get(key)}): the last one counts`,
      });
    }
    if (!value.quoted && /\s#/.test(value.text)) {
      warnings.push({
        line,
        column,
        message: `${key}: the # and what follows belong to the value, only whole lines are comments`,
      });
    }
    if (value.text.includes("\0"))
      problems.push({ line, column, message: `${key} holds a NUL byte, which no environment can` });
    values[key] = value.text;
    firstLine.set(key, line);
    line += text.slice(start, value.end).split("\n").length;
    start = value.end + 1;
  }
  return { values, warnings, problems };
}

/** The value starting at `from`, with the offset of its line's end; a sentence when it is malformed. */
function readValue(text: string, from: number): { text: string; end: number; quoted: boolean } | string {
  const quote = text[from];
  if (quote !== '"' && quote !== "'") {
    const end = endOfLine(text, from);
    return { text: text.slice(from, end).trim(), end, quoted: false };
  }
  let out = "";
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at] ?? "";
    const next = text[at + 1] ?? "";
    if (char === quote) {
      const end = endOfLine(text, at);
      const rest = text.slice(at + 1, end);
      return /^\s*(#.*)?$/.test(rest)
        ? { text: out, end, quoted: true }
        : "after the closing quote only a # comment may follow";
    }
    if (quote === '"' && char === "\\" && '"\\$`'.includes(next) && next !== "") {
      out += next;
      at += 1;
    } else {
      out += char;
    }
  }
  return `the quote ${quote} is never closed`;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}
