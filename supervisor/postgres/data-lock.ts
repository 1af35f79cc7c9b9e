// One owld at a time works on a data directory: an exclusive lock on a small SQLite file beside it.
// The kernel gives it back when the holder dies, however it dies.

import { chmod } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { OwlError } from "../../config/errors.ts";

/** Takes the lock or throws `postgres.locked`; the returned function gives it back. */
export async function lockData(file: string): Promise<() => void> {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA journal_mode=DELETE; PRAGMA busy_timeout=0; BEGIN EXCLUSIVE");
    await chmod(file, 0o600);
  } catch (error) {
    database.close();
    if (!/lock/i.test(error instanceof Error ? error.message : "")) throw error;
    throw new OwlError("postgres.locked", `Another owld works on the database beside ${file}.`, {
      next: "Stop that one first, or give this one another OWL_HOME.",
    });
  }
  return () => database.close();
}
