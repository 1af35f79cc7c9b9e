// Which release runs: the `current` link in OWL_HOME, and the history of releases that have run here.
// Invariant: the link changes by one rename; what it points to is whole.

import { readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { HomePaths } from "../../config/home.ts";
import { releasesToPrune, stagedToPrune } from "../core/update-plan.ts";
import type { PastRelease } from "../ports.ts";
import { keepFact, readFact } from "../state/facts.ts";
import type { Store } from "../state/store.ts";
import { removeRelease } from "./stage.ts";
import { syncDirectory } from "./sync.ts";
import { readManifest } from "./verify.ts";

/** Old releases kept beside `current` and the one before it. */
const KEEP = 3;
/** Releases kept that were staged and have never run. */
const KEEP_STAGED = 3;

export interface ReleaseHistory {
  /** Newest first. */
  all(): readonly PastRelease[];
  /** The release that is to serve; null: the code owld itself runs from. */
  current(): PastRelease | null;
  add(entry: PastRelease): void;
  /** These versions are gone from the disk. */
  drop(versions: readonly string[]): void;
}

/** The history in the state file. */
export function createReleaseHistory(store: Store): ReleaseHistory {
  const read = (): readonly PastRelease[] => readFact(store, "releases") ?? [];
  return {
    all: read,
    current: () => read()[0] ?? null,
    add: (entry) => keepFact(store, "releases", [entry, ...read().filter(({ version }) => version !== entry.version)]),
    drop(versions) {
      if (versions.length === 0) return;
      const left = read().filter(({ version }) => !versions.includes(version));
      keepFact(store, "releases", left);
    },
  };
}

/** `OWL_HOME/current`, the link owld is started from. */
function currentLink(paths: HomePaths): string {
  return join(paths.home, "current");
}

/** Points `current` at `path` (null: no link); on the disk, power cut or not, when it returns. */
export function switchCurrent(paths: HomePaths, path: string | null): void {
  const link = currentLink(paths);
  if (path === null) {
    rmSync(link, { force: true });
    return;
  }
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

/**
 * Removes releases nobody needs; answers the versions removed, those that have never run named as such. Only below
 * OWL_HOME/releases, and none of `inUse`. Repeatable.
 */
export async function pruneReleases(
  paths: HomePaths,
  history: ReleaseHistory,
  inUse: readonly string[],
): Promise<readonly string[]> {
  const entries = history.all();
  const current = entries[0];
  if (current === undefined) return [];
  // Before the history forgets those that ran: one of them that lies there still is not one that has never run.
  const known = entries.flatMap(({ version, before }) => [version, before?.version ?? version]);
  const unused = await pruneStaged(paths, new Set([...known, ...inUse]));
  const gone = releasesToPrune(entries, current.version, current.before?.version ?? null, KEEP);
  for (const entry of entries.filter(({ version }) => gone.includes(version))) {
    if (entry.path === join(paths.releases, basename(entry.path))) await removeRelease(entry.path);
  }
  // Last: killed before, the same are found again.
  history.drop(gone);
  return [...gone, ...unused.map((version) => `${version} (staged, never run)`)];
}

/** Removes those staged earliest of the releases no record names. What bears no manifest of its name is not ours. */
async function pruneStaged(paths: HomePaths, named: ReadonlySet<string>): Promise<readonly string[]> {
  const staged: { readonly version: string; readonly stagedAt: number }[] = [];
  const current = safeReadlink(currentLink(paths));
  for (const version of await readdir(paths.releases).catch(() => [] as string[])) {
    const path = join(paths.releases, version);
    if (named.has(version) || path === current || version.startsWith(".")) continue;
    const manifest = await readManifest(path).catch(() => null);
    if (manifest?.version === version) staged.push({ version, stagedAt: (await stat(path)).mtimeMs });
  }
  const gone = stagedToPrune(staged, KEEP_STAGED);
  for (const version of gone) await removeRelease(join(paths.releases, version));
  return gone;
}
