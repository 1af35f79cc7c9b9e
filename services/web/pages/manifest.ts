// What a build of the pages is made of: written by build.ts, read by serve.ts (which must not load esbuild).

import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** File name to compressed size in bytes. */
type BuiltFiles = Readonly<Record<string, number>>;

export interface BuildManifest {
  /** Hash of the sources it was built from. */
  readonly sources: string;
  readonly entry: string;
  /** Script of the shared worker that holds the browser's one event stream. */
  readonly worker: string;
  readonly style: string;
  /** Scripts the first page load needs, the entry among them. */
  readonly first: readonly string[];
  readonly files: BuiltFiles;
  /** Files of the builds before, newest first. */
  readonly previous: readonly BuiltFiles[];
}

/**
 * What a page and a server compare to tell whether they belong together. The hash of everything the browser gets, and no
 * number of the API raised by hand: with the same hash a reload would bring the very same code, whatever else changed at
 * the server, and with another one nobody has to judge whether the old code still fits.
 */
export const buildId = ({ sources }: BuildManifest): string => sources.slice(0, 16);

/** The manifest in `dir`, or null when nothing was built there yet. */
export async function readManifest(dir: string): Promise<BuildManifest | null> {
  try {
    return JSON.parse(await readFile(join(dir, "manifest.json"), "utf8")) as BuildManifest;
  } catch {
    return null;
  }
}
