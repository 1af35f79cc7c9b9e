// One-time passwords by time (RFC 6238: HMAC-SHA-1, six digits, thirty seconds), as every authenticator app knows them.
// Pure but for the hash. Invariant: whoever takes a code says for which step it was right, so that it is taken once.

import { createHmac, timingSafeEqual } from "node:crypto";

const STEP_S = 30;
const DIGITS = 6;
/** Clocks differ, and typing takes a while: the step before and the one after are right as well. */
const SLACK_STEPS = 1;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
export const SECRET_BYTES = 20;

/** The code of one step. */
function codeAt(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigInt64BE(BigInt(step));
  const digest = createHmac("sha1", secret).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 0xf;
  const number = (digest.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, "0");
}

/** The step that `code` is of, among those that are right at `nowMs`; null: it is wrong. */
export function stepOfCode(secret: Buffer, code: string, nowMs: number): number | null {
  const now = Math.floor(nowMs / 1_000 / STEP_S);
  const given = Buffer.from(code);
  let found: number | null = null;
  for (let step = now - SLACK_STEPS; step <= now + SLACK_STEPS; step++) {
    const right = Buffer.from(codeAt(secret, step));
    if (right.length === given.length && timingSafeEqual(right, given)) found ??= step;
  }
  return found;
}

/** What a person types where no camera is at hand. */
export function base32(bytes: Buffer): string {
  let [text, bits, held] = ["", 0, 0];
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32[(held >> (bits - 5)) & 31];
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + BASE32[(held << (5 - bits)) & 31];
}

/** What a QR code says to an authenticator app. */
export function otpAuthUri(secret: Buffer, account: string, host: string): string {
  const issuer = encodeURIComponent(`Owl (${host})`);
  return `otpauth://totp/${issuer}:${encodeURIComponent(account)}?secret=${base32(secret)}&issuer=${issuer}`;
}
