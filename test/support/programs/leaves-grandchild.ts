// Starts a child in its own group that ignores SIGTERM, says its pid, and ends on SIGTERM without it.

import { spawn } from "node:child_process";

const child = spawn("sh", ["-c", "trap '' TERM; while :; do sleep 60; done"], { stdio: "inherit" });
process.on("SIGTERM", () => process.exit(0));
setInterval(() => undefined, 60_000);
console.log(`grandchild ${child.pid}`);
