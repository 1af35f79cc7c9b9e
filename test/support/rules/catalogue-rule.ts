// Which sentences of a catalogue nobody says, read off the sources that could.

import { sources } from "./sources.ts";

/** Every sentence of a catalogue by its path. */
export function leavesOf(node: unknown, path = ""): [string, unknown][] {
  if (Array.isArray(node) || typeof node !== "object" || node === null) return [[path, node]];
  return Object.entries(node).flatMap(([key, value]) => leavesOf(value, path === "" ? key : `${path}.${key}`));
}

/** The sources below `folder` that say something: all but the catalogues themselves, without comments. */
export function speakers(folder: string): string {
  const files = sources([folder]).filter((one) => !/\/text\/(.*-)?words\.ts$/.test(one.path));
  return files.map((one) => one.text.replace(/^\s*(\/\/|\/?\*).*$/gm, "")).join("\n");
}

/** Paths in an object of objects that no source reads: `a.b`, `{ b } = a`, `a["b"]`, or `a[name]` while it runs. */
export function unsaidPaths(paths: readonly string[], said: string): readonly string[] {
  return paths.filter((path) => {
    const names = path.split(".");
    if (new RegExp(`[.{,]\\s*${names.at(-1)}\\b|"${names.at(-1)}"`).test(said)) return false;
    return !names.some((name) => new RegExp(`[.]${name}\\[`).test(said));
  });
}

/** Keys with dots that stand in no source, whole or as the beginning of one that is put together. */
export function unsaidKeys(keys: readonly string[], said: string): readonly string[] {
  return keys.filter((key) => {
    if (said.includes(`"${key}"`)) return false;
    const ends = [...key.matchAll(/[.]|(?<=[a-z])(?=[A-Z])/g)].map((match) => match.index + match[0].length);
    return !ends.some((end) => said.includes(`\`${key.slice(0, end)}\${`));
  });
}
