// pg_dump, pg_restore and psql for the copy of a team's own PostgreSQL: where preflight looks for them is where the
// copy takes them from.

import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "./program.ts";

const PROGRAMS = ["pg_dump", "pg_restore", "psql"];

export interface DumpPrograms {
  /** The directory that holds all three. */
  readonly dir: string;
  readonly major: number;
}

/** The newest ones of `path` (as PATH) and of the system's packages; of the same version, those of `path`. */
export async function findDumpPrograms(path: string): Promise<DumpPrograms | null> {
  const [newest] = await listDumpPrograms(path);
  return newest ?? null;
}

/** Newest first. `also`: what else the directory has to hold. */
export async function listDumpPrograms(path: string, also: readonly string[] = []): Promise<readonly DumpPrograms[]> {
  const packages = await readdir("/usr/lib/postgresql").catch(() => [] as string[]);
  const candidates = new Set<string>();
  for (const dir of [
    ...path.split(":").filter(Boolean),
    ...packages.map((name) => `/usr/lib/postgresql/${name}/bin`),
  ]) {
    const real = await realpath(dir).catch(() => null);
    if (real !== null) candidates.add(real);
  }
  const all: DumpPrograms[] = [];
  for (const dir of candidates) {
    const names = [...PROGRAMS, ...also];
    const there = await Promise.all(names.map((name) => realpath(join(dir, name)).catch(() => null)));
    if (there.includes(null)) continue;
    const { output } = await runProgram(join(dir, "pg_dump"), ["--version"]);
    const major = Number(/\(PostgreSQL\) (\d+)/.exec(output)?.[1]);
    if (major > 0) all.push({ dir, major });
  }
  return all.sort((a, b) => b.major - a.major);
}
