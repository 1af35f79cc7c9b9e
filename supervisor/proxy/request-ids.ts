// Request ids: version 4 UUIDs. Made in batches as one text each is cut from: an id costs next to nothing, and no
// string in pieces, which is what crypto.randomUUID returns.

import type { Random } from "../../config/time.ts";

const BATCH = 128;
const BYTES = 16;
const LETTERS = 36;
const DIGITS = Buffer.from("0123456789abcdef");
const DASH = 0x2d;

/** Returns a function that gives another id at each call. */
export function createRequestIds(random: Random): () => string {
  let text = "";
  let at = 0;
  return () => {
    if (at === text.length) {
      text = batchOf(Buffer.from(random.token(BATCH * BYTES), "base64url"));
      at = 0;
    }
    at += LETTERS;
    return text.substring(at - LETTERS, at);
  };
}

/** The bytes as ids, 16 each, one after the other. */
function batchOf(bytes: Buffer): string {
  const out = Buffer.alloc(BATCH * LETTERS);
  let to = 0;
  for (let from = 0; from < bytes.length; from++) {
    const position = from % BYTES;
    let byte = bytes[from] ?? 0;
    if (position === 6) byte = (byte & 0x0f) | 0x40;
    else if (position === 8) byte = (byte & 0x3f) | 0x80;
    if (position === 4 || position === 6 || position === 8 || position === 10) out[to++] = DASH;
    out[to++] = DIGITS[byte >> 4] ?? 0;
    out[to++] = DIGITS[byte & 15] ?? 0;
  }
  return out.toString("latin1");
}
