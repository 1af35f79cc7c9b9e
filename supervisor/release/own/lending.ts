// While commands of `before` run as a service's user, that user may write in the new release; then it is owld's again.
// Invariant: what comes back are copies of owld's own, which that user can change no more.

import { mkdir, rename, rm } from "node:fs/promises";
import { execa } from "execa";
import { fillTree } from "./sources.ts";
import { createTree, setWritable } from "./tree.ts";

/** Another user than owld's own, whose files must be lent. */
export async function isStranger(user: string | null): Promise<boolean> {
  if (user === null) return false;
  const { stdout } = await execa("id", ["-u", user], { reject: false });
  return Number(stdout) !== process.geteuid?.();
}

export async function lend(code: string, user: string): Promise<void> {
  if (process.geteuid?.() === 0) {
    await execa("chown", ["-R", "-h", `${user}:`, code]);
    return;
  }
  // Under its unit owld is a member of that user's group.
  const { stdout: group } = await execa("id", ["-g", user]);
  await execa("chgrp", ["-R", "-h", group, code]);
  await execa("chmod", ["-R", "g+rwX", code]);
}

export async function takeBack(code: string, sizeBytes: number, signal: AbortSignal): Promise<void> {
  const lent = `${code}.lent`;
  await rename(code, lent);
  await mkdir(code, { mode: 0o755 });
  const tree = createTree(code, sizeBytes);
  await fillTree(tree, { kind: "directory", path: lent }, null, signal);
  await tree.finish();
  await setWritable(lent, true).catch(() => undefined);
  await rm(lent, { recursive: true, force: true });
}
