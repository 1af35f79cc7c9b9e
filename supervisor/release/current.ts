// Which release runs: the `current` link in OWL_HOME, and the ledger of releases that have run here.
// Invariant: the link changes by one rename; what it points to is whole.

import { existsSync, readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { HomePaths } from "../../config/home.ts";
import { releasesToPrune } from "../core/update-plan.ts";
import type { LedgerEntry } from "../ports.ts";
import type { Store } from "../state/store.ts";

/** Old releases kept beside `current` and the one before it. */
const KEEP = 3;

export interface ReleaseLedger {
  /** Newest first. */
  all(): readonly LedgerEntry[];
  /** The release that is to serve; null: the code owld itself runs from. */
  current(): LedgerEntry | null;
  add(entry: LedgerEntry): void;
  /** The newest one goes (it was rolled back by hand). */
  dropNewest(): void;
}

/** The ledger in the state file. */
export function createReleaseLedger(store: Store): ReleaseLedger {
  const read = (): readonly LedgerEntry[] => store.all<readonly LedgerEntry[]>("fact").get("releases") ?? [];
  return {
    all: read,
    current: () => read()[0] ?? null,
    add: (entry) =>
      store.put("fact", "releases", [entry, ...read().filter(({ version }) => version !== entry.version)]),
    dropNewest: () => store.put("fact", "releases", read().slice(1)),
  };
}

/** `OWL_HOME/current`, the link owld is started from. */
export function currentLink(paths: HomePaths): string {
  return join(paths.home, "current");
}

/** Points `current` at `path`. */
export function switchCurrent(paths: HomePaths, path: string): void {
  const link = currentLink(paths);
  if (existsSync(link) && safeReadlink(link) === path) return;
  const fresh = `${link}.new`;
  rmSync(fresh, { force: true });
  symlinkSync(path, fresh);
  renameSync(fresh, link);
}

function safeReadlink(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}

/** Removes releases and copies nobody needs; answers the versions removed. Only below OWL_HOME/releases. */
export async function pruneReleases(paths: HomePaths, ledger: ReleaseLedger): Promise<readonly string[]> {
  const entries = ledger.all();
  const current = entries[0];
  if (current === undefined) return [];
  const gone = releasesToPrune(entries, current.version, current.before?.version ?? null, KEEP);
  for (const entry of entries.filter(({ version }) => gone.includes(version))) {
    if (entry.path === join(paths.releases, basename(entry.path)))
      await rm(entry.path, { recursive: true, force: true });
    if (entry.copy !== null) await rm(entry.copy, { recursive: true, force: true });
  }
  return gone;
}
