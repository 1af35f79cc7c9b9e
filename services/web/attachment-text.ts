// What an attached file says: bytes into text, judged by the content alone, and a name that may be shown anywhere.

import { analyse } from "chardet";
import iconv from "iconv-lite";
import type { TextEncoding } from "../core/text-encodings.ts";

const NAME_LIMIT = 120;
const ENDING_LIMIT = 12;

/** More of a file tells the guess nothing new. */
const SAMPLE_BYTES = 65_536;
/** Below this the guess knows nothing: Korean is what an older file here is written in. */
const SURE = 30;

/** What the guesser says of bytes that break no rule, and of which it knows nothing else. */
const UNKNOWN = 10;

/** Encodings that a guess may name, by the guesser's names for them. */
const GUESSES: ReadonlyMap<string, TextEncoding> = new Map([
  ["EUC-KR", "CP949"],
  ["Shift_JIS", "Shift_JIS"],
  ["EUC-JP", "EUC-JP"],
  ["GB18030", "GB18030"],
  ["Big5", "Big5"],
  ["windows-1251", "Windows-1251"],
  ["ISO-8859-1", "Windows-1252"],
  ["ISO-8859-2", "Windows-1252"],
  ["ISO-8859-9", "Windows-1252"],
  ["windows-1252", "Windows-1252"],
  ["windows-1257", "Windows-1252"],
]);

interface ReadText {
  readonly text: string;
  readonly encoding: TextEncoding;
}

/**
 * The text of a file, and how it was read: UTF-8 or UTF-16 when it is that without a doubt, else what its bytes look most
 * like, else CP949. `asked`: read so and not otherwise. Null: it is no text, or none in that encoding.
 */
export function readText(bytes: Uint8Array, asked?: TextEncoding): ReadText | null {
  for (const encoding of asked === undefined ? likely(bytes) : [asked]) {
    const text = decode(bytes, encoding);
    if (text !== null) return { text, encoding };
  }
  return null;
}

/** The encodings worth trying, the likeliest first. */
function* likely(bytes: Uint8Array): Generator<TextEncoding> {
  yield hasWideMark(bytes) ? "UTF-16" : "UTF-8";
  if (hasWideMark(bytes)) return;
  const guesses = analyse(bytes.subarray(0, SAMPLE_BYTES)).flatMap(({ name, confidence }) => {
    const encoding = GUESSES.get(name);
    return encoding === undefined || confidence <= UNKNOWN ? [] : [{ encoding, confidence }];
  });
  const isWide = (encoding: TextEncoding) => !encoding.startsWith("Windows");
  const sure = guesses.filter(({ encoding, confidence }) => confidence >= SURE && isWide(encoding));
  // CP949 has pairs that the guesser does not know: only a sure guess stands before it.
  yield* sure.map(({ encoding }) => encoding);
  yield "CP949";
  yield* guesses.map(({ encoding }) => encoding);
}

const hasWideMark = ([first, second]: Uint8Array): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);

function decode(bytes: Uint8Array, encoding: TextEncoding): string | null {
  const text = encoding.startsWith("UTF") ? decodeUnicode(bytes, encoding) : iconv.decode(bytes, encoding);
  if (text === null || text.includes("\u0000") || (!encoding.startsWith("UTF") && text.includes("\ufffd"))) return null;
  // Every byte means something there: only what no writer types tells a picture from a text.
  if (encoding.startsWith("Windows") && /[^\P{Cc}\s]/u.test(text)) return null;
  return text;
}

function decodeUnicode(bytes: Uint8Array, encoding: TextEncoding): string | null {
  const name = encoding === "UTF-8" ? "utf-8" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-16le";
  try {
    return new TextDecoder(name, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The last part of a path, in one form of Unicode, without what does not print, with a bound; never empty. */
export function attachedName(raw: string | undefined): string {
  const last = (raw ?? "").split(/[/\\]/).at(-1) ?? "";
  // Controls, marks of direction and halves of characters: a name with them reads as another one.
  const clean = last
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "")
    .trim();
  if (clean === "" || /^\.+$/.test(clean)) return "file.txt";
  const characters = [...clean];
  if (characters.length <= NAME_LIMIT) return clean;
  const ending = /\.[^.]+$/.exec(clean)?.[0] ?? "";
  const kept = ending.length <= ENDING_LIMIT ? ending : "";
  return characters.slice(0, NAME_LIMIT - kept.length).join("") + kept;
}
