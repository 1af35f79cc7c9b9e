// The copy of a managed server's data directory, taken while the server is stopped, and the way back to it.
// Invariants: `copy.json` is there only when the copy is whole and verified; a restore killed anywhere is repeated by
// the same call, and the data directory is at every instant the old one, none, or the whole restored one.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { OwlError } from "../../config/errors.ts";
import { syncDirectory, syncTree } from "../release/sync.ts";
import { hashFile, walk } from "../release/verify.ts";
import { lastLines, runProgram } from "./program.ts";

const MARK = "copy.json";
const ATTEMPT = ".attempt-";

interface CopyRecord {
  /** Wall time, ISO 8601: writes after it are lost by a restore. */
  readonly at: string;
  readonly files: number;
  readonly bytes: number;
  /** Hash over all names and contents. */
  readonly sha256: string;
}

interface DirectoryCopyRequest {
  /** The stopped server's data directory. */
  readonly data: string;
  /** Where the copy goes (made; its `data` belongs to the account, the rest is ours). */
  readonly target: string;
  readonly at: string;
  readonly say: (message: string) => void;
  readonly signal: AbortSignal;
}

/** Copies and verifies; a finished copy at `target` is kept as it is. Throws `copy.failed` or `release.diskFull`. */
export async function copyDataDirectory(request: DirectoryCopyRequest): Promise<CopyRecord> {
  const { data, target, at, say, signal } = request;
  await refuseRunning(data);
  const done = await readCopy(target);
  if (done) return done;
  await removeAttempts(target);
  await rm(target, { recursive: true, force: true });
  const attempt = attemptAt(target);
  try {
    await mkdir(attempt, { recursive: true, mode: 0o711 });
    say("Copying the database.");
    await copyTree(data, join(attempt, "data"), signal);
    say("Verifying the copy.");
    const [source, copied] = [await treeHash(data, signal), await treeHash(join(attempt, "data"), signal)];
    if (source.sha256 !== copied.sha256)
      throw new OwlError("copy.failed", "The copy of the database differs from the database.", {
        next: "Nothing was migrated. Look at the disk (`dmesg`), then run the update again.",
      });
    const record: CopyRecord = { at, ...copied };
    await writeFile(join(attempt, MARK), `${JSON.stringify(record)}\n`, { mode: 0o600, flush: true });
    syncDirectory(attempt);
    await rename(attempt, target);
    syncDirectory(dirname(target));
    return record;
  } catch (error) {
    await rm(attempt, { recursive: true, force: true });
    throw error;
  }
}

/**
 * A name of this process's own beside `path`: a `cp` that outlived an owld killed in its middle may still write under
 * the name of that one.
 */
function attemptAt(path: string): string {
  return `${path}${ATTEMPT}${process.pid}`;
}

/** Removes what attempts at `path` left. One still being written to resists and goes the next time. */
async function removeAttempts(path: string): Promise<void> {
  const names = await readdir(dirname(path)).catch(() => [] as string[]);
  for (const name of names.filter((one) => one.startsWith(`${basename(path)}${ATTEMPT}`)))
    await rm(join(dirname(path), name), { recursive: true, force: true }).catch(() => undefined);
}

/** The record of a finished copy, or null. */
export async function readCopy(target: string): Promise<CopyRecord | null> {
  const text = await readFile(join(target, MARK), "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as CopyRecord);
}

/** Puts the copy in place of the stopped server's data directory. Repeatable. Throws `copy.unreadable`, then nothing changed. */
export async function restoreDataDirectory(request: {
  readonly data: string;
  readonly target: string;
  readonly say: (message: string) => void;
  readonly signal: AbortSignal;
}): Promise<CopyRecord> {
  const { data, target, say, signal } = request;
  await refuseRunning(data);
  const record = await readCopy(target);
  if (!record) throw unreadable(`${target} holds no finished copy`);
  const fresh = attemptAt(data);
  const aside = `${data}.replaced`;
  await removeAttempts(data);
  say("Reading the copy back.");
  try {
    await copyTree(join(target, "data"), fresh, signal);
    if ((await treeHash(fresh, signal)).sha256 !== record.sha256) throw unreadable("the copy is not what was written");
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    throw error;
  }
  // A kill between the two renames leaves no data directory: the next call comes here again and finds that out.
  if (await exists(data)) {
    await rm(aside, { recursive: true, force: true });
    await rename(data, aside);
  }
  await rename(fresh, data);
  // Before its predecessor goes: a power cut must not leave neither.
  syncDirectory(dirname(data));
  await rm(aside, { recursive: true, force: true });
  return record;
}

/**
 * Between the two renames of a restore that was killed there is no data directory, but its predecessor is: it goes back
 * to its place, so that no empty database is made there. The restore is then taken again from its beginning.
 */
export async function undoCutRestore(data: string): Promise<boolean> {
  if ((await exists(data)) || !(await exists(`${data}.replaced`))) return false;
  await rename(`${data}.replaced`, data);
  return true;
}

async function copyTree(from: string, to: string, signal: AbortSignal): Promise<void> {
  // -a keeps owner and modes (PostgreSQL insists on both); reflink makes it instant where the file system can.
  const copied = await runProgram("cp", ["-a", "--reflink=auto", from, to], { signal });
  signal.throwIfAborted();
  if (copied.ok) {
    await syncTree(to);
    return;
  }
  await rm(to, { recursive: true, force: true });
  if (/No space left|quota/i.test(copied.output))
    throw new OwlError("release.diskFull", "The disk is full while copying the database.", {
      next: "Free some space (`owlctl preflight` says how much is needed) and run the update again.",
    });
  throw new OwlError("copy.failed", `The database could not be copied: ${lastLines(copied.output)}.`, {
    next: "Nothing was migrated. Look at the disk, then run the update again.",
  });
}

async function treeHash(dir: string, signal: AbortSignal): Promise<Omit<CopyRecord, "at">> {
  const paths: string[] = [];
  for await (const path of walk(dir, "")) paths.push(path);
  const hash = createHash("sha256");
  let bytes = 0;
  for (const path of paths.sort()) {
    signal.throwIfAborted();
    hash.update(`${path}\0${await hashFile(join(dir, path))}\n`);
    bytes += (await stat(join(dir, path))).size;
  }
  return { files: paths.length, bytes, sha256: hash.digest("hex") };
}

async function refuseRunning(data: string): Promise<void> {
  if (await exists(join(data, "postmaster.pid")))
    throw new OwlError("copy.running", "PostgreSQL still runs on the directory that is to be copied.", {
      next: "Stop it first.",
    });
}

function unreadable(what: string): OwlError {
  return new OwlError("copy.unreadable", `The copy of the database cannot be used: ${what}.`, {
    next: "The database was left as it is. Restore a backup of your own, or go on with the new release.",
  });
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
