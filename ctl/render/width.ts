// How many columns a text takes on a terminal: Hangul and other wide characters take two, colours none.

const ESC = "\u001b";
const ANSI = new RegExp(`(${ESC}\\[[0-9;?]*[A-Za-z])`, "g");

/** Columns of `text`. */
export function widthOf(text: string): number {
  let width = 0;
  for (const char of text.replace(ANSI, "")) width += charWidth(char.codePointAt(0) ?? 0);
  return width;
}

/** `text` filled with blanks to `width` columns. */
export function pad(text: string, width: number, side: "left" | "right" = "left"): string {
  const blanks = " ".repeat(Math.max(0, width - widthOf(text)));
  return side === "left" ? text + blanks : blanks + text;
}

/** `text` cut to `width` columns, colours kept and closed. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let out = "";
  let used = 0;
  for (const part of text.split(ANSI)) {
    if (part.startsWith(`${ESC}[`)) {
      out += part;
      continue;
    }
    for (const char of part) {
      const wide = charWidth(char.codePointAt(0) ?? 0);
      if (used + wide > width - 1) return `${out}…${text.includes(`${ESC}[`) ? `${ESC}[0m` : ""}`;
      out += char;
      used += wide;
    }
  }
  return out;
}

function charWidth(code: number): number {
  if (code < 32 || (code >= 0x7f && code < 0xa0)) return 0;
  const wide =
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1faff);
  return wide ? 2 : 1;
}
