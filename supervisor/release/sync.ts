// What is to be on the disk before something points to it: a power cut keeps writes and renames in no order.

import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { execa } from "execa";

/** Everything written below `path` so far is on its disk. A file system that cannot say so is no failure. */
export async function syncTree(path: string): Promise<void> {
  // One call for thousands of files: syncfs of the file system they are on.
  await execa("sync", ["-f", path], { reject: false, stdio: "ignore" });
}

/** The names in the directory `path` (a rename in it, a new link) are on its disk. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** `text` becomes the whole of `path`, or nothing changes; on the disk when it returns. */
export function replaceFile(path: string, text: string): void {
  const fresh = openSync(`${path}.new`, "w", 0o600);
  try {
    writeFileSync(fresh, text);
    fsyncSync(fresh);
  } finally {
    closeSync(fresh);
  }
  renameSync(`${path}.new`, path);
  syncDirectory(dirname(path));
}
