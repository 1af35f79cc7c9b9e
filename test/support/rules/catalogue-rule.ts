// Which sentences of a catalogue nobody says, read off the sources that could.

import { sources } from "./sources.ts";

type Leaf = string | ((...values: never[]) => unknown);

/** Every sentence of a catalogue by its path; those of a list share one. */
export function leavesOf(node: unknown, path = ""): [string, Leaf][] {
  if (typeof node === "string" || typeof node === "function") return [[path, node as Leaf]];
  if (Array.isArray(node)) return node.flatMap((item) => leavesOf(item, path));
  return Object.entries(node as object).flatMap(([key, value]) =>
    leavesOf(value, path === "" ? key : `${path}.${key}`),
  );
}

/** The sources below `folder` that say something: all but the catalogues themselves, without comments. */
export function speakers(folder: string): string {
  const files = sources([folder]).filter((one) => !/\/text\/(.*-)?(en|ko)(-.*)?\.ts$/.test(one.path));
  return files.map((one) => one.text.replace(/^\s*(\/\/|\/?\*).*$/gm, "")).join("\n");
}

/** Paths in an object of objects that no source reads: `a.b`, `{ b } = a`, `a["b"]`, or `a[name]` while it runs. */
export function unsaidPaths(paths: readonly string[], said: string): readonly string[] {
  return paths.filter((path) => {
    const names = path.split(".");
    const last = names.at(-1) ?? "";
    if (new RegExp(`[.{,]\\s*${last}\\b|"${last}"`).test(said)) return false;
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
