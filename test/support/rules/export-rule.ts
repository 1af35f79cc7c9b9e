// Nothing is offered that nobody takes: exports, files and packages against the imports of every source.

import { dirname, posix } from "node:path";
import type { Source } from "./sources.ts";

/** Who imports what: names by the file they come from; `*` where a file is taken whole. */
function imported(sources: readonly Source[]): ReadonlyMap<string, ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, Map<string, string[]>>();
  const add = (from: string, specifier: string, name: string) => {
    const names = found.getOrInsertComputed(posix.join(dirname(from), specifier), () => new Map());
    names.getOrInsertComputed(name, () => []).push(from);
  };
  for (const { path, text } of sources) {
    for (const [, list, specifier = ""] of text.matchAll(/^(?:import|export)\s([^;"]*?)\sfrom "(\.[^"]+)"/gm)) {
      const names = /\{([^}]*)\}/.exec(list ?? "")?.[1];
      if (names === undefined) add(path, specifier, "*");
      for (const name of names?.split(",") ?? []) add(path, specifier, name.trim().replace(/^type |\s+as .*$/g, ""));
    }
    for (const [, specifier = ""] of text.matchAll(/\bimport\(\s*"(\.[^"]+)"|^import "(\.[^"]+)"/gm))
      add(path, specifier, "*");
  }
  return found;
}

/** Sentences for exports of the wings that no other file imports, or that only tests do and nothing beside them uses. */
export function idleExports(sources: readonly Source[]): string[] {
  const taken = imported(sources);
  return sources
    .filter(({ path }) => !path.startsWith("test/"))
    .flatMap(({ path, text }) => {
      const names = taken.get(path);
      const whole = names?.get("*") ?? [];
      const declared = text.matchAll(/^export (?:async )?(?:function\*?|const|let|class|interface|type) ([\w$]+)/gm);
      return [...declared].flatMap(([, name = ""]) => {
        const by = [...(names?.get(name) ?? []), ...whole];
        if (by.length === 0) return [`${path}: nobody imports ${name}`];
        const isUsedHere = [...text.matchAll(new RegExp(`\\b${name}\\b`, "g"))].length > 1;
        return isUsedHere || by.some((one) => !one.startsWith("test/")) ? [] : [`${path}: only tests use ${name}`];
      });
    });
}

/** Sources of the wings that nothing imports and that are not named in a script, a command or a build either. */
export function idleFiles(sources: readonly Source[], entries: readonly string[]): string[] {
  const taken = imported(sources);
  const isTaken = (path: string) => taken.has(path) || entries.includes(path) || path.endsWith(".d.ts");
  return sources.map(({ path }) => path).filter((path) => !path.startsWith("test/") && !isTaken(path));
}

/** Packages of `dependencies` that no source imports, by their names or below them. */
export function idlePackages(packages: readonly string[], sources: readonly Source[]): string[] {
  const all = sources.map(({ text }) => text).join("\n");
  return packages.filter((name) => !new RegExp(`["'\`]${name}(/[^"'\`]*)?["'\`]`).test(all));
}
