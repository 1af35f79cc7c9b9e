// The archive folders a batch may read. Invariant: a path is used only as its real path (links resolved) lies inside a
// root's real path; `..` is refused before anything is looked at.

import type { Dirent } from "node:fs";
import { lstat, opendir, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, normalize, sep } from "node:path";
import { OwlError } from "../../config/errors.ts";
import { type FoundFile, nameOf } from "../core/batch-plan.ts";
import { failure } from "../core/wire/errors.ts";

const FILES_LIMIT = 100_000;
const DEPTH_LIMIT = 32;

function outside(path: string): OwlError {
  return failure("path.outside", { path });
}

const tooMany = () => failure("batch.tooLarge", { limit: FILES_LIMIT });

const isInside = (path: string, root: string) =>
  path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);

async function realRoots(roots: readonly string[]): Promise<readonly string[]> {
  const real = await Promise.all(roots.map((root) => realpath(root).catch(() => null)));
  return real.filter((root): root is string => root !== null);
}

/**
 * The real path of `path`. Throws `path.outside` for one that is not absolute, climbs with `..`, or lies (itself or by a
 * link) outside every root; `path.notFound` for one inside that is not there.
 */
export async function resolveInside(path: string, roots: readonly string[]): Promise<string> {
  return resolveWithin(path, roots, await realRoots(roots));
}

async function resolveWithin(path: string, roots: readonly string[], real: readonly string[]): Promise<string> {
  if (!isAbsolute(path) || path.includes("\u0000") || path.split("/").includes("..")) throw outside(path);
  const plain = normalize(path).replace(/(?<=.)\/$/, "");
  try {
    const found = await realpath(plain);
    if (real.some((root) => isInside(found, root))) return found;
    throw outside(path);
  } catch (error) {
    if (error instanceof OwlError) throw error;
    // Whether something is there is told only of what lies inside.
    if (![...roots, ...real].some((root) => isInside(plain, root))) throw outside(path);
    throw failure("path.notFound", { path }, { cause: error });
  }
}

/**
 * Every file under the named paths (or the paths themselves), each once however often and by however many of them it is
 * named. Throws as `resolveInside`, `batch.tooLarge` for too many files, and the signal's reason.
 */
export async function findFiles(
  paths: readonly string[],
  roots: readonly string[],
  signal: AbortSignal,
): Promise<readonly FoundFile[]> {
  const inside = await realRoots(roots);
  const found = new Map<string, FoundFile>();
  const tops = new Set<string>();
  await inBunches([...new Set(paths)], signal, async (path) => {
    tops.add(await resolveWithin(path, roots, inside));
  });
  for (const top of [...tops].filter((one) => !isUnderAnother(one, tops))) await list(top);
  return [...found.values()];

  function add(file: FoundFile): void {
    found.set(file.path, file);
    if (found.size > FILES_LIMIT) throw tooMany();
  }

  async function list(top: string): Promise<void> {
    signal.throwIfAborted();
    const info = await stat(top).catch((cause: unknown) => {
      throw failure("path.notFound", { path: top }, { cause });
    });
    if (info.isDirectory()) return walk(top, 0);
    add({ path: top, bytes: info.size, refused: info.isFile() ? null : "neither file nor folder" });
  }

  async function walk(dir: string, depth: number): Promise<void> {
    const entries: Dirent[] = [];
    try {
      for await (const entry of await opendir(dir, { bufferSize: 256 })) {
        entries.push(entry);
        if (entries.length > FILES_LIMIT) break;
        signal.throwIfAborted();
      }
    } catch {
      signal.throwIfAborted();
      return add({ path: dir, bytes: 0, refused: "the folder cannot be read" });
    }
    if (entries.length > FILES_LIMIT) throw tooMany();
    const folders: string[] = [];
    await inBunches(entries, signal, async (entry) => {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) {
        // Hidden folders hold what programs keep for themselves.
        if (!entry.name.startsWith(".")) folders.push(path);
      } else add(await look(path, entry));
    });
    for (const folder of folders.sort()) {
      if (depth >= DEPTH_LIMIT) add({ path: folder, bytes: 0, refused: "too many folders deep" });
      else await walk(folder, depth + 1);
    }
  }

  async function look(path: string, entry: Dirent): Promise<FoundFile> {
    const refuse = (refused: string): FoundFile => ({ path, bytes: 0, refused });
    try {
      if (entry.isSymbolicLink()) {
        const target = await realpath(path).catch(() => null);
        if (target === null) return refuse("a link that leads nowhere");
        if (!inside.some((root) => isInside(target, root))) return refuse("a link that leaves the archive folders");
        const linked = await stat(target);
        return linked.isFile() ? { path, bytes: linked.size, refused: null } : refuse("a link to a folder");
      }
      if (!entry.isFile()) return refuse("not a file");
      return { path, bytes: (await lstat(path)).size, refused: null };
    } catch {
      return refuse("cannot be read");
    }
  }
}

/** Is it found already by walking another one of `tops`? A hidden folder is not: no walk enters it. */
function isUnderAnother(path: string, tops: ReadonlySet<string>): boolean {
  for (let at = path; ; ) {
    if (nameOf(at).startsWith(".")) return false;
    const parent = at.slice(0, at.lastIndexOf("/")) || "/";
    if (parent === at) return false;
    if (tops.has(parent)) return true;
    at = parent;
  }
}

/** A bounded number of file system calls at once. */
async function inBunches<T>(all: readonly T[], signal: AbortSignal, run: (one: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += 64) {
    signal.throwIfAborted();
    await Promise.all(all.slice(at, at + 64).map(run));
  }
}
