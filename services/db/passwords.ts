// Password hashes: scrypt with a salt of their own, the parameters kept in the hash, so that older ones are still known.

import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";

/** One of OWASP's equal figures for scrypt: that of 32 MiB, since the first one's 128 would be most of a web's memory. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 3 } as const;

function derive(password: string, salt: Buffer, bytes: number, options: ScryptOptions): Promise<Buffer> {
  const { N = 1, r = 1, p = 1 } = options as { N?: number; r?: number; p?: number };
  const maxmem = 128 * r * (N + p + 2);
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFC"), salt, bytes, { ...options, maxmem }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

const printed = (salt: Buffer, key: Buffer): string =>
  ["scrypt", SCRYPT.N, SCRYPT.r, SCRYPT.p, salt.toString("base64url"), key.toString("base64url")].join("$");

/** `scrypt$N$r$p$salt$key`, base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return printed(salt, await derive(password, salt, 32, SCRYPT));
}

/** A hash of no password, which costs as long to compare with. */
export const DECOY_HASH = printed(randomBytes(16), randomBytes(32));

/** True when `password` is the one `hash` was made of. */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [scheme, n, r, p, salt, key] = hash.split("$");
  if (scheme !== "scrypt" || salt === undefined || key === undefined) return false;
  const wanted = Buffer.from(key, "base64url");
  const found = await derive(password, Buffer.from(salt, "base64url"), wanted.length, {
    N: Number(n),
    r: Number(r),
    p: Number(p),
  });
  return timingSafeEqual(wanted, found);
}

/** Was it made with other figures than today's? */
export function isOutdated(hash: string): boolean {
  return !hash.startsWith(`scrypt$${SCRYPT.N}$${SCRYPT.r}$${SCRYPT.p}$`);
}
