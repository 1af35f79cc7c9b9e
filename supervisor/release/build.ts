// `npm run release`: this checkout as a reproducible archive. The same commit gives the same bytes: entries sorted,
// one time (the commit's), no owner. Production dependencies and the pinned Node go along, so that the target needs
// nothing but the archive.

import { execFile } from "node:child_process";
import { createReadStream, createWriteStream } from "node:fs";
import { lstat, mkdir, readdir, readFile, readlink, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { constants, createGzip, createZstdCompress } from "node:zlib";
import { pack } from "tar-stream";
import { OwlError } from "../../config/errors.ts";
import { MANIFEST_FILE, MANIFEST_FORMAT, type Manifest, parseManifest } from "../core/manifest.ts";
import { readMigrations } from "../postgres/migrate.ts";
import { KEY_FILE } from "./signature.ts";
import { hashFile } from "./verify.ts";

const run = promisify(execFile);

/** What a release is made of; everything else of a checkout stays behind. */
const PARTS = ["package.json", "package-lock.json", "LICENSE", "README.md", "CHANGELOG.md", "tsconfig.json", KEY_FILE];
const INSTALL = { install: "systemd/install" };
const FOLDERS = ["config", "ctl", "migrations", "services", "supervisor", "systemd", ".build", ".guide"];

const BLOCK_BYTES = 128 * 1024;
/** Files looked at at a time: most are small. */
const TOGETHER = 32;

interface BuildRequest {
  readonly root: string;
  readonly output: string;
  readonly version: string;
  readonly compression: "zstd" | "gzip";
  readonly commit: string;
  readonly builtAt: string;
  readonly say: (message: string) => void;
}

interface AppDescription {
  readonly jobKinds: Manifest["jobKinds"];
  readonly queueSchema: number;
}

/** Builds the archive at `output` (written beside it and renamed); answers its manifest. Throws `release.*`. */
export async function buildRelease(request: BuildRequest): Promise<Manifest> {
  await buildParts(request.root, request.say);
  const manifest = await composeManifest(request);
  request.say("writing the archive");
  await writeArchive(request, manifest);
  return manifest;
}

/** What a release of the tree at `root` would say of itself; reads and hashes all of it. */
export async function composeManifest(
  request: Pick<BuildRequest, "root" | "version" | "commit" | "builtAt" | "say">,
): Promise<Manifest> {
  const { root, say } = request;
  say("collecting files");
  // Another process describes the application meanwhile.
  const [described, paths] = await Promise.all([describeApp(root), collect(root)]);
  say(`hashing ${paths.length} files`);
  const files: Manifest["files"] = {};
  const links: Manifest["links"] = { ...INSTALL };
  const look = async (path: string): Promise<string | Manifest["files"][string]> => {
    const stats = await lstat(join(root, path));
    if (stats.isSymbolicLink()) return readlink(join(root, path));
    const mode = (stats.mode & 0o100) !== 0 ? 0o755 : 0o644;
    return { sha256: await hashFile(join(root, path), stats.size), size: stats.size, mode };
  };
  for (let from = 0; from < paths.length; from += TOGETHER) {
    const batch = paths.slice(from, from + TOGETHER);
    const seen = await Promise.all(batch.map(look));
    // In their order: the same tree gives the same bytes.
    for (const [n, path] of batch.entries()) {
      const one = seen[n];
      if (typeof one === "string") links[path] = one;
      else if (one !== undefined) files[path] = one;
    }
  }
  const manifest: Manifest = {
    format: MANIFEST_FORMAT,
    version: request.version,
    commit: request.commit,
    builtAt: request.builtAt,
    platform: `${process.platform}-${process.arch}`,
    nodeVersion: process.versions.node,
    queueSchema: described.queueSchema,
    jobKinds: described.jobKinds,
    migrations: (await readMigrations(join(root, "migrations"))).map(({ name, compatible, sha256, sql }) => ({
      name,
      compatible,
      touchesJobs: touchesJobTables(sql),
      sha256,
    })),
    notes: await readNotes(root),
    files,
    links,
  };
  // What we write must be what stage will read.
  return parseManifest(JSON.stringify(manifest));
}

/** True when a migration names a table that jobs or their outcomes live in. */
function touchesJobTables(sql: string): boolean {
  const statements = sql.replace(/--[^\n]*/g, "");
  return /\b(?:alter|drop|create|truncate|update|delete\s+from|insert\s+into)\b[^;]*\bowl\.(?:turn|turn_\w+|transcription|segment|playbook_run|playbook_step|step|schema_analysis|batch|batch_item|worker)\b/i.test(
    statements,
  );
}

/** Nothing reads these at run time: they would be half of all files. */
function isLeftOut(path: string): boolean {
  return (
    path.startsWith("node_modules/") &&
    (/\.(map|d\.ts|d\.mts|d\.cts|tsbuildinfo)$/.test(path) ||
      /^node_modules\/node-linux-[^/]+\/(include|share)\//.test(path))
  );
}

async function collect(root: string): Promise<string[]> {
  const found: string[] = [];
  const visit = async (path: string): Promise<void> => {
    const stats = await lstat(join(root, path)).catch(() => null);
    if (!stats) return;
    if (!stats.isDirectory()) {
      if (!isLeftOut(path)) found.push(path);
      return;
    }
    for (const name of await readdir(join(root, path))) {
      if (name === ".cache" || name === ".vite" || name === ".vitest") continue;
      await visit(`${path}/${name}`);
    }
  };
  for (const part of [...PARTS, ...FOLDERS]) await visit(part);
  for (const name of await productionPackages(root)) await visit(name);
  return found.sort();
}

/** Paths `node_modules/x` of installed packages the lock file does not mark as development only. */
async function productionPackages(root: string): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>;
  };
  const names: string[] = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    // Nested ones come with their parents.
    if (!path.startsWith("node_modules/") || path.indexOf("/node_modules/", 1) >= 0 || entry.dev) continue;
    if (await lstat(join(root, path)).catch(() => null)) names.push(path);
  }
  if (names.length === 0)
    throw new OwlError("release.dependencies", "node_modules is missing.", { next: "Run `npm ci` first." });
  return names;
}

