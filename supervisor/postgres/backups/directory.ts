// A backup directory: the owner's mark, `base/ID/` a backup each, `wal/` pieces of the log, `uploads/` files of uploads,
// `own-releases/` releases of a team's own code.
// Invariant: nothing is written into a directory that does not carry our mark at that moment.

import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { asError, type OwlError } from "../../../config/errors.ts";
import { isoTime } from "../../../config/time.ts";
import { Refusal } from "../../core/text/refusal.ts";
import { freshSalt, type Key, keyCheck, pack, stretch } from "./codec.ts";
import { type BackupManifest, isBackupId, MANIFEST, parseBackupManifest } from "./core/manifest.ts";
import { judgeMark, MARK, type Mark, parseMark } from "./core/mark.ts";
import { parsePiece, pieceName, type WalPiece } from "./core/wal.ts";
import { type Disk, systemDisk, type Written, writeWhole } from "./disk.ts";

export interface StoredUpload {
  /** `ID-SIZE-HASH.upload` */
  readonly name: string;
  readonly id: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly atMs: number;
}

export interface BackupPlace {
  readonly path: string;
  readonly key: Key;
  file(...parts: readonly string[]): string;
  /** Finished ones, oldest first. */
  backups(): Promise<readonly BackupManifest[]>;
  /** Ids of those whose manifest is damaged, or of a newer Owl: nobody lists, restores or removes them. */
  unreadable(): Promise<readonly string[]>;
  pieces(): Promise<readonly WalPiece[]>;
  uploads(): Promise<readonly StoredUpload[]>;
  /** When the last piece of the log was written, ISO 8601. */
  logUntil(): Promise<string | null>;
}

