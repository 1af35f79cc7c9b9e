// A data directory out of a backup: what the server sent, verified file by file against its own list, and the log that
// leads on from there. Invariant: a file that is not what the server's list says ends the restore.

import { createHash } from "node:crypto";
import { chown, mkdir, open, writeFile } from "node:fs/promises";
import { join, normalize } from "node:path";
import { pipeline } from "node:stream/promises";
import { extract } from "tar-stream";
import { OwlError } from "../../../config/errors.ts";
import { Refusal } from "../../core/text/refusal.ts";
import type { Account } from "../account.ts";
import { FILES } from "./base.ts";
import { unpack } from "./codec.ts";
import type { BackupManifest } from "./core/manifest.ts";
import { chainFrom, formatLsn, parseLsn, segmentName, segmentStart, type WalPiece } from "./core/wal.ts";
import { type BackupPlace, OWN_RELEASES } from "./directory.ts";
import { contents } from "./log-keeper.ts";

/** Of an upload's id, at the beginning of its file's name. */
const ID_LENGTH = 36;

interface RestoredData {
  readonly place: BackupPlace;
  readonly backup: BackupManifest;
  /** An empty directory's name to be. */
  readonly data: string;
  readonly account: Account | null;
  readonly signal: AbortSignal;
}

/** Writes the data directory as it was sent. Throws `backup.damaged`, `backup.missing`. */
export async function writeData({ place, backup, data, account, signal }: RestoredData): Promise<void> {
  const give = async (path: string): Promise<void> => {
    if (account !== null) await chown(path, account.uid, account.gid);
  };
  await mkdir(data, { mode: 0o700 });
  await give(data);
  await readData({ place, backup, signal }, async (path, content) => {
    const target = join(data, path);
    if (content === null) await mkdir(target, { recursive: true, mode: 0o700 });
    else {
      const file = await open(target, "w", 0o600);
      try {
        for await (const chunk of content) await file.writeFile(chunk);
      } finally {
        await file.close();
      }
    }
    await give(target);
  });
}

/**
 * Reads all that the server sent, hashed against the list it sent with it; `take` gets each file (to be read to its end)
 * and each directory (null). Throws `backup.damaged`, `backup.missing`.
 */
async function readData(
  { place, backup, signal }: Pick<RestoredData, "place" | "backup" | "signal">,
  take: (path: string, content: AsyncIterable<Buffer> | null) => Promise<void>,
): Promise<void> {
  const listed = await readList(place, backup);
  const tar = extract();
  const feeding = pipeline(stored(place, backup, FILES.data), tar);
  // What it fails with ends the loop too.
  feeding.catch(() => undefined);
  for await (const entry of tar as unknown as AsyncIterable<Entry>) {
    signal.throwIfAborted();
    const { name, type } = entry.header;
    const path = normalize(name);
    if (path.startsWith("..") || path.startsWith("/")) throw damaged(place, backup);
    if (type === "directory") {
      await take(path, null);
      entry.resume();
      continue;
    }
    if (type !== "file") throw damaged(place, backup);
    const hash = createHash("sha256");
    const hashed = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of entry) {
        hash.update(chunk);
        yield chunk;
      }
    };
    await take(path, hashed());
    if (listed.has(path) && listed.get(path) !== hash.digest("hex")) throw damaged(place, backup);
    listed.delete(path);
  }
  await feeding;
  if (listed.size > 0) throw damaged(place, backup);
}

/** Reads a whole backup without writing anything. Throws `backup.damaged`, `backup.missing`, `backup.gap`. */
export async function verifyBackup(place: BackupPlace, backup: BackupManifest, signal: AbortSignal): Promise<void> {
  for (const { name, sha256 } of backup.ownReleases)
    for await (const _ of unpack(place.file(OWN_RELEASES, name), sha256, place.key)) signal.throwIfAborted();
  await readData({ place, backup, signal }, async (_, content) => {
    if (content !== null) for await (const _chunk of content) signal.throwIfAborted();
  });
  for (const name of [FILES.state, FILES.home]) await storedText(place, backup, name);
  const chain = chainOf(backup, await place.pieces());
  const end = parseLsn(backup.postgres.end);
  const own = chain.filter(({ from }) => from < end);
  for await (const _ of contents(place, own, own[0]?.from ?? end)) signal.throwIfAborted();
}

