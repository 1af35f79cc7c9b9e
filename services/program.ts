// How a bundled program starts: as one file built from its sources (prepare/bundles.ts), which loads in a third of the
// time. Invariant: a bundle that is missing, or older than a source in it, is not used; then the sources themselves run.

import { existsSync, readFileSync, statSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** A release says what is in it, and nobody changes it: pages and bundles come with it. */
export const isRelease = (): boolean => existsSync(join(ROOT, "manifest.json"));
export const BUNDLES = join(ROOT, ".build/programs");
/** What a checkout's bundles were built from; no part of a release. */
export const BUNDLED_SOURCES = join(ROOT, ".build/.cache/programs.json");

type ProgramName = "web" | "worker" | "prepare";

/** A source file as it was when it was built into a bundle: its path below the root, size and time of change. */
export type SourceStamp = readonly [path: string, bytes: number, changedMs: number];

/** `BUNDLED_SOURCES` as JSON. */
export interface BundledSources {
  readonly build: string;
  readonly sources: readonly SourceStamp[];
}

/** Runs the program in this process; resolves once it is up. Its compiled code is kept then for the next start. */
export async function runProgram(name: ProgramName, sources: () => Promise<unknown>): Promise<void> {
  const bundle = bundleOf(name);
  await (bundle === null ? sources() : import(bundle));
  flushCompileCache();
}

function bundleOf(name: ProgramName): string | null {
  try {
    const build = readFileSync(join(BUNDLES, "current"), "utf8");
    if (!isRelease() && !isCurrent(build, readBundled())) return null;
    const file = join(BUNDLES, build, `${name}.mjs`);
    return existsSync(file) ? pathToFileURL(file).href : null;
  } catch {
    return null;
  }
}

/** What the checkout's bundles were built from; null when nobody knows. */
export function readBundled(): BundledSources | null {
  const text = existsSync(BUNDLED_SOURCES) ? readFileSync(BUNDLED_SOURCES, "utf8") : "null";
  return JSON.parse(text) as BundledSources | null;
}

/** Was that build made from the sources as they are now? */
export function isCurrent(build: string, built: BundledSources | null, root: string = ROOT): boolean {
  if (built?.build !== build) return false;
  return built.sources.every(([path, bytes, changedMs]) => {
    const found = statSync(join(root, path), { throwIfNoEntry: false });
    return found?.size === bytes && found.mtimeMs === changedMs;
  });
}
