// The releases that lie here: the one that runs, those unpacked beside it, and what their manifests say.
// Invariant: what is listed is whole; a half-staged one bears a dot and is swept away.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { HomePaths } from "../../config/home.ts";
import type { Random } from "../../config/time.ts";
import type { Manifest } from "../core/manifest.ts";
import type { ReleaseRef } from "../core/update-course.ts";
import { knownKeys, type Signing } from "./signature.ts";
import { removeRelease, removeStagingLeftovers, stageRelease } from "./stage.ts";
import { readManifest } from "./verify.ts";

type Staged = ReleaseRef & { readonly already: boolean; readonly signing: Signing };

export interface ReleaseFolder {
  /** The release that runs. */
  readonly running: ReleaseRef;
  /** Unpacks and verifies it beside the running one, if a key known here signed it. `already`: it lay here before. */
  stage(source: string, signal: AbortSignal, allowUnsigned: boolean): Promise<Staged>;
  /** Removes a staged release that nothing runs from. */
  unstage(release: ReleaseRef): Promise<void>;
  /** Releases lying in the releases folder, the running one too. */
  staged(): Promise<readonly ReleaseRef[]>;
  /** null: the code has none (a checkout). */
  manifest(release: ReleaseRef): Promise<Manifest | null>;
  /** What schema that code knows; read from the code itself where it has no manifest. */
  schemaOf(
    release: ReleaseRef,
  ): Promise<{ readonly migrations: readonly string[]; readonly queueSchema: number | null }>;
  /** Removes what a killed staging left; answers the names. */
  sweep(): Promise<readonly string[]>;
}

export function createReleaseFolder(
  paths: Pick<HomePaths, "home" | "releases">,
  random: Pick<Random, "token">,
  running: ReleaseRef,
): ReleaseFolder {
  const manifest = async (release: ReleaseRef): Promise<Manifest | null> =>
    await readManifest(release.path).catch(() => null);
  return {
    running,
    async stage(source, signal, allowUnsigned) {
      const trust = { keys: await knownKeys(paths.home, running.path), allowUnsigned };
      const { manifest, ...staged } = await stageRelease(source, paths.releases, random.token(6), signal, trust);
      return { version: manifest.version, ...staged };
    },
    unstage: ({ path }) => removeRelease(path),
    async staged() {
      const names = await readdir(paths.releases).catch(() => [] as string[]);
      return names
        .filter((name) => !name.startsWith("."))
        .map((version) => ({ version, path: join(paths.releases, version) }));
    },
    manifest,
    async schemaOf(release) {
      const known = await manifest(release);
      if (known !== null)
        return { migrations: known.migrations.map(({ name }) => name), queueSchema: known.queueSchema };
      const migrations = (await readdir(join(release.path, "migrations"))).filter((name) => name.endsWith(".sql"));
      const library = await readFile(join(release.path, "node_modules/pg-boss/package.json"), "utf8").catch(() => "{}");
      const { pgboss } = JSON.parse(library) as { readonly pgboss?: { readonly schema?: number } };
      return { migrations, queueSchema: pgboss?.schema ?? null };
    },
    sweep: () => removeStagingLeftovers(paths.releases),
  };
}
