// A private copy of the npm package's PostgreSQL beside its data, one directory per build.
// Why a copy: the server outlives `npm ci` and a pruned release, and its account may not be able to enter the checkout.
// Invariant: a directory named by its hash is complete (made under another name and renamed).

import { chmod, cp, mkdir, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncTree } from "../release/sync.ts";
import { hashBinaries } from "./binaries.ts";

/** Copies the package's `native` directory under `into`; answers the copy's bin directory. Does nothing the second time. */
export async function copyPackageBinaries(bin: string, into: string): Promise<string> {
  const native = dirname(bin);
  const name = `package-${(await hashBinaries(bin)).slice(0, 16)}`;
  const target = join(into, name);
  await mkdir(into, { recursive: true });
  const present = await readdir(into);
  if (present.includes(name)) return join(target, "bin");
  const fresh = `${target}.new-${process.pid}`;
  for (const left of present.filter((entry) => entry.includes(".new-"))) {
    await rm(join(into, left), { recursive: true, force: true });
  }
  // Static libraries and build files are half of it and of no use to a server.
  await cp(native, fresh, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith(".a") && basename(source) !== "pkgconfig",
  });
  await openToAll(fresh);
  await restoreLinks(native, fresh);
  await syncTree(fresh);
  await rename(fresh, target).catch(async (error: NodeJS.ErrnoException) => {
    await rm(fresh, { recursive: true, force: true });
    // Another start finished the same copy meanwhile.
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
  });
  return join(target, "bin");
}

/** npm keeps no links in an archive; the package's install script makes them, when npm was allowed to run it. */
async function restoreLinks(native: string, target: string): Promise<void> {
  const file = join(native, "pg-symlinks.json");
  const links = JSON.parse(await readFile(file, "utf8").catch(() => "[]")) as { source: string; target: string }[];
  for (const link of links) {
    const at = join(target, link.target.replace(/^native\//, ""));
    if (!at.startsWith(`${target}/`)) continue;
    await rm(at, { force: true });
    await symlink(basename(link.source), at);
  }
}

/** A checkout made under a strict umask would be unreadable for PostgreSQL's account. */
async function openToAll(dir: string): Promise<void> {
  await chmod(dir, 0o755);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await openToAll(path);
    else if (entry.isFile()) await chmod(path, basename(dir) === "bin" ? 0o755 : 0o644);
  }
}
