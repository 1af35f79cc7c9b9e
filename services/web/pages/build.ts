// Builds the pages with esbuild into .build/pages: hashed names, code split, precompressed, with a manifest.
// Invariant: the manifest is written last, so that whoever reads it finds every file it names; the assets of the two
// builds before stay, because a tab opened before an update still asks for them.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { type BuildManifest, readManifest } from "./manifest.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, "../../..");
const KEPT_BUILDS = 2;
const PACKAGES = [
  ...["preact", "eventsource-parser", "esbuild", "markdown-it", "markdown-it-cjk-friendly", "temml", "uplot"],
  ...["lowlight", "highlight.js", "file-type"],
];
/** Not part of what the browser gets: changing them builds nothing anew (build.ts itself does). */
const SERVER_FILES = new Set(["serve.ts", "manifest.ts"]);

interface BuildPagesOptions {
  /** Where to build into; default `.build/pages` of this checkout or release. */
  readonly outDir?: string;
  /** Build even when the manifest's hash matches. */
  readonly force?: boolean;
  /** Keep nothing of earlier builds: a release holds its own alone, so that the same commit gives the same bytes. */
  readonly alone?: boolean;
}

/**
 * Builds the pages unless the manifest's hash of the sources matches, and returns the manifest.
 * Throws esbuild's failure; what was built before stays usable then.
 */
export async function buildPages(options: BuildPagesOptions = {}): Promise<BuildManifest> {
  const outDir = options.outDir ?? join(ROOT, ".build/pages");
  const sources = await hashSources();
  const found = await readManifest(outDir);
  if (found && found.sources === sources && !options.force && !(options.alone && found.previous.length > 0))
    return found;
  const before = options.alone ? null : found;

  const assets = join(outDir, "assets");
  await mkdir(assets, { recursive: true });
  // Nothing to build is the rule.
  const { build } = await import("esbuild");
  const result = await build({
    absWorkingDir: ROOT,
    entryPoints: [join(HERE, "entry.tsx"), join(HERE, "events/shared-worker.ts"), join(HERE, "style/pages.css")],
    outdir: assets,
    bundle: true,
    splitting: true,
    format: "esm",
    target: ["es2022"],
    minify: true,
    metafile: true,
    write: false,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "silent",
  });
  const files: Record<string, number> = {};
  for (const file of result.outputFiles) {
    const name = basename(file.path);
    files[name] = await writeCompressed(join(assets, name), Buffer.from(file.contents));
  }
  const outputs = Object.entries(result.metafile.outputs);
  const outputOf = (entry: string): string => {
    const found = outputs.find(([, output]) => output.entryPoint?.endsWith(entry));
    if (!found) throw new Error(`esbuild gave no output for ${entry}.`);
    return basename(found[0]);
  };
  const entry = outputOf("entry.tsx");
  const manifest: BuildManifest = {
    sources,
    entry,
    worker: outputOf("shared-worker.ts"),
    style: outputOf("pages.css"),
    // What the browser loads before it shows anything: the entry and what it imports without asking.
    first: staticImports(result.metafile.outputs, entry),
    files,
    previous: before ? [before.files, ...before.previous].slice(0, KEPT_BUILDS) : [],
  };
  await replaceFile(join(outDir, "manifest.json"), `${JSON.stringify(manifest, null, 1)}\n`);
  await prune(assets, manifest);
  return manifest;
}

type Outputs = Readonly<
  Record<string, { readonly imports: readonly { readonly path: string; readonly kind: string }[] }>
>;

function staticImports(outputs: Outputs, entry: string): readonly string[] {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]));
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const { path, kind } of byName.get(name)?.imports ?? []) {
      if (kind === "import-statement") visit(basename(path));
    }
  };
  visit(entry);
  return [...seen];
}

/** Sources beside these that the browser gets too. */
const SHARED = [
  ...["services/text/words.ts", "config/text.ts", "config/language.ts"],
  ...["services/core/text-encodings.ts", "services/core/recording-types.ts"],
];

/** Hash of every source the browser gets and of the versions of the packages in it. */
async function hashSources(): Promise<string> {
  const hash = createHash("sha256");
  const names = await readdir(HERE, { recursive: true, withFileTypes: true });
  const paths = names
    .filter((entry) => entry.isFile() && !SERVER_FILES.has(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const path of SHARED) paths.push(join(ROOT, path));
  for (const path of paths) hash.update(`${relative(HERE, path)}\0`).update(await readFile(path));
  for (const name of PACKAGES) {
    const text = await readFile(join(ROOT, "node_modules", name, "package.json"), "utf8");
    hash.update(`${name} ${JSON.parse(text).version}\0`);
  }
  return hash.digest("hex");
}

const COMPRESSED = new Set([".js", ".css", ".svg", ".json"]);

/** Writes the file and its .br and .gz; returns the size of the smaller one, which is what travels. */
async function writeCompressed(path: string, content: Buffer): Promise<number> {
  await replaceFile(path, content);
  if (!COMPRESSED.has(extname(path))) return content.length;
  const brotli = await promisify(brotliCompress)(content, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
  });
  const zipped = await promisify(gzip)(content, { level: 9 });
  await replaceFile(`${path}.br`, brotli);
  await replaceFile(`${path}.gz`, zipped);
  return brotli.length;
}

/** Two builds at once must not tear a file: written beside it, then renamed. */
async function replaceFile(path: string, content: string | Buffer): Promise<void> {
  const draft = `${path}.${process.pid}.new`;
  await writeFile(draft, content, { flush: true });
  await rename(draft, path);
}

async function prune(assets: string, manifest: BuildManifest): Promise<void> {
  const kept = new Set([manifest.files, ...manifest.previous].flatMap((files) => Object.keys(files)));
  for (const name of await readdir(assets)) {
    if (name.endsWith(".new")) continue;
    if (!kept.has(name.replace(/\.(br|gz)$/, ""))) await rm(join(assets, name), { force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const manifest = await buildPages({
    force: process.argv.includes("--force"),
    alone: process.argv.includes("--alone"),
  });
  const first = manifest.first.reduce((sum, name) => sum + (manifest.files[name] ?? 0), 0);
  const style = manifest.files[manifest.style] ?? 0;
  process.stdout.write(`first load ${((first + style) / 1024).toFixed(1)} KiB compressed\n`);
}
