// Releases for the updates of a chaos run: this very code under other versions. Two good ones, so that there is always
// one to go to (the second brings a compatible migration), and two whose web ends at its start; one of these brings an
// incompatible migration, so that the database is copied, changed and put back. Their web and worker load obedient.ts
// first, for the faults that come from within a process; nothing else of the code is another.

import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildPages } from "../../services/web/pages/build.ts";
import { makeRelease } from "../support/releases.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

export interface ChaosReleases {
  readonly good: string;
  readonly migrating: string;
  readonly broken: string;
  readonly brokenClosed: string;
  remove(): Promise<void>;
}

/** This checkout with an obedient web and worker, to be started in place of it. */
export async function makeObedientRoot(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), "owl-chaos-root-"));
  await chmod(dir, 0o755);
  const own = await readFile(join(ROOT, "package.json"), "utf8");
  const { version } = JSON.parse(own) as { readonly version: string };
  return {
    path: await makeRelease(dir, version, { ...(await obedient()), "package.json": own }),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}

/** The programs of web and worker, obedient ones. */
async function obedient(): Promise<Readonly<Record<string, string>>> {
  const line = `import ${JSON.stringify(new URL("faults/obedient.ts", import.meta.url).href)};\n`;
  const programs = ["services/web/main.ts", "services/worker/main.ts"];
  const texts = await Promise.all(programs.map((path) => readFile(join(ROOT, path), "utf8")));
  return Object.fromEntries(programs.map((path, index) => [path, line + texts[index]]));
}

/** Builds them in a folder of their own; takes some seconds and about 600 MB of links and copies. */
export async function makeReleases(): Promise<ChaosReleases> {
  const dir = await mkdtemp(join(tmpdir(), "owl-chaos-releases-"));
  await chmod(dir, 0o755);
  await buildPages();
  const migrations = (await readdir(join(ROOT, "migrations"))).filter((name) => name.endsWith(".sql")).length;
  const named = (n: number) => `migrations/${String(migrations + n).padStart(4, "0")}_chaos.sql`;
  const programs = await obedient();
  const compatible = { [named(1)]: "-- compatible\nCREATE TABLE owl.chaos (id int);\n" };
  const broken = {
    ...programs,
    "services/web/main.ts": `process.stderr.write("the new web is broken\\n"); process.exit(3);\n`,
  };
  return {
    good: await makeRelease(dir, "9.0.1", programs),
    migrating: await makeRelease(dir, "9.0.2", { ...programs, ...compatible }),
    broken: await makeRelease(dir, "9.0.3", broken),
    // Knows the compatible one too: it may have been applied before.
    brokenClosed: await makeRelease(dir, "9.0.4", {
      ...broken,
      ...compatible,
      [named(2)]: "-- incompatible\nALTER TABLE owl.turn ADD COLUMN chaos text;\n",
    }),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
