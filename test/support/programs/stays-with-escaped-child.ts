// Starts a grandchild in a session of its own and lives on until SIGTERM, which ends it alone.

import { spawn } from "node:child_process";

const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
child.unref();
console.log(`escaped ${child.pid}`);
setInterval(() => undefined, 60_000);
process.on("SIGTERM", () => process.exit(0));
