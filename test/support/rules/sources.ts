// The repository's own sources as the rule tests read them: paths, text, and text without comments and strings.

import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export interface Source {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly text: string;
}

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
export const WINGS = ["config", "supervisor", "services", "ctl"] as const;

/** Every source of the wings (and of `test`, when asked). */
export function sources(folders: readonly string[] = WINGS): readonly Source[] {
  return folders
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: relative(ROOT, path), text: readFileSync(path, "utf8") }))
    .sort((a, b) => a.path.localeCompare(b.path));
}

/** `text` with comments and strings blanked out; what stands in `${…}` of a template is kept. Lines keep their numbers. */
export function codeOnly(text: string): string {
  const token = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g;
  return text.replace(token, (found) => {
    const kept = found.startsWith("`") ? [...found.matchAll(/\$\{([^}]*)\}/g)].map((match) => match[1]).join(" ") : "";
    return `${kept}${"\n".repeat(Math.max(0, found.split("\n").length - kept.split("\n").length))}`;
  });
}
