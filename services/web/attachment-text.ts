// What an attached file says: bytes into text, judged by the content alone, and a name that may be shown anywhere.

import iconv from "iconv-lite";

const NAME_LIMIT = 120;
const ENDING_LIMIT = 12;

/** The text of a file: UTF-8 (with or without a mark), UTF-16 with a mark, else CP949. Null: it is no text. */
export function decodeText(bytes: Uint8Array): string | null {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  const text = decodeStrictly(encoding, bytes) ?? (encoding === "utf-8" ? decodeCp949(bytes) : null);
  return text === null || text.includes("\u0000") ? null : text;
}

/** Korean text as older Windows programs write it (what Excel exports CSV in), or null where a byte belongs to none. */
function decodeCp949(bytes: Uint8Array): string | null {
  const text = iconv.decode(bytes, "cp949");
  return text.includes("\ufffd") ? null : text;
}

function decodeStrictly(encoding: string, bytes: Uint8Array): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
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
