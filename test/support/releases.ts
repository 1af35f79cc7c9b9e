// Releases for tests: this checkout linked into a folder of its own, changed a little, with a manifest of its own.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildBundles } from "../../services/prepare/bundles.ts";
import { buildPages } from "../../services/web/pages/build.ts";
import { MANIFEST_FILE, parseManifest } from "../../supervisor/core/manifest.ts";
import { composeManifest } from "../../supervisor/release/build.ts";
import { CODE, packRelease } from "../../supervisor/release/deb.ts";

const ROOT = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
const PARTS = [
  "package.json",
  "package-lock.json",
  "LICENSE",
  "README.md",
  "CHANGELOG.md",
  "tsconfig.json",
  "config",
  "ctl",
  "migrations",
  "services",
  "supervisor",
  "systemd",
  ".build",
  ".guide",
];

/** Makes the release `version` in `dir`; `files` replace or add to those of the checkout. */
export async function makeRelease(
  dir: string,
  version: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const path = join(dir, version);
  mkdirSync(path, { recursive: true });
  await buildPages();
  await buildBundles();
  for (const part of PARTS) execFileSync("cp", ["-a", join(ROOT, part), path]);
  rmSync(join(path, ".build/.cache"), { recursive: true, force: true });
  // Hundreds of megabytes that nobody changes: linked, not copied, where both are on one file system.
  const modules = [join(ROOT, "node_modules"), path];
  try {
    execFileSync("cp", ["-a", "-l", ...modules], { stdio: "ignore" });
  } catch {
    execFileSync("cp", ["-a", ...modules]);
  }
  const own = JSON.stringify({ name: "owl", version, type: "module" });
  for (const [name, text] of Object.entries({ "package.json": own, ...files })) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    rmSync(join(path, name), { force: true });
    writeFileSync(join(path, name), text);
  }
  // A changed source is not in the bundles; an entry is none of them.
  const isBundled = (name: string): boolean => /^(services|config)\/(?!\w+\/main\.ts$)/.test(name);
  if (Object.keys(files).some(isBundled)) {
    execFileSync(process.execPath, ["services/prepare/bundles.ts", "--alone"], { cwd: path });
    rmSync(join(path, ".build/.cache"), { recursive: true, force: true });
  }
  const manifest = await composeManifest({
    root: path,
    version,
    commit: "0123456789abcdef",
    builtAt: "2026-11-01T00:00:00.000Z",
    say: () => undefined,
  });
  writeFileSync(join(path, MANIFEST_FILE), JSON.stringify(manifest));
  return path;
}

/**
 * A whole, verified release that cannot run: the manifest of the one at `like`, but for its version, its few files and
 * whatever `change` lays over it.
 */
export function makeHollowRelease(
  dir: string,
  version: string,
  like: string,
  files: Readonly<Record<string, string>> = { "a.txt": "nothing to run\n" },
  change: Readonly<Record<string, unknown>> = {},
): string {
  const path = join(dir, version);
  const listed: Record<string, object> = {};
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
    const sha256 = createHash("sha256").update(text).digest("hex");
    listed[name] = { sha256, size: Buffer.byteLength(text), mode: 420 };
  }
  const manifest = JSON.parse(readFileSync(join(like, MANIFEST_FILE), "utf8")) as Record<string, unknown>;
  const whole = { ...manifest, version, files: listed, links: {}, ...change };
  writeFileSync(join(path, MANIFEST_FILE), JSON.stringify(whole));
  return path;
}

/** The release directory `path` as a Debian package at `output`, not compressed. */
export async function packageRelease(path: string, output: string): Promise<void> {
  const manifest = parseManifest(readFileSync(join(path, MANIFEST_FILE), "utf8"));
  const tree = mkdtempSync(`${output}.`);
  try {
    for (const name of [MANIFEST_FILE, ...Object.keys(manifest.files)])
      cpSync(join(path, name), join(tree, CODE, name), { verbatimSymlinks: true });
    await packRelease(tree, manifest, output, ["-Znone"]);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** The release directory `path` as a plain archive at `output`. */
export function archiveRelease(path: string, output: string): void {
  const rest = readdirSync(path).filter((name) => name !== MANIFEST_FILE);
  execFileSync("tar", ["--hard-dereference", "-cf", output, "-C", path, MANIFEST_FILE, ...rest]);
}
