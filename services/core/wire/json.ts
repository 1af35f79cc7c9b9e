// JSON as it comes from outside. Pure. Invariant: what is let in can be stored (PostgreSQL takes neither NUL nor half a
// character) and walked by a recursive function; reading costs one pass.

import { failure } from "./errors.ts";

const DEPTH_LIMIT = 64;
/** Only an escape can bring in what cannot be stored: the text itself came as UTF-8. */
const SUSPECT = /\\u(?:0000|d[89a-f])/i;

/** The value of a JSON text. Throws `request.invalid`. */
export function readJson(text: string): unknown {
  // Before it is parsed: building half a million nested arrays takes a second.
  if (isDeep(text)) throw failure("request.invalid#deep");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw failure("request.invalid#json");
  }
  if (SUSPECT.test(text) && !isStorable(value)) throw failure("request.invalid#text", { field: "The body" });
  return value;
}

/** Can every text in `value`, which is not deep, be stored? */
export function isStorable(value: unknown): boolean {
  if (typeof value === "string") return !value.includes("\u0000") && value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Array.isArray(value) ? value.every(isStorable) : Object.entries(value).flat().every(isStorable);
}

/** As JSON that PostgreSQL's jsonb takes: without NUL and without halves of characters, in keys too. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  if (!SUSPECT.test(text)) return text;
  return JSON.stringify(value, (_key, one: unknown) => {
    if (typeof one === "string") return storableText(one);
    if (typeof one !== "object" || one === null || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).map(([key, held]) => [storableText(key), held]));
  });
}

export const storableText = (text: string): string => text.replaceAll("\u0000", "").toWellFormed();

/** Too many levels for a recursive function, or for the database. */
export function isDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const mark = text[at];
    if (mark === "[" || mark === "{") depth += 1;
    else if (mark === "]" || mark === "}") depth -= 1;
    else if (mark === '"') at = endOfString(text, at);
    if (depth > DEPTH_LIMIT) return true;
  }
  return false;
}

/** Where the string that begins at `start` ends: at the next quote behind an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