/** The same of the uploads it lists: each once, by what lies there of it now. */
export async function verifyUploads(place: BackupPlace, backup: BackupManifest, signal: AbortSignal): Promise<void> {
  const stored = await place.uploads();
  const there = new Set(stored.map(({ id }) => id));
  for (const name of backup.uploads) {
    const path = place.file("uploads", name);
    // A grown one took the place of what was listed.
    if (!there.has(name.slice(0, ID_LENGTH)))
      throw new Refusal("backup.missing", ({ refused }) => refused.backup.missing(path));
  }
  const listed = new Set(backup.uploads.map((name) => name.slice(0, ID_LENGTH)));
  for (const { name, id, sha256 } of stored)
    if (listed.has(id))
      for await (const _ of unpack(place.file("uploads", name), sha256, place.key)) signal.throwIfAborted();
}

type Entry = AsyncIterable<Buffer> & {
  readonly header: { readonly name: string; readonly type?: string | null };
  resume(): unknown;
};

/** The pieces that lead from the backup on. Throws `backup.gap` when they do not even reach its own end. */
export function chainOf(backup: BackupManifest, pieces: readonly WalPiece[]): readonly WalPiece[] {
  const { postgres } = backup;
  const from = segmentStart(parseLsn(postgres.start), BigInt(postgres.segmentBytes));
  const chain = chainFrom(pieces, postgres, from);
  const reached = chain.at(-1)?.to ?? from;
  if (reached < parseLsn(postgres.end)) {
    const at = formatLsn(reached);
    throw new Refusal("backup.gap", ({ refused }) => refused.backup.gap(at));
  }
  return chain;
}

/**
 * Lays the log into the data directory, segment by segment; the last one is filled up with zeros. `endsAtDamage`: behind
 * the backup's own end, damage is where the log ends, and is answered; else it throws `backup.damaged`, `backup.missing`.
 */
export async function writeLog(
  restored: RestoredData,
  chain: readonly WalPiece[],
  { endsAtDamage }: { readonly endsAtDamage: boolean },
): Promise<Refusal | null> {
  const { place, backup, data, account, signal } = restored;
  const { timeline } = backup.postgres;
  const segmentBytes = BigInt(backup.postgres.segmentBytes);
  let at = segmentStart(parseLsn(backup.postgres.start), segmentBytes);
  let segment = Buffer.alloc(Number(segmentBytes));
  let filled = 0;
  const keep = async (): Promise<void> => {
    signal.throwIfAborted();
    const path = join(data, "pg_wal", segmentName(timeline, at, segmentBytes));
    await writeFile(path, segment, { mode: 0o600 });
    if (account !== null) await chown(path, account.uid, account.gid);
    at += segmentBytes;
    segment = Buffer.alloc(Number(segmentBytes));
    filled = 0;
  };
  let damage: Refusal | null = null;
  try {
    for await (const bytes of contents(place, chain, at)) {
      for (let taken = 0; taken < bytes.length; ) {
        const part = bytes.subarray(taken, taken + segment.length - filled);
        part.copy(segment, filled);
        filled += part.length;
        taken += part.length;
        if (filled === segment.length) await keep();
      }
    }
  } catch (error) {
    const reached = at + BigInt(filled);
    if (!(endsAtDamage && error instanceof Refusal && reached >= parseLsn(backup.postgres.end))) throw error;
    damage = error;
  }
  if (filled > 0) await keep();
  return damage;
}

/** A file of that backup, checked against its manifest. */
function stored(place: BackupPlace, backup: BackupManifest, name: string): AsyncGenerator<Buffer> {
  const path = place.file("base", backup.id, name);
  const listed = backup.files.find((file) => file.name === name);
  if (listed === undefined) throw new Refusal("backup.missing", ({ refused }) => refused.backup.missing(path));
  return unpack(path, listed.sha256, place.key);
}

export async function storedText(place: BackupPlace, backup: BackupManifest, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stored(place, backup, name)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The server's own list of its files, with their hashes. */
async function readList(place: BackupPlace, backup: BackupManifest): Promise<Map<string, string>> {
  const { Files: files } = JSON.parse((await storedText(place, backup, FILES.list)).toString("utf8")) as {
    readonly Files?: readonly { readonly Path?: string; readonly Checksum?: string }[];
  };
  if (files === undefined)
    throw new OwlError("backup.list", "PostgreSQL's list of a backup's files is not understood.");
  return new Map(files.flatMap(({ Path, Checksum }) => (Path && Checksum ? [[Path, Checksum]] : [])));
}

function damaged(place: BackupPlace, backup: BackupManifest): Refusal {
  const file = place.file("base", backup.id, FILES.data);
  return new Refusal("backup.damaged", ({ refused }) => refused.backup.damaged(file));
}
