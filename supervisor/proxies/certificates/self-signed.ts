// A certificate that nobody vouches for, so that the proxy can speak TLS before an authority has sent the first one.
// Written out byte by byte (X.509 in DER): Node reads certificates but makes none, and these few fields never change.

import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import type { WallMs } from "../../../config/time.ts";

const VALID_MS = 10 * 365 * 86_400_000;
const NAME = "Owl stands in";

const TAG = { integer: 0x02, bits: 0x03, octets: 0x04, text: 0x0c, time: 0x17, sequence: 0x30, set: 0x31 } as const;
/** A name of the alternative names; what a certificate's version and extensions are wrapped in. */
const [DNS_NAME, VERSION, EXTENSIONS] = [0x82, 0xa0, 0xa3];
const ECDSA_SHA256 = Buffer.from("06082a8648ce3d040302", "hex");
const COMMON_NAME = Buffer.from("0603550403", "hex");
const ALTERNATIVE_NAMES = Buffer.from("0603551d11", "hex");
const VERSION_3 = 2;

interface SelfSigned {
  /** PEM, both. */
  readonly cert: string;
  readonly key: string;
}

export function selfSigned(domains: readonly string[], nowMs: WallMs): SelfSigned {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = der(TAG.sequence, ECDSA_SHA256);
  const name = der(TAG.sequence, der(TAG.set, der(TAG.sequence, COMMON_NAME, der(TAG.text, Buffer.from(NAME)))));
  const names = der(TAG.sequence, ...domains.map((domain) => der(DNS_NAME, Buffer.from(domain, "latin1"))));
  const content = der(
    TAG.sequence,
    der(VERSION, der(TAG.integer, Buffer.from([VERSION_3]))),
    // Another one each time: a browser refuses two certificates of one name and one number.
    der(TAG.integer, Buffer.from(nowMs.toString(16).padStart(12, "0"), "hex")),
    algorithm,
    name,
    der(TAG.sequence, time(nowMs), time(nowMs + VALID_MS)),
    name,
    createPublicKey(privateKey).export({ type: "spki", format: "der" }),
    der(EXTENSIONS, der(TAG.sequence, der(TAG.sequence, ALTERNATIVE_NAMES, der(TAG.octets, names)))),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign("sha256", content, privateKey)]);
  const whole = der(TAG.sequence, content, algorithm, der(TAG.bits, signature));
  const lines = whole.toString("base64").replace(/.{64}/g, "$&\n").trimEnd();
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: String(privateKey.export({ type: "pkcs8", format: "pem" })),
  };
}

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** `YYMMDDHHMMSSZ`: until 2049 the form that is asked for. */
function time(atMs: WallMs): Buffer {
  const digits = new Date(atMs).toISOString().replace(/\D/g, "").slice(2, 14);
  return der(TAG.time, Buffer.from(`${digits}Z`));
}
