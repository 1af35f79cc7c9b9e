// Compiled code of a long-lived program, kept on disk. A process that finds its own there never loads the TypeScript
// compiler, which would stay in its memory as long as it runs. Invariant: without it everything works, only larger.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A run that loads the code and ends; longer, and it is given up. */
const LONGEST_RUN_MS = 20_000;

export interface CodeToCompile {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The NODE_COMPILE_CACHE of the processes to come. */
  readonly directory: string;
  /** What the code depends on (release, options that load other parts): another one compiles anew. */
  readonly key: string;
}

/** Runs the program once for its code to be kept, unless that was done for this key. Never throws. */
export async function compileOnce(code: CodeToCompile): Promise<void> {
  const { argv, env, cwd, directory, key } = code;
  const [program, ...args] = argv;
  const name = createHash("sha256")
    .update(`${argv.join("\0")}\0${key}`)
    .digest("hex")
    .slice(0, 16);
  const done = join(directory, `compiled-${name}`);
  try {
    if (existsSync(done)) return;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    await new Promise<void>((resolve, reject) => {
      const options = { cwd, env: { ...env, NODE_COMPILE_CACHE: directory }, timeout: LONGEST_RUN_MS };
      execFile(program, args, options, (error) => (error === null ? resolve() : reject(error)));
    });
    writeFileSync(done, "");
  } catch {
    // A full disk, or a slow machine: the program then compiles for itself.
  }
}
