// Writes the files of a new release, wherever they come from, and reads back what lies there.
// Invariants: nothing is written but files, directories and links below `target`; links are made last, so that nothing
// is written through one; no link leads out, however many it goes through.

import { createHash } from "node:crypto";
import { constants, createReadStream, createWriteStream } from "node:fs";
import { chmod, copyFile, lstat, mkdir, readdir, readlink, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { formatSize } from "../../../config/units.ts";
import { badLink, badPath } from "../../core/manifest.ts";
import { Refusal } from "../../core/text/refusal.ts";
import type { Text } from "../../core/text/text.ts";

/** More entries than any program needs. */
const MOST_ENTRIES = 200_000;

export interface Tree {
  directory(path: string): Promise<void>;
  /** `bytes`: its contents, or the file they are copied from. */
  file(path: string, size: number, executable: boolean, bytes: AsyncIterable<unknown> | string): Promise<void>;
  link(path: string, target: string): void;
  /** No file came. */
  isEmpty(): boolean;
  /** Everything is there; makes the links. */
  finish(): Promise<void>;
}

/** Below `target` (empty). Every call throws `deploy.*` for what may not be in a release. */
export function createTree(target: string, sizeBytes: number): Tree {
  const bounds = createBounds(sizeBytes);
  const links = new Map<string, string>();
  const made = new Set<string>();
  let files = 0;

  function check(path: string): void {
    bounds.count(0);
    const why = badPath(path);
    // The name of Owl's own manifest is any other name here.
    if (why !== null && why !== "manifest") throw holds(path, ({ refused }) => refused.release.badPath[why]);
  }

  async function makeDirectory(path: string): Promise<void> {
    if (path === "." || made.has(path)) return;
    await mkdir(join(target, path), { recursive: true, mode: 0o755 });
    made.add(path);
  }

  return {
    async directory(path) {
      check(path);
      await makeDirectory(path);
    },
    async file(path, size, executable, bytes) {
      check(path);
      bounds.count(size);
      files++;
      await makeDirectory(dirname(path));
      const [to, mode] = [join(target, path), executable ? 0o755 : 0o644];
      try {
        if (typeof bytes === "string") await copyFile(bytes, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
        else await pipeline(Readable.from(bytes), createWriteStream(to, { flags: "wx", mode }));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        throw holds(path, ({ refused }) => refused.deploy.twice);
      }
      await chmod(to, mode);
    },
    link(path, to) {
      check(path);
      if (climbsLate(to) || badLink(path, to) !== null) throw holds(path, ({ refused }) => refused.deploy.linkOut(to));
      if (links.has(path)) throw holds(path, ({ refused }) => refused.deploy.twice);
      links.set(path, to);
    },
    isEmpty: () => files === 0,
    async finish() {
      for (const [path, to] of links) {
        const behind = parentsOf(path).some((parent) => links.has(parent));
        if (behind) throw holds(path, ({ refused }) => refused.release.badPath.behindLink);
        await makeDirectory(dirname(path));
        await symlink(to, join(target, path)).catch((error: NodeJS.ErrnoException) => {
          throw error.code === "EEXIST" ? holds(path, ({ refused }) => refused.deploy.twice) : error;
        });
      }
    },
  };
}

interface Contents {
  readonly sha256: string;
  readonly files: number;
  readonly bytes: number;
}

/** All that lies below `target`, in one hash: names, modes, contents, where links lead. Throws `deploy.tooLarge`. */
export async function readTree(target: string, sizeBytes: number, signal: AbortSignal): Promise<Contents> {
  const bounds = createBounds(sizeBytes);
  const whole = createHash("sha256");
  const sums = { files: 0, bytes: 0 };
  for await (const { path, kind } of walk(target, "")) {
    signal.throwIfAborted();
    const stats = await lstat(join(target, path));
    bounds.count(kind === "file" ? stats.size : 0);
    whole.update(`${kind} ${path}\0`);
    if (kind === "link") whole.update(await readlink(join(target, path)));
    if (kind !== "file") continue;
    const own = createHash("sha256");
    await pipeline(createReadStream(join(target, path)), own);
    whole.update(`${(stats.mode & 0o111) === 0 ? "-" : "x"} ${own.digest("hex")}`);
    sums.files++;
    sums.bytes += stats.size;
  }
  return { ...sums, sha256: whole.digest("hex") };
}

/** Nobody writes in it any more, but root; or its owner may again. Links and what they lead to stay as they are. */
export async function setWritable(target: string, writable: boolean): Promise<void> {
  const modes = writable ? { directory: 0o755, file: 0o644 } : { directory: 0o555, file: 0o444 };
  if (writable) await chmod(target, modes.directory);
  for await (const { path, kind } of walk(target, "", writable)) {
    if (kind === "link") continue;
    const { mode } = await lstat(join(target, path));
    const executable = (mode & 0o111) === 0 ? 0 : 0o111;
    await chmod(join(target, path), kind === "directory" ? modes.directory : modes.file | executable);
  }
  if (!writable) await chmod(target, modes.directory);
}

/** A program's own files that are neither of these (a socket it left, say) are none of the release. */
type Kind = "file" | "directory" | "link";

/** In the order of their names, a directory after what it holds, or (`opening`) before. */
async function* walk(root: string, below: string, opening = false): AsyncGenerator<{ path: string; kind: Kind }> {
  const entries = await readdir(join(root, below), { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) {
      if (opening) yield { path, kind: "directory" };
      yield* walk(root, path, opening);
      if (!opening) yield { path, kind: "directory" };
    } else if (entry.isSymbolicLink()) yield { path, kind: "link" };
    else if (entry.isFile()) yield { path, kind: "file" };
  }
}

function createBounds(sizeBytes: number) {
  let [entries, bytes] = [0, 0];
  return {
    /** One entry, or (with a size) more bytes of the present one. */
    count(size: number): void {
      if (size === 0) entries++;
      bytes += size;
      if (entries > MOST_ENTRIES)
        throw new Refusal("deploy.tooMany", ({ refused }) => refused.deploy.tooMany(MOST_ENTRIES));
      if (bytes > sizeBytes)
        throw new Refusal("deploy.tooLarge", ({ refused }) => refused.deploy.tooLarge(formatSize(sizeBytes)));
    },
  };
}

/** Up again after a name: that may be up from wherever the name leads to. */
function climbsLate(target: string): boolean {
  const parts = target.split("/");
  const down = parts.findIndex((part) => part !== ".." && part !== "." && part !== "");
  return down >= 0 && parts.slice(down).includes("..");
}

function parentsOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

export function holds(path: string, what: (text: Text) => string): Refusal {
  return new Refusal("deploy.holds", (text) => text.refused.deploy.holds(path, what(text)));
}
