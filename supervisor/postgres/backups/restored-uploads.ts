// The files of uploads a restored database knows, out of the backup directory. Invariant: a complete upload's file is
// byte for byte what was uploaded, or the upload is named as missing; one that was under way goes on where its file ends.

import { createHash } from "node:crypto";
import { chown, mkdir, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "pg";
import { unpack } from "./codec.ts";
import type { BackupPlace, StoredUpload } from "./directory.ts";

export interface FetchedUploads {
  readonly complete: number;
  readonly bytes: number;
  /** Ids of complete ones whose file had not reached the directory, or is damaged there. */
  readonly missing: readonly string[];
}

export async function fetchUploads(parts: {
  readonly client: Client;
  readonly place: BackupPlace;
  readonly directory: string;
  readonly signal: AbortSignal;
}): Promise<FetchedUploads> {
  const { client, place, directory, signal } = parts;
  const there = await client.query<{ there: boolean }>("SELECT to_regclass('owl.upload') IS NOT NULL AS there");
  if (!there.rows[0]?.there) return { complete: 0, bytes: 0, missing: [] };
  const newest = new Map<string, StoredUpload>();
  for (const one of await place.uploads()) if ((newest.get(one.id)?.atMs ?? -1) < one.atMs) newest.set(one.id, one);
  const { rows } = await client.query<{ id: string; bytes: string; sha256: string | null }>(
    "SELECT id, bytes, sha256 FROM owl.upload WHERE deleted_at IS NULL ORDER BY id",
  );
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const { uid, gid } = await stat(directory);
  const missing: string[] = [];
  let complete = 0;
  let bytes = 0;
  for (const row of rows) {
    signal.throwIfAborted();
    const file = join(directory, row.id);
    const found = newest.get(row.id);
    const written = found === undefined ? null : await write(place, found, file).catch(() => null);
    if (written !== null) await chown(file, uid, gid);
    if (row.sha256 !== null) {
      if (written?.sha256 === row.sha256) {
        complete++;
        bytes += written.bytes;
      } else {
        await rm(file, { force: true });
        missing.push(row.id);
      }
    } else if ((written?.bytes ?? 0) < Number(row.bytes))
      await client.query("UPDATE owl.upload SET bytes = $2 WHERE id = $1", [row.id, written?.bytes ?? 0]);
  }
  return { complete, bytes, missing };
}

async function write(
  place: BackupPlace,
  found: StoredUpload,
  file: string,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  const handle = await open(file, "w", 0o640);
  try {
    for await (const chunk of unpack(place.file("uploads", found.name), found.sha256, place.key)) {
      hash.update(chunk);
      bytes += chunk.length;
      await handle.writeFile(chunk);
    }
  } finally {
    await handle.close();
  }
  return { bytes, sha256: hash.digest("hex") };
}
