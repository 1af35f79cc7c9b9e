// A Debian package of a release: its files below /usr/lib/owl, which dpkg unpacks and checks; what makes a service of
// them, and updates it, is Owl's own (systemd/deb/). owl.yaml is none of its files, so no upgrade ever touches it.
// Invariant: the same release gives the same bytes.

import { execFile } from "node:child_process";
import { chmod, cp, lutimes, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { OwlError } from "../../config/errors.ts";
import type { Manifest } from "../core/manifest.ts";
import { unpackArchive } from "./archive.ts";

const run = promisify(execFile);

const ARCHITECTURES: Readonly<Record<string, string>> = { "linux-x64": "amd64", "linux-arm64": "arm64" };
/** Where the release lies in a package. */
export const CODE = "usr/lib/owl";
const NEEDRESTART = "etc/needrestart/conf.d/owl.conf";
const SCRIPTS = ["postinst", "prerm", "postrm"];

/** Whether packages can be made here. */
export async function hasDpkg(): Promise<boolean> {
  return await run("dpkg-deb", ["--version"]).then(
    () => true,
    () => false,
  );
}

/** The version as Debian orders them: a pre-release comes before its release. */
const debianVersion = (version: string): string => version.replaceAll("-", "~");

/** Where the package of an archive lies: beside it. */
const packageOf = (archive: string): string => `${archive.replace(/\.tar(\.\w+)?$/, "")}.deb`;

/** Makes the package of that archive (written beside it and renamed); answers its path. Throws `release.*`. */
export async function buildDeb(archive: string): Promise<string> {
  const output = packageOf(archive);
  const tree = await mkdtemp(`${output}.`);
  try {
    await chmod(tree, 0o755);
    const owl = join(tree, CODE);
    await mkdir(owl, { recursive: true });
    const signal = new AbortController().signal;
    const nothing = async (): Promise<void> => undefined;
    const manifest = await unpackArchive(archive, owl, nothing, async () => false, signal);
    await packRelease(tree, manifest, output, ["-Zzstd", "-z10"]);
    return output;
  } finally {
    await rm(tree, { recursive: true, force: true });
    await rm(`${output}.partial`, { force: true });
  }
}

/** `tree`, which holds that release's files where a package has them, as the package `output`. */
export async function packRelease(
  tree: string,
  manifest: Manifest,
  output: string,
  compression: readonly string[],
): Promise<void> {
  const owl = join(tree, CODE);
  for (const [path, target] of Object.entries(manifest.links)) {
    await mkdir(dirname(join(owl, path)), { recursive: true });
    await symlink(target, join(owl, path));
  }
  await lay(tree, owl, manifest);
  const env = {
    ...process.env,
    SOURCE_DATE_EPOCH: `${secondsOf(manifest)}`,
    // What it writes depends on how many there are.
    DPKG_DEB_THREADS_MAX: "1",
  };
  await run("dpkg-deb", ["--root-owner-group", ...compression, "--build", tree, `${output}.partial`], { env });
  await rename(`${output}.partial`, output);
}

const secondsOf = ({ builtAt }: Manifest): number => Math.floor(Date.parse(builtAt) / 1_000);

/** What a package has besides the release, and everything's time and mode. */
async function lay(tree: string, owl: string, manifest: Manifest): Promise<void> {
  const { platform, version, files } = manifest;
  const architecture = ARCHITECTURES[platform];
  if (architecture === undefined)
    throw new OwlError("release.platform", `Debian has no name for ${platform}, so there is no package for it.`);
  const own = join(owl, "systemd/deb");
  const control = join(tree, "DEBIAN");
  await mkdir(control);
  await mkdir(dirname(join(tree, NEEDRESTART)), { recursive: true });
  await mkdir(join(tree, "usr/share/doc/owl"), { recursive: true });
  await cp(join(own, "needrestart.conf"), join(tree, NEEDRESTART));
  await cp(join(owl, "LICENSE"), join(tree, "usr/share/doc/owl/copyright"));
  const kibibytes = Object.values(files).reduce((sum, { size }) => sum + Math.ceil(size / 1_024), 0);
  const fields = [
    "Package: owl",
    `Version: ${debianVersion(version)}`,
    `Architecture: ${architecture}`,
    "Maintainer: Owl <owl@localhost>",
    `Installed-Size: ${kibibytes}`,
    "Depends: systemd",
    "Recommends: ffmpeg",
    "Section: admin",
    "Priority: optional",
    "Description: runs a team's long-running AI work on one machine",
    " A daemon that starts web and worker processes, fronts them with its own proxy and",
    " replaces them one by one, so that a running turn always ends with an answer or a",
    " recorded failure.",
  ];
  await writeFile(join(control, "control"), `${fields.join("\n")}\n`);
  await writeFile(join(control, "conffiles"), `/${NEEDRESTART}\n`);
  for (const name of SCRIPTS) await cp(join(own, name), join(control, name));
  const programs = new Set([
    ...SCRIPTS.map((name) => join(control, name)),
    ...Object.entries(files).flatMap(([path, { mode }]) => (mode === 0o755 ? [join(owl, path)] : [])),
  ]);
  await settle(tree, programs, secondsOf(manifest));
}

/** One time for all, and modes that do not depend on whose umask it was. */
async function settle(folder: string, programs: ReadonlySet<string>, seconds: number): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await settle(path, programs, seconds);
    else {
      if (entry.isFile()) await chmod(path, programs.has(path) ? 0o755 : 0o644);
      await lutimes(path, seconds, seconds);
    }
  }
  await chmod(folder, 0o755);
  await lutimes(folder, seconds, seconds);
}
