// The passphrase backups are sealed with: a line in a file outside the backup directory.

import { readFile } from "node:fs/promises";
import { Refusal } from "../../core/text/refusal.ts";

const SHORTEST = 16;

/** null: none is wanted. Throws `backup.noPassphrase`. */
export async function readPassphrase(file: string | null): Promise<string | null> {
  if (file === null) return null;
  const text = (await readFile(file, "utf8").catch(() => "")).trim();
  if (text.length < SHORTEST)
    throw new Refusal("backup.noPassphrase", ({ refused }) => refused.backup.noPassphrase(file));
  return text;
}
