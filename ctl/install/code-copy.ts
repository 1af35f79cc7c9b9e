// The code an installation runs from: a copy of what a release is made of, without what only development needs.

import { createHash } from "node:crypto";
import { chmod, cp, lstat, mkdir, readdir, readFile, readlink, rename, rm, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { OwlError } from "../../config/errors.ts";

const FILES = [
  "package.json",
  "package-lock.json",
  "LICENSE",
  "README.md",
  "CHANGELOG.md",
  "tsconfig.json",
  "manifest.json",
  "release.pub",
];
const FOLDERS = [
  "config",
  "ctl",
  "migrations",
  "services",
  "supervisor",
  "systemd",
  ".build",
  ".guide",
  "node_modules",
];

/** A digest of the code without node_modules, whose content package-lock.json stands for. */
export async function digestCode(root: string): Promise<string> {
  const hash = createHash("sha256");
  for (const path of await listFiles(root)) {
    const full = join(root, path);
    const found = await lstat(full);
    hash.update(`${path}\0${found.mode & 0o100}\0`);
    hash.update(found.isSymbolicLink() ? await readlink(full) : await readFile(full));
  }
  return hash.digest("hex");
}

async function listFiles(root: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of FILES) if (await stat(join(root, name)).catch(() => null)) found.push(name);
  for (const folder of FOLDERS.filter((name) => name !== "node_modules")) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (!entry.isDirectory()) found.push(relative(root, join(entry.parentPath, entry.name)));
    }
  }
  return found.sort();
}

/** Copies it to `to` under another name first, so that `to` is complete or not there. Throws `install.code`. */
export async function copyCode(root: string, to: string): Promise<void> {
  if (!(await stat(join(root, "node_modules")).catch(() => null))) {
    throw new OwlError("install.code", `${root} has no node_modules to install.`, {
      next: `Run npm ci in ${root} first.`,
    });
  }
  const skipped = await developmentPackages(root);
  const fresh = `${to}.new`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { recursive: true });
  for (const name of [...FILES, ...FOLDERS]) {
    const from = join(root, name);
    if (!(await stat(from).catch(() => null))) continue;
    await cp(from, join(fresh, name), {
      recursive: true,
      verbatimSymlinks: true,
      // By these a bundled program knows its sources.
      preserveTimestamps: true,
      filter: (source) => !skipped.has(relative(root, source)),
    });
  }
  await openToAll(fresh);
  await rename(fresh, to);
}

/** Folders of node_modules that package-lock.json marks as needed for development only. */
async function developmentPackages(root: string): Promise<ReadonlySet<string>> {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    packages?: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  const entries = Object.entries(lock.packages ?? {});
  return new Set(entries.filter(([path, entry]) => path !== "" && entry.dev === true).map(([path]) => path));
}

/** The services run as another user: everything is readable, as it is on a checkout with a usual umask. */
async function openToAll(dir: string): Promise<void> {
  await chmod(dir, 0o755);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await openToAll(path);
    else if (entry.isFile()) await chmod(path, ((await lstat(path)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}
