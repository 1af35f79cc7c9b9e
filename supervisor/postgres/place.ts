// Where a managed PostgreSQL keeps its data, its copy of the programs and its socket.
// It is OWL_HOME/postgres. Only when owld is root and PostgreSQL's account cannot enter OWL_HOME (a checkout in /root)
// it is a directory of its own under /var/lib, and OWL_HOME/postgres/place.json says so for every later start.

import { createHash } from "node:crypto";
import { chmod, chown, lstat, mkdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { OwlError } from "../../config/errors.ts";
import { replaceFile } from "../release/sync.ts";
import type { Account } from "./account.ts";

/** A Unix socket's path holds at most 107 bytes; `.s.PGSQL.65535` is the longest name PostgreSQL gives it. */
const LONGEST_SOCKET_DIRECTORY = 107 - "/.s.PGSQL.65535".length;

export interface Place {
  readonly dir: string;
  readonly data: string;
  /** Configuration files we write and PostgreSQL only reads. */
  readonly conf: string;
  readonly binaries: string;
  readonly socketDir: string;
}

export interface PlaceWanted {
  /** OWL_HOME/postgres */
  readonly base: string;
  readonly account: Account | null;
  /** Parents for a place outside OWL_HOME, tried in order. */
  readonly elsewhere?: readonly string[];
  /** Parents for a socket directory when the usual path is too long, tried in order. */
  readonly shortRoots?: readonly string[];
}

interface Mode {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** May `account` pass through all these directories? By owner, group and other bits. Pure. */
function mayEnter(account: Account, directories: readonly Mode[]): boolean {
  return directories.every(({ uid, gid, mode }) => {
    const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
    return (mode >> shift) % 2 === 1;
  });
}

/** Chooses the place, or takes the recorded one, and makes its directories. Repeatable. */
export async function preparePlace(wanted: PlaceWanted): Promise<Place> {
  const { base, account } = wanted;
  await mkdir(base, { recursive: true });
  // Others may pass (PostgreSQL's account, services with a user of their own) but not look.
  await chmod(base, 0o711);
  const recorded = await readRecord(base);
  const dir = recorded?.dir ?? (await chooseDirectory(wanted));
  const place = {
    dir,
    data: join(dir, "data"),
    conf: join(dir, "conf"),
    binaries: join(dir, "binaries"),
    socketDir: recorded?.socketDir ?? (await chooseSocketDirectory(wanted, dir)),
  };
  await mkdir(dir, { recursive: true });
  await chmod(dir, 0o711);
  await makeOpen(place.conf, null);
  await makeOpen(place.binaries, null);
  await makeOpen(place.socketDir, account);
  if (!recorded && (dir !== base || dirname(place.socketDir) !== dir)) {
    // Without it the next start would make an empty database somewhere else.
    replaceFile(join(base, "place.json"), `${JSON.stringify({ dir, socketDir: place.socketDir }, null, 2)}\n`);
  }
  return place;
}

/** Where an earlier start put the database; `base` itself unless recorded otherwise. Reads only. */
export async function recordedDirectory(base: string): Promise<string> {
  return (await readRecord(base))?.dir ?? base;
}

async function readRecord(base: string): Promise<{ dir: string; socketDir: string } | null> {
  const file = join(base, "place.json");
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  try {
    const { dir, socketDir } = JSON.parse(text) as Record<string, unknown>;
    if (typeof dir === "string" && typeof socketDir === "string") return { dir, socketDir };
  } catch {
    // Falls through to the refusal: guessing a place would start an empty database beside the real one.
  }
  throw new OwlError("postgres.placeUnreadable", `${file} does not say where the database is.`, {
    next: `Restore it, or remove it when the database is in ${base}.`,
  });
}

async function chooseDirectory({ base, account, elsewhere }: PlaceWanted): Promise<string> {
  if (account === null || mayEnter(account, await ancestors(base))) return base;
  const name = join("owl-postgres", placeHash(await realpath(base)));
  for (const parent of elsewhere ?? ["/var/lib", "/var/tmp"]) {
    const dir = join(parent, name);
    const made = await mkdir(dir, { recursive: true }).then(
      () => true,
      () => false,
    );
    // Under a strict umask the common parent would shut the account out again.
    if (made) await chmod(dirname(dir), 0o711);
    if (made && mayEnter(account, await ancestors(dirname(dir)))) return dir;
  }
  throw new OwlError("postgres.noPlace", `The account ${account.name} cannot enter ${base}, nor a place of its own.`, {
    next: `Set OWL_HOME to a directory it can enter, or open the way: chmod o+x ${dirname(base)}`,
  });
}

async function chooseSocketDirectory({ base, shortRoots }: PlaceWanted, dir: string): Promise<string> {
  const usual = join(dir, "run");
  if (Buffer.byteLength(usual) <= LONGEST_SOCKET_DIRECTORY) return usual;
  const roots = shortRoots ?? (process.geteuid?.() === 0 ? ["/run", "/tmp"] : ["/tmp"]);
  for (const root of roots) {
    const short = join(root, `owl-postgres-${placeHash(await realpath(base))}`);
    const made = await mkdir(short).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === "EEXIST",
    );
    if (made) return short;
  }
  throw new OwlError("postgres.socketPath", `The socket path under ${usual} is longer than 107 bytes.`, {
    next: "Set OWL_HOME to a shorter path.",
  });
}

async function makeOpen(dir: string, account: Account | null): Promise<void> {
  await mkdir(dir, { recursive: true });
  const own = process.geteuid?.() ?? 0;
  const owner = account?.uid ?? own;
  const found = await lstat(dir);
  // In a shared directory like /tmp somebody else may have put something under our name.
  if (!found.isDirectory() || (found.uid !== own && found.uid !== owner)) {
    throw new OwlError("postgres.placeTaken", `${dir} belongs to another user.`, { next: `Remove ${dir}.` });
  }
  if (account) await chown(dir, account.uid, account.gid);
  if (owner === own || own === 0) await chmod(dir, 0o755);
}

async function ancestors(path: string): Promise<readonly Mode[]> {
  const all: Mode[] = [];
  for (let dir = await realpath(path); ; dir = dirname(dir)) {
    all.push(await stat(dir));
    if (dir === dirname(dir)) return all;
  }
}

function placeHash(base: string): string {
  return createHash("sha256").update(base).digest("hex").slice(0, 12);
}
