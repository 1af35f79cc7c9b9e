// Signed releases: ed25519 in minisign's format, so that `minisign -Vm ARCHIVE -p release.pub` says the same as we do.
// The signature lies beside the archive (ARCHIVE.minisig), over all its bytes: signing changes nothing of them. Which
// keys count is said by what is here already: OWL_HOME/release.pub, else release.pub of the release that runs. So the
// key of the next release travels in the one before it.

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { OwlError } from "../../config/errors.ts";
import { Refusal } from "../core/text/refusal.ts";

export const KEY_FILE = "release.pub";
const SIGNATURE_SUFFIX = ".minisig";
/** Neither a signature nor a few keys is longer. */
const LIMIT_BYTES = 16 * 1024;
/** Minisign's words for ed25519: of a key, and of a signature over the BLAKE2b hash of the file. */
const KEY_KIND = Buffer.from("Ed");
const SIGNATURE_KIND = Buffer.from("ED");
/** Node takes raw ed25519 keys in this wrapping (SubjectPublicKeyInfo). */
const SPKI = Buffer.from("302a300506032b6570032100", "hex");

interface ReleaseKey {
  /** Hexadecimal, as minisign prints it. */
  readonly id: string;
  readonly raw: Buffer;
}

/** What must be so of an archive before it is unpacked. No keys: anything goes. */
export interface Trust {
  readonly keys: readonly ReleaseKey[];
  /** Somebody vouches for it who asked: a missing signature, or one by an unknown key, is no reason then. */
  readonly allowUnsigned: boolean;
}

/** `unknown`: no key is known here, so nothing was looked at. `allowed`: taken because of `allowUnsigned`. */
export type Signing = "checked" | "unknown" | "allowed";

/** The keys in the text of a `release.pub`: every line that is one; the others are remarks. */
export function parseKeys(text: string): readonly ReleaseKey[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const bytes = Buffer.from(line.trim(), "base64");
    if (bytes.length !== 42 || !bytes.subarray(0, 2).equals(KEY_KIND)) return [];
    return [{ id: shownId(bytes.subarray(2, 10)), raw: bytes.subarray(10) }];
  });
}

/** The keys that count: those of `home`, else those of the release at `running`. Throws for a file that holds none. */
export async function knownKeys(home: string, running: string): Promise<readonly ReleaseKey[]> {
  for (const place of [join(home, KEY_FILE), join(running, KEY_FILE)]) {
    const text = await readSmall(place);
    if (text === null) continue;
    const keys = parseKeys(text);
    // A damaged key file must not read as "no key": then everything would be taken.
    if (keys.length === 0) throw new Refusal("release.keys", ({ refused }) => refused.release.badKeys(place));
    return keys;
  }
  return [];
}

/** Throws `release.unsigned` or `release.signature` unless one of `keys` signed the archive open in `file`. */
export async function checkSignature(
  archive: string,
  file: FileHandle,
  { keys, allowUnsigned }: Trust,
): Promise<Signing> {
  if (keys.length === 0) return "unknown";
  const text = await readSmall(archive + SIGNATURE_SUFFIX);
  const name = basename(archive);
  const ids = keys.map(({ id }) => id).join(", ");
  if (text === null) {
    if (allowUnsigned) return "allowed";
    throw new Refusal("release.unsigned", ({ refused }) => refused.release.unsigned(name, ids));
  }
  const signature = parseSignature(text);
  const key = keys.find(({ id }) => id === signature?.keyId);
  if (signature !== null && key === undefined) {
    if (allowUnsigned) return "allowed";
    throw new Refusal("release.unsigned", ({ refused }) => refused.release.otherKey(name, signature.keyId, ids));
  }
  // A signature that is wrong is no missing one: nobody can allow a file that was changed after it was signed.
  const holds =
    signature !== null &&
    key !== undefined &&
    verify(null, await digestOf(file), publicKey(key.raw), signature.bytes) &&
    verify(null, Buffer.concat([signature.bytes, signature.comment]), publicKey(key.raw), signature.overall);
  if (!holds) throw new Refusal("release.signature", ({ refused }) => refused.release.badSignature(name));
  return "checked";
}

