// Runs one program under the pinned Node to its end, passing signals on, and gives its exit code.

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { pinnedNode, root, runtimeEnv } from "./paths.mjs";

/** Exit code of `node ARGS…` in the checkout; 128 + n when a signal ended it. */
export function runNode(args, { env = {}, stdio = "inherit" } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(pinnedNode(), args, { cwd: root, stdio, env: runtimeEnv(env) });
    // The terminal sends Ctrl-C to both of us; we only must outlive the child to report its code.
    const pass = (signal) => child.kill(signal);
    const ignore = () => {};
    process.on("SIGTERM", pass);
    process.on("SIGINT", ignore);
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      process.off("SIGTERM", pass);
      process.off("SIGINT", ignore);
      resolve(exitCode(code, signal));
    });
  });
}

export function exitCode(code, signal) {
  return code ?? 128 + (constants.signals[signal] ?? 0);
}
