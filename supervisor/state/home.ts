// Makes the state directory's folders, with their modes; says in one sentence when it cannot.

import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  statfsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { asError, OwlError } from "../../config/errors.ts";
import type { HomePaths } from "../../config/home.ts";
import { formatSize } from "../../config/units.ts";
import { SOCKET_PATH_BYTES } from "../control/control-socket.ts";
import { keepFact, readFact } from "./facts.ts";
import type { Store } from "./store.ts";

/** Left by a restore until it is whole. */
export const RESTORING = "restoring.json";
/** Left by a restore until the jobs it holds are ended or requeued. */
export const RESTORED = "restored.json";
/** Of a home that follows another one, until it is promoted. */
export const STANDBY = "standby.json";
/** What Owl puts into a home; and what a disk of its own has. */
const OWN_NAMES = new Set([
  ...["run", "logs", "state", "certificates", "postgres", "releases", "own-releases", "incoming", "uploads", "current"],
  ...["cache", "copies", "drills", "trial", "owl.yaml", "owl.yaml.restored", "initial-admin-password", "lost+found"],
  ...[RESTORING, RESTORED, STANDBY],
]);

/** Whether Owl did not put a file of that name into a home; hidden ones may be of the account whose home it is as well. */
export const isForeign = (name: string): boolean => !OWN_NAMES.has(name) && !/^(\.|drill-)/.test(name);

/** With less than this free nothing of ours can be begun. */
const FULL_BYTES = 1024 * 1024;
/** Longest name a socket of ours gets: a service's name, its number, `.sock`. */
const NAME_BYTES = 40;

/** Creates what is missing. Throws `home.unwritable`. */
export function makeHome(paths: HomePaths): void {
  if (existsSync(join(paths.home, RESTORING)))
    throw new OwlError("home.restoring", `A restore into ${paths.home} was begun and is not finished.`, {
      next: "Run it again to its end: owlctl restore DIR",
    });
  if (existsSync(join(paths.home, STANDBY)))
    throw new OwlError(
      "home.standby",
      `${paths.home} is the home of a standby: it follows another Owl and runs nothing.`,
      {
        next: "Let it take over, when the other one is gone: owlctl standby promote",
      },
    );
  try {
    mkdirSync(paths.home, { recursive: true });
    for (const directory of [paths.run, paths.logs, paths.state])
      mkdirSync(directory, { recursive: true, mode: 0o750 });
    accessSync(paths.home, constants.W_OK);
  } catch (caught) {
    const error = asError(caught) as NodeJS.ErrnoException;
    throw new OwlError(
      "home.unwritable",
      `The state directory ${paths.home} cannot be written: ${error.code ?? error.message}.`,
      {
        next: "Make it writable for this user, free some space, or choose another place with OWL_HOME.",
        cause: error,
      },
    );
  }
}

/** Where instances' sockets go: the run directory, or, when that is too long for a socket's path, a short one kept on record. */
export function socketDirectory(paths: HomePaths, store: Store): string {
  if (Buffer.byteLength(paths.run) + 1 + NAME_BYTES <= SOCKET_PATH_BYTES) return paths.run;
  const kept = readFact(store, "socketDirectory");
  if (kept !== null && isOurs(kept)) return kept;
  const made = mkdtempSync(join(tmpdir(), "owl-run-"));
  chmodSync(made, 0o700);
  keepFact(store, "socketDirectory", made);
  return made;
}

/**
 * Where a service of another user puts its socket: in a directory that is that user's alone, for ours is closed to it
 * and may lie where it cannot even pass. null: it uses ours (it is ours, or only root could make it one of its own).
 */
export function userSocketDirectory(
  store: Store,
  { uid, gid }: { readonly uid: number; readonly gid: number },
): string | null {
  if (process.geteuid?.() !== 0 || uid === 0) return null;
  const kept = readFact(store, `sockets of ${uid}`);
  if (kept !== null && isOurs(kept, uid)) return kept;
  const made = mkdtempSync(join(tmpdir(), "owl-run-"));
  chmodSync(made, 0o700);
  chownSync(made, uid, gid);
  keepFact(store, `sockets of ${uid}`, made);
  return made;
}

/**
 * What to tell of a start that failed: a full disk, where there is one, and `error` as what came of it. It has many
 * faces (a file that is not made, a process that ends at once), and only the disk is what a person can act on.
 */
export function toldByDisk(home: string, error: Error): Error {
  if (error instanceof OwlError && ["owld.running", "config.invalid"].includes(error.code)) return error;
  const bytes = freeBytes(home);
  if (bytes === null || bytes >= FULL_BYTES) return error;
  return new OwlError(
    "home.full",
    `The disk of the state directory ${home} is full (${formatSize(bytes)} free): ${error.message}`,
    { next: "Free some space there, then start owld again.", cause: error },
  );
}

function freeBytes(directory: string): number | null {
  let there = directory;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  try {
    const { bavail, blocks, bsize } = statfsSync(there);
    // Some file systems tell nothing of their size.
    return blocks === 0 ? null : bavail * bsize;
  } catch {
    return null;
  }
}

function isOurs(directory: string, uid = process.getuid?.()): boolean {
  const stat = lstatSync(directory, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === uid && (stat.mode & 0o077) === 0;
}
