// The file system as backups write it: few verbs, so that a test can replay every prefix of them.
// Invariant: a name in a backup directory appears only when the whole of its content is on the disk.

import { createHash } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncDirectory, syncTree } from "../../release/sync.ts";

interface OpenFile {
  write(chunk: Uint8Array): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface Disk {
  create(path: string): Promise<OpenFile>;
  rename(from: string, to: string): Promise<void>;
  /** The names in that directory are on the disk. */
  syncDirectory(path: string): Promise<void>;
  /** All that was written below it, whoever wrote it. */
  syncTree(path: string): Promise<void>;
  makeDirectory(path: string): Promise<void>;
  /** A file, or a directory with all in it. */
  remove(path: string): Promise<void>;
}

export const systemDisk: Disk = {
  async create(path) {
    const handle = await open(path, "w", 0o600);
    return {
      async write(chunk) {
        for (let at = 0; at < chunk.length; ) at += (await handle.write(chunk, at)).bytesWritten;
      },
      sync: () => handle.datasync(),
      close: () => handle.close(),
    };
  },
  rename,
  async syncDirectory(path) {
    const directory = await open(path, "r");
    await directory.sync().finally(() => directory.close());
  },
  syncTree,
  async makeDirectory(path) {
    if ((await mkdir(path, { recursive: true, mode: 0o700 })) !== undefined) syncDirectory(dirname(path));
  },
  remove: (path) => rm(path, { recursive: true, force: true }),
};

export interface Written {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Writes `content` aside, then gives it the name that `nameOf` makes of its hash. */
export async function writeWhole(
  disk: Disk,
  directory: string,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  nameOf: (sha256: string) => string,
): Promise<Written> {
  const aside = join(directory, `.new-${nameOf("0")}`);
  const hash = createHash("sha256");
  let bytes = 0;
  const file = await disk.create(aside);
  try {
    try {
      for await (const chunk of content) {
        hash.update(chunk);
        bytes += chunk.length;
        await file.write(chunk);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    const sha256 = hash.digest("hex");
    const name = nameOf(sha256);
    await disk.rename(aside, join(directory, name));
    await disk.syncDirectory(directory);
    return { name, bytes, sha256 };
  } catch (error) {
    await disk.remove(aside).catch(() => undefined);
    throw error;
  }
}
