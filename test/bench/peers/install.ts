// Peers from npm, installed into a temporary directory of the bench's own, never into this package.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import type { Row } from "../figures.ts";

const run = promisify(execFile);

export interface Peers {
  readonly dir: string;
  /** What a package exports (CommonJS). */
  load(name: string): unknown;
  remove(): Promise<void>;
}

/** The row of a peer that could not be installed. */
export function notInstalled(work: string): Row {
  return { work, goal: "-", measured: "not installed (no registry within reach)", met: null };
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
  return { dir, load: (name): unknown => from(name), remove: () => rm(dir, { recursive: true, force: true }) };
}
