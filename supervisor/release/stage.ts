// Puts a release beside the current one: unpacked under a temporary name, every hash verified, then renamed.
// Invariant: releases/<version> exists only whole, verified and on the disk; a kill or power cut at any line leaves at
// most a folder whose name begins with a dot, which the next staging and every start of owld remove.

import { cp, type FileHandle, mkdir, readdir, rename, rm, stat, symlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { asError } from "../../config/errors.ts";
import type { Manifest } from "../core/manifest.ts";
import { Refusal } from "../core/text/refusal.ts";
import { unpackArchive } from "./archive.ts";
import { checkSignature, type Signing, type Trust, unsignedFolder } from "./signature.ts";
import { syncDirectory, syncTree } from "./sync.ts";
import { readManifest, verifyRelease } from "./verify.ts";

const STAGING = ".staging-";
const REMOVING = ".removing-";
/** Folders this very process is filling or removing: an update may be asked for while a start still cleans up. */
const inUse = new Set<string>();

interface StagedRelease {
  readonly manifest: Manifest;
  readonly path: string;
  /** True when that very release lay there already. */
  readonly already: boolean;
  readonly signing: Signing;
}

/**
 * Stages the archive file or release directory `source` below `releases`, if `trust` admits it. Throws `release.*`; then
 * nothing is left.
 */
export async function stageRelease(
  source: string,
  releases: string,
  token: string,
  signal: AbortSignal,
  trust: Trust,
): Promise<StagedRelease> {
  await mkdir(releases, { recursive: true, mode: 0o755 });
  // Space lost, no more: one that cannot be removed stops no staging.
  await removeStagingLeftovers(releases).catch(() => []);
  const staging = join(releases, `${STAGING}${token}`);
  inUse.add(staging);
  try {
    await mkdir(staging, { mode: 0o755 });
    // Asked as soon as the manifest is read, before anything else is unpacked.
    const isHere = async (manifest: Manifest): Promise<boolean> => {
      refuseOtherPlatform(manifest);
      const there = await readManifest(join(releases, manifest.version)).catch(() => null);
      return JSON.stringify(there) === JSON.stringify(manifest);
    };
    const { manifest, signing } = await fill(source, staging, { releases, trust, isHere, signal });
    const kept = async () => ({
      ...(await keepExisting(join(releases, manifest.version), manifest, staging, signal)),
      signing,
    });
    if (await isHere(manifest)) return await kept();
    for (const [path, target] of Object.entries(manifest.links)) await link(staging, path, target);
    await verifyRelease(staging, manifest, signal);
    const path = join(releases, manifest.version);
    await syncTree(staging);
    signal.throwIfAborted();
    const raced = await rename(staging, path).then(
      () => false,
      (error: NodeJS.ErrnoException) => {
        // Another staging of that version was faster.
        if (error.code === "ENOTEMPTY" || error.code === "EEXIST") return true;
        throw error;
      },
    );
    if (raced) return await kept();
    syncDirectory(releases);
    return { manifest, path, already: false, signing };
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOSPC" || code === "EDQUOT")
      throw new Refusal("release.diskFull", (text) => text.refused.release.diskFullStaging(), { cause: error });
    throw error;
  } finally {
    inUse.delete(staging);
  }
}

function refuseOtherPlatform({ version, platform }: Manifest): void {
  const here = `${process.platform}-${process.arch}`;
  if (platform === here) return;
  throw new Refusal("update.platform", (text) => text.refused.release.platform(version, platform, here));
}

/** Removes what a staging or a removal that was killed left behind; answers the names. */
export async function removeStagingLeftovers(releases: string): Promise<readonly string[]> {
  const names = await readdir(releases).catch(() => [] as string[]);
  const left = names.filter(
    (name) => (name.startsWith(STAGING) || name.startsWith(REMOVING)) && !inUse.has(join(releases, name)),
  );
  for (const name of left) await rm(join(releases, name), { recursive: true, force: true });
  return left;
}

/** Removes the release at `path`: out of sight first, so that a kill leaves no half of it under its version. Repeatable. */
export async function removeRelease(path: string): Promise<void> {
  const going = join(dirname(path), `${REMOVING}${basename(path)}`);
  inUse.add(going);
  try {
    await rm(going, { recursive: true, force: true });
    if (await exists(path)) await rename(path, going);
    await rm(going, { recursive: true, force: true });
  } finally {
    inUse.delete(going);
  }
}

interface Filling {
  readonly releases: string;
  readonly trust: Trust;
  readonly isHere: (manifest: Manifest) => Promise<boolean>;
  readonly signal: AbortSignal;
}

async function fill(
  source: string,
  staging: string,
  { releases, trust, isHere, signal }: Filling,
): Promise<Pick<StagedRelease, "manifest" | "signing">> {
  const stats = await stat(source).catch((cause: unknown) => {
    const why = asError(cause).message;
    throw new Refusal("release.archive", (text) => text.refused.release.unreadable(source, why), { cause });
  });
  let signing: Signing = "checked";
  if (!stats.isDirectory()) {
    const admit = async (file: FileHandle): Promise<void> => {
      signing = await checkSignature(source, file, trust);
    };
    return { manifest: await unpackArchive(source, staging, admit, isHere, signal), signing };
  }
  // What lies among the releases was admitted when it was staged.
  if (dirname(resolve(source)) !== resolve(releases)) signing = unsignedFolder(source, trust);
  const manifest = await readManifest(source);
  if (await isHere(manifest)) return { manifest, signing };
  for (const path of ["manifest.json", ...Object.keys(manifest.files)]) {
    signal.throwIfAborted();
    await mkdir(dirname(join(staging, path)), { recursive: true });
    // dereference false and errorOnExist: a link where the manifest lists a file fails the verification.
    await cp(join(source, path), join(staging, path), {
      errorOnExist: true,
      force: false,
      verbatimSymlinks: true,
    }).catch((cause: unknown) => {
      if ((cause as NodeJS.ErrnoException).code === "ENOSPC") throw cause;
      const why = asError(cause).message;
      throw new Refusal("release.changed", (text) => text.refused.release.notCopied(path, source, why), { cause });
    });
  }
  return { manifest, signing };
}

async function link(staging: string, path: string, target: string): Promise<void> {
  await mkdir(dirname(join(staging, path)), { recursive: true });
  await symlink(target, join(staging, path));
}

async function keepExisting(
  path: string,
  manifest: Manifest,
  staging: string,
  signal: AbortSignal,
): Promise<Omit<StagedRelease, "signing">> {
  const there = await readManifest(path);
  if (JSON.stringify(there) !== JSON.stringify(manifest))
    throw new Refusal("release.exists", (text) => text.refused.release.exists(manifest.version), { data: { path } });
  await verifyRelease(path, there, signal);
  await rm(staging, { recursive: true, force: true });
  return { manifest: there, path, already: true };
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
