// One owld a home: an SQLite file locked exclusively for as long as the process lives; the kernel releases it at death.
// Invariant: the second one changes nothing and names the first.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { asError, OwlError } from "../../config/errors.ts";

interface OwnerLock {
  release(): void;
}

/** Takes the lock of this state directory (made when absent). Throws `owld.running`, `home.unwritable`. */
export function takeOwnerLock(state: string, pid: number): OwnerLock {
  const pidFile = join(state, "owld.pid");
  let database: DatabaseSync | null = null;
  try {
    mkdirSync(state, { recursive: true, mode: 0o750 });
    const file = join(state, "owner.lock");
    database = new DatabaseSync(file);
    database.exec("PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    chmodSync(file, 0o600);
    writePid(pidFile, pid);
  } catch (error) {
    database?.close();
    throw refusal(state, pidFile, asError(error));
  }
  const held = database;
  return { release: () => held.close() };
}

function refusal(state: string, pidFile: string, error: Error): OwlError {
  if (/locked|busy/i.test(error.message)) {
    const first = readPid(pidFile);
    const who = first === null ? "Another owld" : `Another owld (pid ${first})`;
    return new OwlError("owld.running", `${who} already runs on ${state}.`, {
      next: "Use that one (owlctl status), stop it first, or give this one another OWL_HOME.",
      data: { pid: first },
    });
  }
  const reason = (error as NodeJS.ErrnoException).code ?? error.message;
  return new OwlError("home.unwritable", `The state directory ${state} cannot be written: ${reason}.`, {
    next: "Make it writable for this user, free some space, or choose another place with OWL_HOME.",
    cause: error,
  });
}

/** For the second one's sentence only: a full disk is no reason not to run. */
function writePid(file: string, pid: number): void {
  try {
    writeFileSync(file, `${pid}\n`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}

function readPid(file: string): number | null {
  try {
    return Number(readFileSync(file, "utf8").trim()) || null;
  } catch {
    return null;
  }
}
