// What belongs to a home beside its data and uploads, out of a backup: the state, and owl.yaml.

import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { HomePaths } from "../../../config/home.ts";
import { replaceFile } from "../../release/sync.ts";
import type { HomeFiles } from "./base.ts";

/** What the lost machine alone had: processes, sockets, releases, an update under way; and where it wrote its backups. */
const GONE_FACTS = ["update", "releases", "copies for rescue", "proxy code", "socketDirectory", "backup directory"];

/** The state without what lived on the lost machine. */
export async function restoreState(bytes: Buffer, paths: HomePaths, beside: boolean): Promise<void> {
  const file = `${paths.stateFile}.restored`;
  await writeFile(file, bytes, { mode: 0o600 });
  const database = new DatabaseSync(file);
  try {
    database.exec("DELETE FROM instance; DELETE FROM proxy");
    database.exec("DELETE FROM rollout WHERE json_extract(doc, '$.state') = 'running'");
    const remove = database.prepare("DELETE FROM fact WHERE name = ?");
    for (const name of [...GONE_FACTS, ...(beside ? ["installation"] : [])]) remove.run(name);
  } finally {
    database.close();
  }
  for (const suffix of ["-wal", "-shm"]) await rm(paths.stateFile + suffix, { force: true });
  await rename(file, paths.stateFile);
}

/** Where owl.yaml went: where it is looked for, unless another one is there. */
export async function restoreConfig(
  config: HomeFiles["config"],
  configFile: string | null,
  paths: HomePaths,
): Promise<{ readonly file: string; readonly inPlace: boolean } | null> {
  if (config === null) return null;
  const { text } = config;
  if (configFile !== null) {
    const found = await readFile(configFile, "utf8").catch((error: NodeJS.ErrnoException) => error.code);
    // The same one may be of a restore that was cut.
    if (found === text || (found === "ENOENT" && (await isWritten(configFile, text))))
      return { file: configFile, inPlace: true };
  }
  const file = join(paths.home, "owl.yaml.restored");
  replaceFile(file, text);
  return { file, inPlace: false };
}

/** Hours of restoring are not lost for a place we may not write to. */
async function isWritten(file: string, text: string): Promise<boolean> {
  try {
    await mkdir(dirname(file), { recursive: true });
    replaceFile(file, text);
    return true;
  } catch {
    return false;
  }
}
