// Looks every few minutes at what wears out slowly, and keeps what a forecast needs.
// Invariant: only the home's own disk is asked from here; a backup directory that hangs is the backup program's to ask.

import { statfs } from "node:fs/promises";
import type { Config } from "../../config/config.ts";
import type { DiskStatus } from "../../config/control-api.ts";
import { createLoop, type Running } from "../../config/running.ts";
import { type DatabaseWear, fullInDays, wearWarnings, withSample } from "../core/wear.ts";
import type { DatabaseService } from "../ports.ts";
import type { Backups } from "../postgres/backups/service.ts";
import { keepFact, readFact } from "../state/facts.ts";
import type { Foundation } from "../state/foundation.ts";

const LOOK_MS = 300_000;

export interface WearWatch extends Running {
  disks(): readonly DiskStatus[];
}

export function createWearWatch(parts: {
  readonly ground: Pick<Foundation, "clock" | "store" | "warnings" | "warned">;
  readonly config: () => Config;
  readonly database: Pick<DatabaseService, "metastore">;
  readonly backups: Pick<Backups, "space">;
}): WearWatch {
  const { clock, store, warnings, warned } = parts.ground;
  let disks: readonly DiskStatus[] = [];

  async function runOnce(): Promise<void> {
    const config = parts.config();
    const { bavail, bsize, blocks } = await statfs(config.home);
    // Some file systems tell nothing of their size.
    const own = blocks === 0 ? [] : [{ path: config.home, freeBytes: bavail * bsize }];
    const found = [...own, ...[parts.backups.space() ?? []].flat()];
    const before = readFact(store, "disk samples") ?? {};
    const samples = Object.fromEntries(
      found.map(({ path, freeBytes }) => [path, withSample(before[path] ?? [], [clock.now(), freeBytes])]),
    );
    const isSame = found.every(({ path }) => samples[path] === before[path]);
    if (!isSame || Object.keys(before).length !== found.length) keepFact(store, "disk samples", samples);
    disks = found.map((one) => ({ ...one, fullInDays: fullInDays(samples[one.path] ?? []) }));
    const managed = config.usesDatabase && config.database === null;
    const database: DatabaseWear | null = (await parts.database.metastore()?.wear?.()) ?? null;
    for (const [key, say] of wearWarnings({ disks, database, managed })) {
      if (say === null) warnings.delete(key);
      else warnings.set(key, say);
    }
  }

  const failed = warned("the disk and the database were not looked at");
  return { ...createLoop({ clock, everyMs: LOOK_MS, runOnce, failed }), disks: () => disks };
}
