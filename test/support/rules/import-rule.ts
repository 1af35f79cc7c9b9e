// Who may import whom: the table of the style page as a function of two paths. Broken imports come back as sentences.

import { dirname, posix } from "node:path";
import { codeOnly, type Source } from "./sources.ts";

export interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

/** Static, re-exporting, side-effect and dynamic imports. */
export function importsOf(text: string): readonly Import[] {
  const found: Import[] = [];
  const withoutComments = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/[^\n]*/gm, "");
  for (const match of withoutComments.matchAll(
    /^\s*(import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?["']([^"']+)["']/gm,
  )) {
    found.push({ specifier: match[3] ?? "", typeOnly: match[2] !== undefined });
  }
  for (const match of withoutComments.matchAll(/\bimport\(\s*["']([^"']+)["']\s*\)/g)) {
    const typeOnly = /\btypeof\s+import\(/.test(withoutComments.slice(Math.max(0, match.index - 10), match.index + 8));
    found.push({ specifier: match[1] ?? "", typeOnly });
  }
  return found;
}

/** Sentences for every import of `source` that the table forbids. */
export function brokenImports(source: Source): string[] {
  const complaints: string[] = [];
  for (const one of importsOf(source.text)) {
    const why = one.specifier.startsWith(".")
      ? forbiddenPath(source.path, target(source.path, one.specifier), one.typeOnly)
      : forbiddenPackage(source.path, one);
    if (why !== null) complaints.push(`${source.path} imports ${one.specifier}: ${why}`);
  }
  // An import that the pattern above cannot read must not slip through. Peers of the benchmark lie in a temporary folder,
  // a program's bundle in a folder named after what is in it.
  if (source.path.startsWith("test/bench/peers/") || source.path === "services/program.ts") return complaints;
  const computed = /\bimport\((?!\s*["'])/.exec(source.text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, ""));
  if (computed !== null && /\bimport\(\s*[A-Za-z_`]/.test(codeOnly(source.text)))
    complaints.push(`${source.path}: an import with a computed name cannot be checked`);
  return complaints;
}

function target(from: string, specifier: string): string {
  return posix.normalize(posix.join(dirname(from), specifier));
}

/** Shapes, constants and pure functions: what a core may use of the configuration. */
const CORE_PORTS = ["units", "errors", "time", "language", "text", "config"].map((name) => `config/${name}.ts`);
/** Packages without I/O, clock or state of their own. */
const PURE_PACKAGES = ["zod", "node:path"];

function forbiddenPath(from: string, to: string, typeOnly: boolean): string | null {
  if (!/\.(ts|tsx|mjs|json)$/.test(to)) return "relative imports name their file with its extension";
  const wing = from.split("/")[0] ?? "";
  const other = to.split("/")[0] ?? "";
  if (wing === "test") return null;
  if (other === "test") return "nothing imports tests";
  if (to === "package.json") return null;
  const core = coreOf(from);
  if (core !== null) {
    if (to.startsWith(`${core}/`) || CORE_PORTS.includes(to)) return null;
    // Shapes of data carry no behaviour; they are erased before anything runs.
    return typeOnly && (other === "config" || to.startsWith("services/core/wire/"))
      ? null
      : "a core imports itself and config/units, errors, time";
  }
  if (wing === "config") return other === "config" ? null : "config imports itself only";
  if (other === "config") return null;
  if (wing !== other) return `${wing} imports config and itself`;
  if (wing === "supervisor") return forbiddenInSupervisor(from, to, typeOnly);
  if (wing === "services") return forbiddenInServices(from, to);
  return null;
}

/** The loop, and what lives and moves by it. */
const DECIDING = /^supervisor\/(loop\.ts|(instances|rollouts)\/|updates\/(request|runner|steps|approvals)\.ts)/;
/** What touches the machine, the database or the proxies; whoever decides sees them through ports.ts. */
const ADAPTERS =
  /^supervisor\/(process|postgres|control|preflight|systemd|state(?!\/facts\.ts)|release|proxies|proxy)\//;

function forbiddenInSupervisor(from: string, to: string, typeOnly: boolean): string | null {
  const inProxy = (path: string) => path.startsWith("supervisor/proxy/");
  if (inProxy(from) !== inProxy(to)) return "the proxy is another process: they meet in config/proxy-feed.ts";
  if (typeOnly || !DECIDING.test(from) || !ADAPTERS.test(to)) return null;
  return "the loop and the runners see adapters through ports.ts only; daemon.ts builds them";
}

function forbiddenInServices(from: string, to: string): string | null {
  const part = (path: string) => path.split("/")[1] ?? "";
  const kind = (path: string) => /^services\/jobs\/([^/]+)\//.exec(path)?.[1] ?? null;
  if (kind(from) !== null && kind(to) !== null && kind(from) !== kind(to)) return "job kinds never import each other";
  const pair = [part(from), part(to)].sort().join(" ");
  return pair === "web worker" ? "web and worker meet in db and core only" : null;
}

function forbiddenPackage(from: string, one: Import): string | null {
  if (from.startsWith("test/")) return null;
  if (coreOf(from) !== null && !PURE_PACKAGES.includes(one.specifier))
    return "a core uses no package and no node module";
  if (one.specifier === "node:http" && !one.typeOnly) return "values of node:http come from config/http.ts";
  if (one.specifier === "pg-boss" && from !== "services/db/queue.ts" && !from.startsWith("test/"))
    return "pg-boss is touched by services/db/queue.ts only";
  if (/^(fs|path|os|net|http|https|crypto|child_process|stream|util|url|events)(\/|$)/.test(one.specifier))
    return "node's own modules are written node:…";
  return null;
}

function coreOf(path: string): string | null {
  return /^(.*?\/core)\//.exec(path)?.[1] ?? null;
}
