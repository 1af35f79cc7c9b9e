// Releases of a team's own code into the backup directory and out of it: each once, as a tar named by its id and hash;
// what is on record of it goes with the backup. Invariant: a restored release is, by its own hash, what was made.

import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { execa } from "execa";
import type { OwnRelease } from "../../../config/deploy-api.ts";
import { numberOfRelease } from "../../core/own-release.ts";
import { Refusal } from "../../core/text/refusal.ts";
import { createOwnReleases, RECORD } from "../../release/own/folder.ts";
import { replaceFile } from "../../release/sync.ts";
import { PROGRAM_ENV } from "../program.ts";
import { unpack } from "./codec.ts";
import type { StoredFile } from "./core/manifest.ts";
import { type BackupPlace, OWN_RELEASES, type OwnPlace } from "./directory.ts";

const TAR = { env: PROGRAM_ENV, extendEnv: false, cwd: "/" } as const;

const releasesIn = (folder: string) => createOwnReleases(folder, () => Number.POSITIVE_INFINITY);

/** Brings over those that are not there yet. `known`: what earlier backups listed. */
export async function keepReleases(
  place: OwnPlace,
  folder: string,
  known: readonly StoredFile[],
): Promise<{ readonly files: readonly StoredFile[]; readonly records: readonly OwnRelease[] }> {
  const there = new Set(await readdir(place.file(OWN_RELEASES)));
  const files: StoredFile[] = [];
  const records = await releasesIn(folder).all();
  for (const { id, sha256 } of records) {
    const name = `${id}-${sha256}.tar`;
    const before = there.has(name) ? known.find((one) => one.name === name) : undefined;
    files.push(before ?? (await place.put(OWN_RELEASES, tarOf(join(folder, id)), () => name)));
  }
  return { files, records };
}

/** Lays down those of a backup. Throws `backup.damaged`, `backup.missing`. */
export async function restoreReleases(
  place: BackupPlace,
  kept: { readonly files: readonly StoredFile[]; readonly records: readonly OwnRelease[] },
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const releases = releasesIn(folder);
  for (const release of kept.records) {
    const { id, sha256 } = release;
    const file = kept.files.find(({ name }) => name === `${id}-${sha256}.tar`);
    if (file === undefined || Number.isNaN(numberOfRelease(id))) continue;
    // What a cut restore left.
    if ((await readdir(folder).catch(() => [] as string[])).includes(id)) await releases.remove(id);
    const path = place.file(OWN_RELEASES, file.name);
    await mkdir(join(folder, id), { recursive: true, mode: 0o755 });
    const args = ["--extract", "--preserve-permissions", "--no-same-owner", "--directory", join(folder, id)];
    const tar = execa("tar", args, { ...TAR, cancelSignal: signal });
    const content = Readable.from(unpack(path, file.sha256, place.key));
    // A tar that has seen the archive's end may leave before ours: what was laid down decides.
    const [, ended] = await Promise.allSettled([pipeline(content, tar.stdin), tar]);
    signal.throwIfAborted();
    if (content.errored instanceof Refusal) throw content.errored;
    if (ended.status === "rejected" || !(await releases.isIntact(release, signal)))
      throw new Refusal("backup.damaged", ({ refused }) => refused.backup.damaged(path));
    replaceFile(join(folder, id, RECORD), JSON.stringify(release));
  }
}

async function* tarOf(directory: string): AsyncGenerator<Uint8Array> {
  const args = ["--create", "--numeric-owner", "--sort=name", "--directory", directory, "code"];
  const tar = execa("tar", args, { ...TAR, stdin: "ignore", buffer: { stdout: false }, encoding: "buffer" });
  yield* tar.iterable({ binary: true });
  await tar;
}
