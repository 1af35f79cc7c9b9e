// Compiled code, shared by all processes that the tests of one run start: a fresh home would have each compile anew.

import { mkdirSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const CODE_CACHE = join(tmpdir(), "owl-code");

/** For the environment of a program that is started. */
export const COMPILED = { NODE_COMPILE_CACHE: CODE_CACHE } as const;

/** What the owld of `home` starts takes its compiled code from there, too. */
export function shareCode(home: string): void {
  mkdirSync(CODE_CACHE, { recursive: true, mode: 0o700 });
  mkdirSync(join(home, "cache"), { recursive: true, mode: 0o700 });
  symlinkSync(CODE_CACHE, join(home, "cache/node"));
}