/** A directory carries no signature. Throws `release.unsigned`. */
export function unsignedFolder(folder: string, { keys, allowUnsigned }: Trust): Signing {
  if (keys.length === 0) return "unknown";
  if (allowUnsigned) return "allowed";
  throw new Refusal("release.unsigned", ({ refused }) => refused.release.unsignedFolder(folder));
}

/** Signs the archive with the PEM key in `keyFile`; answers the signature file's text. `remark` is signed with it. */
export async function signArchive(archive: string, keyFile: string, remark: string): Promise<string> {
  const secret = createPrivateKey(await readFile(keyFile));
  if (secret.asymmetricKeyType !== "ed25519")
    throw new OwlError("release.key", `${keyFile} holds no ed25519 key.`, {
      next: `Make one: npm run release -- --keygen ${keyFile}`,
    });
  const raw = rawOf(secret);
  const file = await open(archive, "r");
  const digest = await digestOf(file).finally(() => file.close());
  const bytes = sign(null, digest, secret);
  const overall = sign(null, Buffer.concat([bytes, Buffer.from(remark)]), secret);
  return [
    `untrusted comment: signature of an Owl release by key ${shownId(idOf(raw))}`,
    Buffer.concat([SIGNATURE_KIND, idOf(raw), bytes]).toString("base64"),
    `trusted comment: ${remark}`,
    overall.toString("base64"),
    "",
  ].join("\n");
}

/** A new key: the secret as PEM (PKCS #8), the public one as the text of a `release.pub`. */
export function makeKey(): { readonly secret: string; readonly public: string } {
  const { privateKey } = generateKeyPairSync("ed25519");
  const raw = rawOf(privateKey);
  return {
    secret: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    public: `untrusted comment: Owl release key ${shownId(idOf(raw))}\n${Buffer.concat([KEY_KIND, idOf(raw), raw]).toString("base64")}\n`,
  };
}

export function signatureFile(archive: string): string {
  return archive + SIGNATURE_SUFFIX;
}

interface Signature {
  readonly keyId: string;
  readonly bytes: Buffer;
  readonly comment: Buffer;
  readonly overall: Buffer;
}

function parseSignature(text: string): Signature | null {
  const [, body = "", trusted = "", overall = ""] = text.split(/\r?\n/);
  const bytes = Buffer.from(body, "base64");
  const over = Buffer.from(overall, "base64");
  const lead = "trusted comment: ";
  if (bytes.length !== 74 || over.length !== 64 || !trusted.startsWith(lead)) return null;
  if (!bytes.subarray(0, 2).equals(SIGNATURE_KIND)) return null;
  const comment = Buffer.from(trusted.slice(lead.length));
  return { keyId: shownId(bytes.subarray(2, 10)), bytes: bytes.subarray(10), comment, overall: over };
}

async function digestOf(file: FileHandle): Promise<Buffer> {
  const hash = createHash("blake2b512");
  await pipeline(file.createReadStream({ start: 0, autoClose: false, highWaterMark: 1 << 20 }), hash);
  return hash.digest();
}

function publicKey(raw: Buffer) {
  return createPublicKey({ key: Buffer.concat([SPKI, raw]), format: "der", type: "spki" });
}

function rawOf(secret: ReturnType<typeof createPrivateKey>): Buffer {
  return createPublicKey(secret).export({ format: "der", type: "spki" }).subarray(SPKI.length);
}

/** A PEM key has no number of its own: it is made of the key. */
function idOf(raw: Buffer): Buffer {
  return createHash("sha256").update(raw).digest().subarray(0, 8);
}

/** Minisign stores the number's bytes from the lowest and prints it from the highest. */
function shownId(bytes: Buffer): string {
  return Buffer.from(bytes).reverse().toString("hex").toUpperCase();
}

async function readSmall(path: string): Promise<string | null> {
  const parts: Buffer[] = [];
  try {
    for await (const part of createReadStream(path, { end: LIMIT_BYTES - 1 })) parts.push(part as Buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  return Buffer.concat(parts).toString("utf8");
}