export interface OwnPlace extends BackupPlace {
  readonly disk: Disk;
  /** Throws unless the mark says that it is still ours. Before every write. */
  check(): Promise<void>;
  /** Stores `plain` as a file of that directory, under the name made of its hash. */
  put(
    directory: string,
    plain: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    nameOf: (sha256: string) => string,
  ): Promise<Written>;
  putPiece(piece: Omit<WalPiece, "sha256">, bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void>;
  /** As it is: what must be readable without a key. */
  putText(directory: string, name: string, text: string): Promise<void>;
  makeDirectory(...parts: readonly string[]): Promise<void>;
  remove(...parts: readonly string[]): Promise<void>;
}

interface Claim {
  readonly path: string;
  /** What is to be kept safe: never inside it, by whatever links. */
  readonly home?: string;
  readonly installation: string;
  readonly holder: string;
  readonly held: boolean;
  /** What the mark said when it was last seen to be ours. */
  readonly generation?: number;
  /** What the mark says, now and before each write. */
  readonly seen?: (mark: Mark) => void;
  readonly passphrase: string | null;
  readonly nowMs: number;
  readonly disk?: Disk;
}

/** Where releases of a team's own code lie. */
export const OWN_RELEASES = "own-releases";

const FOLLOWED = "owl-standby.json";

const UPLOAD = /^([0-9a-f-]{36})-(\d+)-([0-9a-f]{64})\.upload$/;

export const uploadName = (id: string, bytes: number, sha256: string): string => `${id}-${bytes}-${sha256}.upload`;

/** For reading, by whoever has the passphrase. Throws `backup.noneThere`, `backup.wrongKey`, `backup.noKey`. */
export async function openPlace(
  path: string,
  passphrase: string | null,
): Promise<BackupPlace & { readonly mark: Mark }> {
  const mark = await readMark(path);
  if (mark === null) throw new Refusal("backup.noneThere", ({ refused }) => refused.backup.noneThere(path));
  return { ...placeAt(path, keyOf(mark, passphrase)), mark };
}

/** For writing: makes the mark in an empty directory, or takes it over after a restore. Throws when it is not ours to use. */
export async function claimPlace(claim: Claim): Promise<OwnPlace> {
  const { path, home, installation, holder, held, passphrase, nowMs, disk = systemDisk, seen } = claim;
  const names = await told(path, () => readdir(path), "unreadable").catch((error: OwlError) => {
    // One that has never been there is to be made, not mounted.
    if (held || error.code !== "backup.unmounted") throw error;
    throw new Refusal("backup.noDirectory", ({ refused }) => refused.backup.noDirectory(path), { cause: error });
  });
  const [real, realHome] = await Promise.all([realpath(path), home === undefined ? "none" : realpath(home)]);
  if (`${real}/`.startsWith(`${realHome}/`))
    throw new Refusal("backup.inHome", ({ refused }) => refused.backup.inHome(path));
  const mark = await readMark(path);
  const isEmpty = names.every((name) => name === "lost+found" || name.startsWith(".new-"));
  const verdict = judgeMark({ mark, isEmpty, installation, holder, held, generation: claim.generation ?? 0 });
  if (verdict !== "make" && verdict !== "ours" && verdict !== "takeOver")
    throw new Refusal(`backup.${verdict}`, ({ refused }) => refused.backup[verdict](path));
  const made = mark ?? {
    format: 1 as const,
    installation,
    holder,
    since: isoTime(nowMs),
    generation: 0,
    standby: false,
    encryption: seal(passphrase),
  };
  const key = keyOf(made, passphrase);
  const own = { ...made, holder };
  if (verdict !== "ours") await writeMark(path, own, disk);
  seen?.(own);
  for (const name of ["base", "wal", "uploads", OWN_RELEASES])
    await told(path, () => disk.makeDirectory(join(path, name)));
  const place = placeAt(path, key);
  const check = async (): Promise<void> => {
    const now = await readMark(path);
    const { generation } = own;
    const state = judgeMark({ mark: now, isEmpty: false, installation, holder, held: true, generation });
    if (now !== null && state === "ours") return seen?.(now);
    const why = state === "foreign" || state === "taken" || state === "replaced" ? state : "unmounted";
    throw new Refusal(`backup.${why}`, ({ refused }) => refused.backup[why](path));
  };
  const put: OwnPlace["put"] = async (directory, plain, nameOf) => {
    await check();
    return await told(path, () => writeWhole(disk, join(path, directory), pack(plain, key), nameOf));
  };
  return {
    ...place,
    disk,
    check,
    put,
    async putPiece(piece, bytes) {
      await put("wal", bytes, (sha256) => pieceName({ ...piece, sha256 }));
    },
    async putText(directory, name, text) {
      await check();
      await told(path, () => writeWhole(disk, join(path, directory), [Buffer.from(text)], () => name));
    },
    async makeDirectory(...parts) {
      await check();
      await told(path, () => disk.makeDirectory(join(path, ...parts)));
    },
    async remove(...parts) {
      await check();
      await told(path, () => disk.remove(join(path, ...parts)));
    },
  };
}

async function writeMark(path: string, mark: Mark, disk: Disk = systemDisk): Promise<void> {
  await told(path, () => writeWhole(disk, path, [Buffer.from(`${JSON.stringify(mark, null, 2)}\n`)], () => MARK));
}

/** A standby's word in the mark: that it follows, or that it takes over, which whoever wrote here before then sees. */
export async function markStandby(path: string, mark: Mark, change: "follows" | "promoted"): Promise<void> {
  if (change === "promoted")
    await writeMark(path, { ...mark, generation: mark.generation + 1, holder: "promoted", standby: false });
  else if (!mark.standby) await writeMark(path, { ...mark, standby: true });
}

/** A standby's word beside the mark: when it had all that the directory held. */
export async function tellFollowed(path: string, at: string, disk: Disk = systemDisk): Promise<void> {
  const text = `${JSON.stringify({ at })}\n`;
  await told(path, () => writeWhole(disk, path, [Buffer.from(text)], () => FOLLOWED));
}

/** As it was told; null: never. */
export async function readFollowed(path: string): Promise<string | null> {
  return await readFile(join(path, FOLLOWED), "utf8").catch(() => null);
}

function placeAt(path: string, key: Key): BackupPlace {
  const list = (name: string) => told(path, () => readdir(join(path, name)), "unreadable").catch(absent);
  const manifests = async () => {
    const found: { readonly id: string; readonly manifest: BackupManifest | null }[] = [];
    for (const id of (await list("base")).filter(isBackupId).sort()) {
      const text = await readFile(join(path, "base", id, MANIFEST), "utf8").catch(() => null);
      if (text !== null) found.push({ id, manifest: parseBackupManifest(text) });
    }
    return found;
  };
  return {
    path,
    key,
    file: (...parts) => join(path, ...parts),
    backups: async () => (await manifests()).flatMap(({ manifest }) => manifest ?? []),
    unreadable: async () => (await manifests()).flatMap(({ id, manifest }) => (manifest === null ? id : [])),
    async pieces() {
      return (await list("wal")).flatMap((name) => parsePiece(name) ?? []);
    },
    async uploads() {
      const found: StoredUpload[] = [];
      for (const name of await list("uploads")) {
        const [, id, bytes, sha256] = UPLOAD.exec(name) ?? [];
        if (!id || !bytes || !sha256) continue;
        const { mtimeMs } = await told(path, () => stat(join(path, "uploads", name)));
        found.push({ name, id, bytes: Number(bytes), sha256, atMs: mtimeMs });
      }
      return found;
    },
    async logUntil() {
      let last = 0;
      for (const name of await list("wal")) last = Math.max(last, (await stat(join(path, "wal", name))).mtimeMs);
      return last === 0 ? null : isoTime(last);
    },
  };
}

export async function readMark(path: string): Promise<Mark | null> {
  const text = await readFile(join(path, MARK), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw asTold(path, error, "unreadable");
  });
  if (text === null) return null;
  const mark = parseMark(text);
  if (mark === null) throw new Refusal("backup.markUnreadable", ({ refused }) => refused.backup.markUnreadable(path));
  return mark;
}

