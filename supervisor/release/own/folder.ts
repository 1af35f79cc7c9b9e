// The releases of a team's own code on the disk: `own-releases/7/code`, and `own-releases/7/release.json` that says what
// it is. Invariant: a release is there from the moment its release.json is, which is written last; a folder without one
// is what a killed copy left, and is swept away.

import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { OwnRelease } from "../../../config/deploy-api.ts";
import { codeOf, numberOfRelease } from "../../core/own-release.ts";
import { replaceFile, syncDirectory, syncTree } from "../sync.ts";
import { readTree, setWritable } from "./tree.ts";

export const RECORD = "release.json";
const REMOVING = ".removing-";

export interface OwnReleases {
  readonly folder: string;
  /** The newest first. */
  all(): Promise<readonly OwnRelease[]>;
  /** An empty folder for the code of that release, whose name no other one has or had. */
  begin(id: string): Promise<string>;
  /** Read-only, hashed and on the disk, it is a release from now on. Throws `deploy.tooLarge`. */
  finish(id: string, facts: Pick<OwnRelease, "from" | "madeAt">, signal: AbortSignal): Promise<OwnRelease>;
  /** Is its code what it was when it was made? */
  isIntact(release: OwnRelease, signal: AbortSignal): Promise<boolean>;
  /** It came into force for these services. */
  noteStood(id: string, services: readonly string[], at: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Removes what is no release: to be called while none is being made. */
  sweep(): Promise<void>;
}

export function createOwnReleases(folder: string, sizeBytes: () => number): OwnReleases {
  const record = (id: string): string => join(folder, id, RECORD);

  async function read(id: string): Promise<OwnRelease | null> {
    const text = await readFile(record(id), "utf8").catch(() => null);
    return text === null ? null : (JSON.parse(text) as OwnRelease);
  }

  async function names(): Promise<readonly string[]> {
    return await readdir(folder).catch(() => []);
  }

  async function removeFolder(name: string): Promise<void> {
    const going = name.startsWith(".") ? name : `${REMOVING}${name}`;
    if (going !== name) {
      // Out of sight first: half of it is no release.
      await rm(join(folder, name, RECORD), { force: true });
      await rename(join(folder, name), join(folder, going));
    }
    await setWritable(join(folder, going), true);
    await rm(join(folder, going), { recursive: true, force: true });
  }

  return {
    folder,
    async all() {
      const found = await Promise.all((await names()).filter((name) => numberOfRelease(name) > 0).map(read));
      const whole = found.filter((one) => one !== null);
      return whole.toSorted((a, b) => numberOfRelease(b.id) - numberOfRelease(a.id));
    },
    async begin(id) {
      await mkdir(folder, { recursive: true, mode: 0o755 });
      await mkdir(join(folder, id), { mode: 0o755 });
      await mkdir(codeOf(folder, id), { mode: 0o755 });
      return codeOf(folder, id);
    },
    async finish(id, { from, madeAt }, signal) {
      const code = codeOf(folder, id);
      await setWritable(code, false);
      const { sha256, files, bytes } = await readTree(code, sizeBytes(), signal);
      const release: OwnRelease = { id, madeAt, from, sha256, files, bytes, stood: {} };
      await syncTree(code);
      signal.throwIfAborted();
      replaceFile(record(id), JSON.stringify(release));
      syncDirectory(folder);
      return release;
    },
    async isIntact({ id, sha256 }, signal) {
      const now = await readTree(codeOf(folder, id), Number.POSITIVE_INFINITY, signal).catch(() => null);
      return now?.sha256 === sha256;
    },
    async noteStood(id, services, at) {
      const release = await read(id);
      if (release === null) return;
      const stood = { ...release.stood, ...Object.fromEntries(services.map((name) => [name, at])) };
      replaceFile(record(id), JSON.stringify({ ...release, stood }));
    },
    remove: removeFolder,
    async sweep() {
      const whole = new Set((await this.all()).map(({ id }) => id));
      for (const name of await names()) if (!whole.has(name)) await removeFolder(name);
    },
  };
}
