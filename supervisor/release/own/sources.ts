// Where a release is made of: a directory, an archive, or a commit of a git checkout. Each fills a tree.

import { spawn } from "node:child_process";
import { lstat, open, readdir, readlink, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { extract } from "tar-stream";
import { asError, OwlError } from "../../../config/errors.ts";
import { Refusal } from "../../core/text/refusal.ts";
import { holds, type Tree } from "./tree.ts";

export type Source =
  | { readonly kind: "directory"; readonly path: string }
  | { readonly kind: "archive"; readonly path: string }
  | { readonly kind: "git"; readonly ref: string; readonly directory: string };

/** An archive's headers are small: more between two entries is none. */
const MOST_BETWEEN = 8 * 2 ** 20;
const BLOCK_BYTES = 512;
const MOST_WORDS = 2_000;

/** What lies at `path`. Throws `deploy.unreadable`. */
export async function sourceAt(path: string): Promise<Source> {
  const stats = await stat(path).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  if (stats.isDirectory()) return { kind: "directory", path };
  if (stats.isFile()) return { kind: "archive", path };
  throw unreadable(path, new Error("it is neither a directory nor a file"));
}

/** Fills `tree` from `source`, leaving out `.git` and, of a directory, the folder `home`: Owl's own state. */
export async function fillTree(tree: Tree, source: Source, home: string | null, signal: AbortSignal): Promise<void> {
  try {
    if (source.kind === "directory") await fillFromDirectory(tree, source.path, home, signal);
    else if (source.kind === "archive") await fillFromArchive(tree, source.path, signal);
    else await fillFromGit(tree, source.ref, source.directory, signal);
  } catch (caught) {
    signal.throwIfAborted();
    throw translated(caught, source);
  }
}

async function fillFromDirectory(tree: Tree, from: string, home: string | null, signal: AbortSignal): Promise<void> {
  const leftOut = home === null ? null : await realpath(home);
  async function copy(below: string): Promise<void> {
    signal.throwIfAborted();
    const directory = join(from, below);
    if ((await realpath(directory)) === leftOut) return;
    if (below !== "") await tree.directory(below);
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      const full = join(from, path);
      if (entry.isDirectory()) {
        if (path !== ".git") await copy(path);
      } else if (entry.isSymbolicLink()) tree.link(path, await readlink(full));
      else if (entry.isFile()) {
        const { size, mode } = await lstat(full);
        await tree.file(path, size, (mode & 0o111) !== 0, full);
      } else throw holds(path, ({ refused }) => refused.deploy.notPlain);
    }
  }
  await copy("");
}

async function fillFromArchive(tree: Tree, path: string, signal: AbortSignal): Promise<void> {
  const file = await open(path, "r");
  const head = Buffer.alloc(4);
  await file.read(head, 0, 4, 0);
  const decoder =
    head[0] === 0x1f && head[1] === 0x8b
      ? createGunzip()
      : head.readUInt32LE(0) === 0xfd2fb528
        ? createZstdDecompress()
        : null;
  await readTar(tree, file.createReadStream({ start: 0 }), decoder, signal);
}

/** As owld's own user, and by that user's trust: git refuses the checkout of somebody else, and says so. */
async function fillFromGit(tree: Tree, ref: string, directory: string, signal: AbortSignal): Promise<void> {
  const child = spawn("git", ["-C", directory, "archive", "--format=tar", `${ref}^{tree}`], {
    stdio: ["ignore", "pipe", "pipe"],
    signal,
  });
  let words = "";
  child.stderr.on("data", (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(0, MOST_WORDS);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  const [code, read] = await Promise.allSettled([ended, readTar(tree, child.stdout, null, signal)]);
  if (code.status === "rejected" && (code.reason as NodeJS.ErrnoException).code === "ENOENT")
    throw new Refusal("deploy.noGit", ({ refused }) => refused.deploy.noGit());
  if (code.status === "rejected") throw code.reason;
  if (read.status === "rejected" && read.reason instanceof OwlError) throw read.reason;
  if (code.value !== 0) {
    const why = words.trim().split("\n")[0]?.replace("^{tree}", "") ?? "";
    throw new Refusal("deploy.git", ({ refused }) =>
      refused.deploy.git(ref, directory, why || `exit code ${code.value}`),
    );
  }
  if (read.status === "rejected") throw read.reason;
}

async function readTar(
  tree: Tree,
  bytes: Readable,
  decoder: ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress> | null,
  signal: AbortSignal,
): Promise<void> {
  const tar = extract();
  let left = MOST_BETWEEN;
  let tail: Buffer = Buffer.alloc(0);
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      left -= chunk.length;
      tail = (chunk.length < BLOCK_BYTES ? Buffer.concat([tail, chunk]) : chunk).subarray(-BLOCK_BYTES);
      done(left < 0 ? new Error("invalid tar: a header without end") : null, chunk);
    },
    // One that is cut between two files has no empty block at its end.
    flush: (done) => done(tail.some((byte) => byte !== 0) ? new Error("it has no end") : null),
  });
  const read = (async () => {
    for await (const entry of tar) {
      const { type, name, size = 0, mode = 0o644, linkname } = entry.header;
      left = MOST_BETWEEN + size;
      const path = name.replace(/^(?:\.\/)+/, "").replace(/\/$/, "");
      if (path === "" || path === "." || path === ".git" || path.startsWith(".git/")) entry.resume();
      else if (type === "file" || type === "contiguous-file") await tree.file(path, size, (mode & 0o111) !== 0, entry);
      else if (type === "directory") await tree.directory(path);
      else if (type === "symlink") tree.link(path, linkname ?? "");
      else throw holds(path, ({ refused }) => refused.deploy.notPlain);
      entry.resume();
    }
  })();
  const flow =
    decoder === null ? pipeline(bytes, counted, tar, { signal }) : pipeline(bytes, decoder, counted, tar, { signal });
  const [taken, flowed] = await Promise.allSettled([read, flow]);
  // What the flow died of is said by whoever read, unless the bytes themselves were bad.
  const own = [taken, flowed].find((one) => one.status === "rejected" && one.reason instanceof OwlError);
  for (const one of [own, flowed, taken]) if (one?.status === "rejected") throw one.reason;
}

function translated(caught: unknown, source: Source): unknown {
  if (caught instanceof OwlError) return caught;
  const error = asError(caught) as NodeJS.ErrnoException;
  const { code = "", message } = error;
  if (code === "ENOSPC" || code === "EDQUOT")
    return new Refusal("deploy.diskFull", ({ refused }) => refused.deploy.diskFull(), { cause: error });
  if (source.kind === "git") return error;
  if (["EACCES", "EPERM", "ENOENT", "EIO"].includes(code)) return unreadable(source.path, error);
  if (source.kind === "directory") return error;
  return new Refusal("deploy.damaged", ({ refused }) => refused.deploy.damaged(source.path, message), { cause: error });
}

function unreadable(path: string, cause: unknown): Refusal {
  const why = asError(cause).message.replace(/\.$/, "");
  return new Refusal("deploy.unreadable", ({ refused }) => refused.deploy.unreadable(path, why), { cause });
}
