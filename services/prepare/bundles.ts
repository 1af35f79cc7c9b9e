// Builds web, worker and prepare into one file each with esbuild, below .build/programs, in a folder named after what is
// in it. Invariants: whatever is named as current is whole; a build before it stays, since who runs from it loads parts
// later; the same sources give the same bytes.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { BUNDLED_SOURCES, BUNDLES, type BundledSources, isCurrent, readBundled, type SourceStamp } from "../program.ts";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const KEPT_BUILDS = 3;
/** The versions of the packages that go into a bundle. */
const LOCK = "package-lock.json";

/** Loaded from where they are, if they ever are. */
const OUTSIDE = [
  ...["esbuild", "pg-native", "@fastify/ajv-compiler", "@fastify/fast-json-stringify-compiler"],
  ...["api", "sdk-trace-base", "exporter-trace-otlp-http", "resources"].map((name) => `@opentelemetry/${name}`),
];
/** The queue library loads these for schedules of its own, which nobody here asks for: loaded at their first use. */
const AT_FIRST_USE = /^(cron-parser|rrule-temporal)$/;

// What CommonJS packages expect around them.
const BANNER = [
  'import { createRequire as requireFrom } from "node:module";',
  "const require = requireFrom(import.meta.filename), __filename = import.meta.filename, __dirname = import.meta.dirname;",
].join("\n");

/** Builds unless the current build is of these very sources. `alone`: nothing of earlier builds stays (a release). */
export async function buildBundles({ alone = false } = {}): Promise<void> {
  const current = await readFile(join(BUNDLES, "current"), "utf8").catch(() => "");
  if (!alone && isCurrent(current, readBundled())) return;
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(["web", "worker", "prepare"].map((name) => [name, `services/${name}/wiring.ts`])),
    outdir: BUNDLES,
    entryNames: "[name]",
    chunkNames: "part-[hash]",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "node26",
    banner: { js: BANNER },
    external: OUTSIDE,
    plugins: [ownPlaces, atFirstUse],
    // Names stay, for stack traces; lines stay short enough that a place in them says something.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 120,
    legalComments: "none",
    logLevel: "silent",
  });
  const sources = await stampsOf(Object.keys(metafile.inputs));
  const hash = createHash("sha256");
  for (const { path, contents } of outputFiles) hash.update(`${basename(path)}\0`).update(contents);
  const name = hash.digest("hex").slice(0, 16);
  await mkdir(join(BUNDLES, name), { recursive: true });
  for (const { path, contents } of outputFiles) await replaceFile(join(BUNDLES, name, basename(path)), contents);
  await replaceFile(BUNDLED_SOURCES, JSON.stringify({ build: name, sources } satisfies BundledSources));
  await replaceFile(join(BUNDLES, "current"), name);
  await prune(name, alone ? 1 : KEPT_BUILDS);
}

/** In our own sources the address of the module goes on meaning the place of the source. */
const ownPlaces: Plugin = {
  name: "own places",
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (path.includes("/node_modules/")) return undefined;
      const text = await readFile(path, "utf8");
      const place = `new URL(${JSON.stringify(`../../../${relative(ROOT, path)}`)}, import.meta.${"url"}).href`;
      return { loader: "ts", contents: text.replace(/import\.meta\.url/g, place) };
    });
  },
};

const atFirstUse: Plugin = {
  name: "at first use",
  setup(build) {
    build.onResolve({ filter: AT_FIRST_USE }, ({ path, namespace }) =>
      namespace === "at-first-use" ? { path, external: true } : { path, namespace: "at-first-use" },
    );
    build.onLoad({ filter: /./, namespace: "at-first-use" }, ({ path }) => ({
      // As a prototype: whoever imports a name looks it up at its use.
      contents: `const load = { get: (_, name) => require(${JSON.stringify(path)})[name] };
        module.exports = Object.create(new Proxy({}, load));`,
    }));
  },
};

async function stampsOf(inputs: readonly string[]): Promise<readonly SourceStamp[]> {
  const own = inputs.filter((path) => !path.includes("node_modules/") && !path.includes(":"));
  return await Promise.all(
    [LOCK, ...own].sort().map(async (path): Promise<SourceStamp> => {
      const { size, mtimeMs } = await stat(join(ROOT, path));
      return [path, size, mtimeMs];
    }),
  );
}

/** Two builds at once must not tear a file: written beside it, then renamed. */
async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.new`;
  await writeFile(draft, content, { flush: true });
  await rename(draft, path);
}

async function prune(current: string, kept: number): Promise<void> {
  const found = await Promise.all(
    (await readdir(BUNDLES, { withFileTypes: true }))
      .filter((entry) => entry.isDirectory() && entry.name !== current)
      .map(async ({ name }) => ({ name, at: (await stat(join(BUNDLES, name))).mtimeMs })),
  );
  const old = found.toSorted((a, b) => b.at - a.at).slice(kept - 1);
  for (const { name } of old) await rm(join(BUNDLES, name), { recursive: true, force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildBundles({ alone: process.argv.includes("--alone") });
