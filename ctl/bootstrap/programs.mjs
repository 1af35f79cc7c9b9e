// npm run bench, chaos, release: each a program of its own, run under the pinned Node.

import { runNode } from "./run.mjs";

export const runBench = (args) => runNode(["test/bench/main.ts", ...args]);
export const runChaos = (args) => runNode(["test/chaos/main.ts", ...args]);
export const runRelease = (args) => runNode(["supervisor/release/main.ts", ...args]);
