// Releases for the updates of a chaos run: this very code under other versions. Two good ones, so that there is always
// one to go to (the second brings a compatible migration), and one whose web ends at its start.

import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildPages } from "../../services/web/pages/build.ts";
import { makeRelease } from "../support/releases.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

export interface ChaosReleases {
  readonly good: string;
  readonly migrating: string;
  readonly broken: string;
  remove(): Promise<void>;
}

/** Builds them in a folder of their own; takes some seconds and about 600 MB of links and copies. */
export async function makeReleases(): Promise<ChaosReleases> {
  const dir = await mkdtemp(join(tmpdir(), "owl-chaos-releases-"));
  await chmod(dir, 0o755);
  await buildPages();
  const migrations = (await readdir(join(ROOT, "migrations"))).filter((name) => name.endsWith(".sql")).length;
  const next = String(migrations + 1).padStart(4, "0");
  return {
    good: await makeRelease(dir, "9.0.1", {}),
    migrating: await makeRelease(dir, "9.0.2", {
      [`migrations/${next}_chaos.sql`]: "-- compatible\nCREATE TABLE owl.chaos (id int);\n",
    }),
    broken: await makeRelease(dir, "9.0.3", {
      "services/web/main.ts": `process.stderr.write("the new web is broken\\n"); process.exit(3);\n`,
    }),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
