// The shape of a file: how long, what it is called, how it opens.

import { basename } from "node:path";
import type { Source } from "./sources.ts";

const LIMIT = 400;
/** Files over the limit that are still to be cut. */
const TO_CUT: readonly string[] = [];
const NO_NAMES = /^(utils?|helpers?|types?|managers?|common|index|misc|shared)\.(ts|tsx|mjs)$/;

/** Sentences for what is wrong with the shape of `source`. */
export function shapeOf(source: Source): string[] {
  const complaints: string[] = [];
  const lines = source.text.split("\n");
  if (lines.length - 1 > LIMIT && !TO_CUT.includes(source.path))
    complaints.push(`${source.path} has ${lines.length - 1} lines, the limit is ${LIMIT}`);
  if (NO_NAMES.test(basename(source.path))) complaints.push(`${source.path}: a file is named after one noun`);
  const name = basename(source.path).replace(/(\.test)?\.(ts|tsx|mjs)$/, "");
  if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.d)?$/.test(name)) complaints.push(`${source.path}: file names are kebab-case`);
  const first = lines[0]?.startsWith("#!") ? lines[1] : lines[0];
  // A page component says what it is by its name and its place.
  if (!source.path.endsWith("-page.tsx") && !/^(\/\/|\/\*)/.test(first ?? ""))
    complaints.push(`${source.path} does not open by saying what it is`);
  return complaints;
}
