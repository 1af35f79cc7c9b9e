// npm run bench, chaos, release: each a program of its own, run under the pinned Node.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./paths.mjs";
import { runNode } from "./run.mjs";
import { failure, words } from "./say.mjs";

export const runBench = (args) => runProgram("test/bench/main.ts", args);
export const runChaos = (args) => runProgram("test/chaos/main.ts", args);
export const runRelease = (args) => runProgram("supervisor/release/main.ts", args);

function runProgram(path, args) {
  // A release carries no tests.
  if (!existsSync(join(root, path))) throw failure(words.noProgram(path), words.noProgramNext);
  return runNode([path, ...args]);
}