function seal(passphrase: string | null): Mark["encryption"] {
  if (passphrase === null) return null;
  const salt = freshSalt();
  return { salt, check: keyCheck(stretch(passphrase, salt)) };
}

function keyOf({ encryption }: Mark, passphrase: string | null): Key {
  if (encryption === null) {
    // What was begun in the clear would go on in the clear, unnoticed.
    if (passphrase !== null) throw new Refusal("backup.notSealed", ({ refused }) => refused.backup.notSealed());
    return null;
  }
  if (passphrase === null) throw new Refusal("backup.noKey", ({ refused }) => refused.backup.noKey());
  const key = stretch(passphrase, encryption.salt);
  if (keyCheck(key) !== encryption.check)
    throw new Refusal("backup.wrongKey", ({ refused }) => refused.backup.wrongKey());
  return key;
}

/** The one translator of what a disk answers. */
async function told<T>(path: string, work: () => Promise<T>, refusedAs: RefusedAs = "readOnly"): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asTold(path, error, refusedAs);
  }
}

/** What it means that we may not: to write, or even to read. */
type RefusedAs = "readOnly" | "unreadable";

function asTold(path: string, caught: unknown, refusedAs: RefusedAs): Error {
  const error = asError(caught) as NodeJS.ErrnoException;
  const why = { ENOSPC: "full", EDQUOT: "full", EROFS: "readOnly", EACCES: refusedAs, EPERM: refusedAs } as const;
  const kind = why[error.code as keyof typeof why];
  if (kind !== undefined)
    return new Refusal(`backup.${kind}`, ({ refused }) => refused.backup[kind](path), { cause: error });
  if (error.code === "ENOENT" || error.code === "ENOTDIR" || error.code === "ESTALE")
    return new Refusal("backup.unmounted", ({ refused }) => refused.backup.unmounted(path), { cause: error });
  if (error.code === undefined || error instanceof Refusal) return error;
  const { code } = error;
  return new Refusal("backup.io", ({ refused }) => refused.backup.io(path, code), { cause: error });
}

function absent(error: unknown): string[] {
  if ((error as { code?: unknown }).code === "backup.unmounted") return [];
  throw error;
}
