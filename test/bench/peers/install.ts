// Peers from npm, installed into a temporary directory of the bench's own, never into this package.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Peers {
  readonly dir: string;
  /** The file to import for a package's name. */
  resolve(name: string): string;
  remove(): Promise<void>;
}

/** null when they cannot be installed (no registry, for one). */
export async function installPeers(names: readonly string[], log: (line: string) => void): Promise<Peers | null> {
  const dir = await mkdtemp(join(tmpdir(), "owl-peers-"));
  await writeFile(join(dir, "package.json"), '{"private": true}\n');
  try {
    await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...names], {
      cwd: dir,
      timeout: 300_000,
    });
  } catch (error) {
    log(`peers are left out: ${names.join(", ")} cannot be installed (${(error as Error).message.split("\n")[0]})`);
    await rm(dir, { recursive: true, force: true });
    return null;
  }
  const from = createRequire(join(dir, "package.json"));
  return { dir, resolve: (name) => from.resolve(name), remove: () => rm(dir, { recursive: true, force: true }) };
}
