// Removes from a backup directory what no kept backup needs: older backups, pieces of the log, files of uploads, releases.
// Invariant: a backup's manifest goes first, so that what is cut in the middle is no backup any more.

import { readdir } from "node:fs/promises";
import { isBackupId, MANIFEST } from "./core/manifest.ts";
import { idleUploads, idleWal, type Keep, keptBackups } from "./core/schedule.ts";
import { pieceName } from "./core/wal.ts";
import { OWN_RELEASES, type OwnPlace } from "./directory.ts";

export async function prune(place: OwnPlace, keep: Keep, uploadsDirectory: string): Promise<void> {
  const backups = await place.backups();
  const lines = new Map(backups.map(({ id, postgres }) => [id, `${postgres.epoch} ${postgres.timeline}`]));
  const times = new Map(backups.map((one) => [one.id, Date.parse(one.startedAt)]));
  const kept = keptBackups(times, keep, (id) => lines.get(id) ?? "");
  const unreadable = new Set(await place.unreadable());
  for (const id of (await readdir(place.file("base"))).filter(isBackupId)) {
    if (kept.all.has(id) || unreadable.has(id)) continue;
    await place.remove("base", id, MANIFEST);
    await place.disk.syncDirectory(place.file("base", id));
    await place.remove("base", id);
  }
  const staying = backups.filter(({ id }) => kept.all.has(id));
  for (const piece of idleWal(await place.pieces(), staying, kept.hourly)) await place.remove("wal", pieceName(piece));
  const listed = new Set(staying.flatMap(({ ownReleases }) => ownReleases.map(({ name }) => name)));
  for (const name of await readdir(place.file(OWN_RELEASES)))
    if (!listed.has(name)) await place.remove(OWN_RELEASES, name);
  const living = await readdir(uploadsDirectory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    return null;
  });
  // What cannot be listed may all be living.
  if (living === null) return;
  const facts = {
    stored: await place.uploads(),
    living: new Set(living),
    kept: staying,
    hourly: kept.hourly,
  };
  for (const name of idleUploads(facts)) await place.remove("uploads", name);
}
