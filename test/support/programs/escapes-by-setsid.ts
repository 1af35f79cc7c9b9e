// Starts a grandchild in a session of its own (the double fork of old daemons), says its pid, and ends.

import { spawn } from "node:child_process";

const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
console.log(`escaped ${child.pid}`);
child.unref();
