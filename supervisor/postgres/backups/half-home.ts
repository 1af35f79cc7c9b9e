// A home that is being filled says so, from before its first byte until all of it is on the disk.
// Invariant: wherever the power goes, a home without its mark is empty or whole.

import { join } from "node:path";
import { type Disk, systemDisk, writeWhole } from "./disk.ts";

/** `home` is half of one from now on. What is written after this need not be synced. */
export async function markHalf(home: string, mark: string, text: string, disk: Disk = systemDisk): Promise<void> {
  await disk.makeDirectory(home);
  await writeWhole(disk, home, [Buffer.from(text)], () => mark);
}

/** `home` is a whole one. `trees`: where all of it lies, which may be on several disks. */
export async function markWhole(
  home: string,
  mark: string,
  trees: readonly string[],
  disk: Disk = systemDisk,
): Promise<void> {
  for (const tree of trees) await disk.syncTree(tree);
  await disk.remove(join(home, mark));
  await disk.syncDirectory(home);
}
