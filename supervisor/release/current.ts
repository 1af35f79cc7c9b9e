// Which release runs: the `current` link in OWL_HOME, and the ledger of releases that have run here.
// Invariant: the link changes by one rename; what it points to is whole.

import { readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import type { HomePaths } from "../../config/home.ts";
import { releasesToPrune } from "../core/update-plan.ts";
import type { LedgerEntry } from "../ports.ts";
import type { Store } from "../state/store.ts";
import { removeRelease } from "./stage.ts";
import { syncDirectory } from "./sync.ts";

/** Old releases kept beside `current` and the one before it. */
const KEEP = 3;

export interface ReleaseLedger {
  /** Newest first. */
  all(): readonly LedgerEntry[];
  /** The release that is to serve; null: the code owld itself runs from. */
  current(): LedgerEntry | null;
  add(entry: LedgerEntry): void;
  /** These versions are gone from the disk. */
  drop(versions: readonly string[]): void;
}

/** The ledger in the state file. */
export function createReleaseLedger(store: Store): ReleaseLedger {
  const read = (): readonly LedgerEntry[] => store.all<readonly LedgerEntry[]>("fact").get("releases") ?? [];
  return {
    all: read,
    current: () => read()[0] ?? null,
    add: (entry) =>
      store.put("fact", "releases", [entry, ...read().filter(({ version }) => version !== entry.version)]),
    drop(versions) {
      if (versions.length === 0) return;
      const left = read().filter(({ version }) => !versions.includes(version));
      store.put("fact", "releases", left);
    },
  };
}

/** `OWL_HOME/current`, the link owld is started from. */
export function currentLink(paths: HomePaths): string {
  return join(paths.home, "current");
}

/** Points `current` at `path`; on the disk, power cut or not, when it returns. */
export function switchCurrent(paths: HomePaths, path: string): void {
  const link = currentLink(paths);
  if (safeReadlink(link) === path) return;
  const fresh = `${link}.new`;
  rmSync(fresh, { force: true });
  symlinkSync(path, fresh);
  renameSync(fresh, link);
  syncDirectory(paths.home);
}

function safeReadlink(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}

/** Removes releases nobody needs; answers the versions removed. Only below OWL_HOME/releases. Repeatable. */
export async function pruneReleases(paths: HomePaths, ledger: ReleaseLedger): Promise<readonly string[]> {
  const entries = ledger.all();
  const current = entries[0];
  if (current === undefined) return [];
  const gone = releasesToPrune(entries, current.version, current.before?.version ?? null, KEEP);
  for (const entry of entries.filter(({ version }) => gone.includes(version))) {
    if (entry.path === join(paths.releases, basename(entry.path))) await removeRelease(entry.path);
  }
  // Last: killed before, the same are found again.
  ledger.drop(gone);
  return gone;
}
