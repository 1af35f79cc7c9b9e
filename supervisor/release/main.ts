// `npm run release [-- --output FILE] [--gzip] [--version V]`: builds the archive of this checkout and says where it lies.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { asError, OwlError } from "../../config/errors.ts";
import { buildRelease } from "./build.ts";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const git = (...args: string[]): string => execFileSync("git", ["-C", root, ...args], { encoding: "utf8" }).trim();

try {
  const { values } = parseArgs({
    options: {
      output: { type: "string" },
      gzip: { type: "boolean" },
      version: { type: "string" },
      dirty: { type: "boolean" },
    },
  });
  const own = (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version;
  const version = values.version ?? own;
  if (git("status", "--porcelain", "--untracked-files=no") !== "" && !values.dirty)
    throw new OwlError(
      "release.dirty",
      "There are uncommitted changes, so the release would not be what its commit says.",
      {
        next: "Commit them, or build it for yourself with `npm run release -- --dirty`.",
      },
    );
  const suffix = values.gzip ? "tar.gz" : "tar.zst";
  const output =
    values.output ?? join(root, ".release", `owl-${version}-${process.platform}-${process.arch}.${suffix}`);
  const manifest = await buildRelease({
    root,
    output,
    version,
    compression: values.gzip ? "gzip" : "zstd",
    commit: git("rev-parse", "HEAD"),
    builtAt: new Date(Number(git("log", "-1", "--format=%ct")) * 1_000).toISOString(),
    say: (message) => process.stderr.write(`release: ${message}\n`),
  });
  process.stderr.write(`release: ${Object.keys(manifest.files).length} files, version ${manifest.version}\n`);
  process.stdout.write(`${output}\n`);
} catch (caught) {
  const error = asError(caught);
  process.stderr.write(`${error.message}\n${error instanceof OwlError && error.next ? `${error.next}\n` : ""}`);
  process.exitCode = 1;
}
