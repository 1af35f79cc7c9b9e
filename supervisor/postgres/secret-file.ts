// A generated password in a file only owld can read.

import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { Random } from "../../config/time.ts";
import { syncDirectory } from "../release/sync.ts";

/** The secret in `file`, generated (192 bits) and written with mode 0600 when there is none. */
export async function readOrMakeSecret(file: string, random: Random): Promise<string> {
  const present = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  if (present.trim() !== "") return present.trim();
  await mkdir(dirname(file), { recursive: true });
  const secret = random.token(24);
  const fresh = `${file}.new-${random.token(6)}`;
  const handle = await open(fresh, "wx", 0o600);
  try {
    await handle.writeFile(`${secret}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, file);
  // The database it opens outlives a power cut, and so must it.
  syncDirectory(dirname(file));
  return secret;
}