async function describeApp(root: string): Promise<AppDescription> {
  const { stdout } = await run(process.execPath, [join(root, "services/prepare/describe.ts")], { cwd: root });
  return JSON.parse(stdout) as AppDescription;
}

/** Pages and bundled programs are part of a release, built from its own sources by programs of the application. */
async function buildParts(root: string, say: BuildRequest["say"]): Promise<void> {
  const builders = { "the pages": "services/web/pages/build.ts", "the programs": "services/prepare/bundles.ts" };
  for (const [name, path] of Object.entries(builders)) {
    const program = join(root, path);
    if ((await lstat(program).catch(() => null)) === null) continue;
    say(`building ${name}`);
    await run(process.execPath, [program, "--alone"], { cwd: root });
  }
}

async function readNotes(root: string): Promise<Manifest["notes"]> {
  const text = await readFile(join(root, "services/text/release-notes.json"), "utf8");
  return JSON.parse(text) as Manifest["notes"];
}

/** The same bytes in pieces of one size: what zstd writes depends on how it is fed, and a disk feeds as it likes. */
async function* inBlocks(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [parts, held]: [Buffer[], number] = [[], 0];
  for await (const piece of source) {
    parts.push(piece);
    held += piece.length;
    if (held < BLOCK_BYTES) continue;
    const all = Buffer.concat(parts);
    let from = 0;
    for (; all.length - from >= BLOCK_BYTES; from += BLOCK_BYTES) yield all.subarray(from, from + BLOCK_BYTES);
    [parts, held] = [[all.subarray(from)], all.length - from];
  }
  if (held > 0) yield Buffer.concat(parts);
}

async function writeArchive(request: BuildRequest, manifest: Manifest): Promise<void> {
  const { root, output } = request;
  await mkdir(dirname(output), { recursive: true });
  const partial = `${output}.partial`;
  const mtime = new Date(manifest.builtAt);
  const tar = pack();
  const compress =
    request.compression === "gzip"
      ? createGzip({ level: 9 })
      : createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 10 } });
  const written = pipeline(tar, inBlocks, compress, createWriteStream(partial, { mode: 0o644 }));
  const fill = (async () => {
    const text = Buffer.from(`${JSON.stringify(manifest)}\n`);
    tar.entry({ name: MANIFEST_FILE, size: text.length, mode: 0o644, mtime }, text);
    for (const [name, file] of Object.entries(manifest.files)) {
      const entry = tar.entry({ name, size: file.size, mode: file.mode, mtime });
      await pipeline(createReadStream(join(root, name)), entry);
    }
    for (const [name, linkname] of Object.entries(manifest.links))
      tar.entry({ name, type: "symlink", linkname, mode: 0o777, mtime });
    tar.finalize();
  })();
  try {
    await Promise.all([written, fill]);
    await rename(partial, output);
  } catch (error) {
    tar.destroy();
    await rm(partial, { force: true });
    throw error;
  }
}
